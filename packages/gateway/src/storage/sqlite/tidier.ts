import type { LogFile } from './log-file.js'

/** Milliseconds of rest for each that removing took: others write meanwhile, here and through other connections. */
const rest = 3
const leastRestMs = 5

/** Gives a function that from now on, slice by slice between the calls, removes what has been pruned. */
export function tidierOf(file: LogFile): () => void {
  let isWaiting = false
  const tidy = (): void => {
    isWaiting = false
    if (!file.isLittered) return
    const begin = performance.now()
    try {
      file.use(({ pruning }) => pruning.removeSome())
    } catch {
      // These rows are out of sight. The next write reports the fault, and this goes on.
      return
    }
    tidyLater(Math.max(leastRestMs, rest * (performance.now() - begin)))
  }
  const tidyLater = (ms: number): void => {
    if (isWaiting || !file.isLittered) return
    isWaiting = true
    setTimeout(tidy, ms).unref()
  }
  return () => tidyLater(leastRestMs)
}
