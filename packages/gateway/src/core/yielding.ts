/** Milliseconds of work in one turn of the event loop; further work waits for the next turn. */
const maxTurnMs = 1.5

/** Start of this turn of the event loop, as far as known. */
let begun: number | undefined
/** Waiting tasks, the longest waiting first. Each has scheduled one `goOn`. */
const waiting: (() => void)[] = []
/** When long work last yielded. */
let yieldedAt = -Infinity
/** Long work counts as over this many milliseconds after its last yield. */
const longWorkMs = 50

/** Whether long work, such as an answer from many rows, is under way. Background work then pauses. */
export const isLongWorkUnderWay = (): boolean => performance.now() - yieldedAt < longWorkMs

/**
 * Await this between the steps of long work: it yields once this turn of the event loop has used its time, whichever task used
 * it. It does not yield after every step, because a yield waits for all other pending work.
 */
export const yieldIfBusy = (): Promise<void> | undefined => (isTurnOver() ? yieldNow() : undefined)

/**
 * Lets pending work run first. Tasks continue in the order in which they yielded, and only as many per turn of the event loop
 * as there is time for, so that incoming messages do not wait for all of them.
 */
export const yieldNow = (): Promise<void> =>
  new Promise((resolve) => {
    waiting.push(resolve)
    yieldedAt = performance.now()
    setImmediate(goOn)
  })

function goOn(): void {
  if (isTurnOver()) setImmediate(goOn)
  else waiting.shift()?.()
}

function isTurnOver(): boolean {
  const now = performance.now()
  if (begun === undefined) {
    begun = now
    setImmediate(() => {
      begun = undefined
    })
  }
  return now - begun >= maxTurnMs
}
