/** Interval of steps that only update the display, while the page is hidden. */
export const hiddenPageMs = 250
/** Interval of steps of background work, while the page is hidden. */
const hiddenFrameMs = 50

/** Runs a callback in the next frame; while the page is hidden, which stops frames, after `hiddenMs`. */
export function requestFrame(callback: () => void, hiddenMs: number): void {
  if (document.hidden) setTimeout(callback, hiddenMs)
  else requestAnimationFrame(callback)
}

export const nextFrame = (): Promise<void> => new Promise((resolve) => requestFrame(resolve, hiddenFrameMs))
