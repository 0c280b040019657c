/** Milliseconds between two steps that are only drawn, in a hidden page. */
export const hiddenPageMs = 250
/** Milliseconds between two steps of background work in a hidden page. */
const hiddenFrameMs = 50

/** Runs a callback with the next frame; after `hiddenMs` in a hidden page, which has no frames. */
export function requestFrame(callback: () => void, hiddenMs: number): void {
  if (document.hidden) setTimeout(callback, hiddenMs)
  else requestAnimationFrame(callback)
}

export const nextFrame = (): Promise<void> => new Promise((resolve) => requestFrame(resolve, hiddenFrameMs))
