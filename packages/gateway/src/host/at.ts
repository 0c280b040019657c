import type { Clock } from '../ports/clock.js'

/** A timer that is to wait longer than this many milliseconds does not wait at all. */
const longestWait = 2 ** 31 - 1

/** Runs a task at a time, in milliseconds since the epoch, at once where that is past. Gives how to call it off. */
export function at(time: number, task: () => void, clock: Clock): () => void {
  let cancel = (): void => {}
  const wait = (): void => {
    const left = time - clock.now()
    if (left <= 0) task()
    else cancel = clock.after(Math.min(left, longestWait), wait)
  }
  wait()
  return () => cancel()
}
