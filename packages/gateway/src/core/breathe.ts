import { turn } from './delivery/log-reads.js'

/** Milliseconds of work in one turn of the event loop after which the rest of it waits for the next. */
const longest = 1.5

/** When this turn of the event loop was first asked about; `undefined` = it was not yet. */
let begun: number | undefined

/**
 * To be awaited between the steps of long work: others come first as soon as this turn of the event loop has taken its time,
 * whichever task used it. It does not pause after every step, because a pause lasts until all other pending work is done.
 */
export function breathe(): Promise<void> | undefined {
  const now = performance.now()
  if (begun === undefined) {
    begun = now
    setImmediate(() => {
      begun = undefined
    })
  }
  return now - begun < longest ? undefined : turn()
}
