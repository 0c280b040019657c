/** The maximum delay of `setTimeout` in ms; with a longer one it fires immediately. */
const maxTimerMs = 2 ** 31 - 1

/** `setTimeout` without its limit of 24 days; `Infinity` never fires. Returns a function that cancels it. */
export function setLongTimeout(ms: number, callback: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const arm = (left: number): void => {
    if (left === Number.POSITIVE_INFINITY) return
    const part = Math.min(Math.max(left, 0), maxTimerMs)
    timer = setTimeout(() => (part < left ? arm(left - part) : callback()), part)
  }
  arm(ms)
  return () => clearTimeout(timer)
}
