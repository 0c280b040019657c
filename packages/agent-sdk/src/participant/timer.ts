/** What a timer can be set to, in ms; beyond it fires at once. */
const longest = 2 ** 31 - 1

/** Calls back after so many ms, however many; never for `Infinity`. Gives what cancels it. */
export function after(ms: number, callback: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const arm = (left: number): void => {
    if (left === Number.POSITIVE_INFINITY) return
    const part = Math.min(Math.max(left, 0), longest)
    timer = setTimeout(() => (part < left ? arm(left - part) : callback()), part)
  }
  arm(ms)
  return () => clearTimeout(timer)
}
