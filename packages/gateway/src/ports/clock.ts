/** Time, so that tests need not wait for it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Runs `task` once after `ms`, unless the returned function is called first. */
  after(ms: number, task: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after: (ms, task) => {
    const timer = setTimeout(task, ms)
    return () => clearTimeout(timer)
  },
}

/** A timer that is to wait longer than this many milliseconds does not wait at all. */
const maxTimeoutMs = 2 ** 31 - 1

/** Runs a task at a time, in milliseconds since the epoch, at once where that is past. Gives how to call it off. */
export function at(time: number, task: () => void, clock: Clock): () => void {
  let cancel = (): void => {}
  const wait = (): void => {
    const left = time - clock.now()
    if (left <= 0) task()
    else cancel = clock.after(Math.min(left, maxTimeoutMs), wait)
  }
  wait()
  return () => cancel()
}
