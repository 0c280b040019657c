/** Milliseconds of work in one turn of the event loop after which the rest of it waits for the next. */
const maxTurnMs = 1.5

/** When this turn of the event loop was first asked about; `undefined` = it was not yet. */
let begun: number | undefined
/** Tasks that wait for a turn with time left, the longest waiting first. Each has scheduled one `goOn`. */
const waiting: (() => void)[] = []
/** When long work last let others come first. */
let yieldedAt = -Infinity
/** Long work that has not yielded for so long is over [milliseconds]. */
const longWorkMs = 50

/** Whether long work, such as an answer from many rows, is under way. Work that nobody waits for then rests. */
export const isLongWorkUnderWay = (): boolean => performance.now() - yieldedAt < longWorkMs

/**
 * To be awaited between the steps of long work: others come first as soon as this turn of the event loop has taken its time,
 * whichever task used it. It does not pause after every step, because a pause lasts until all other pending work is done.
 */
export const yieldIfBusy = (): Promise<void> | undefined => (isTurnOver() ? yieldNow() : undefined)

/**
 * Lets everything that has come up meanwhile come first. Tasks go on in the order in which they yielded, and in one turn of the
 * event loop only as many as it has time for: however many they are, what arrives need not wait for all of them.
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
