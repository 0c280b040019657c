import type { Logger } from './logger.js'

/** Time as a port, so that tests need not wait. */
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

/** Node fires timers with a longer delay at once. */
const maxTimeoutMs = 2 ** 31 - 1

/** Runs a task at a time in milliseconds since the epoch, at once if it is past. Returns a function that cancels it. */
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

/** Part of the passing time by which a clock that is ahead of the system clock slows down, until both agree. */
const slower = 0.1
/** Smaller adjustments are normal clock synchronization and not reported. */
const minReportedMs = 1000

interface SteadyClock extends Clock {
  /**
   * Sets a minimum, in milliseconds since the epoch: from now on the clock never returns an earlier time. Returns the
   * difference to the previous time.
   */
  reach(ms: number): number
}

/**
 * A clock that never goes back, nor before the time passed to `reach`, so that a replay expires the same grants at the same
 * positions of the log [MEUP-3.4, 4.14]. If the system clock is set back, time continues a tenth slower until the two agree.
 */
export function steadyClock(clock: Clock, logger: Logger): SteadyClock {
  let latest = clock.now()
  let ahead = 0
  const now = (): number => {
    const reading = clock.now()
    const passed = reading + ahead - latest
    if (passed < 0) {
      ahead = latest - reading
      if (-passed >= minReportedMs) {
        logger.warn({ backMs: -passed }, 'the clock was put back; envelopes continue from their last time')
      }
    } else {
      ahead -= Math.min(ahead, passed * slower)
      latest = reading + ahead
    }
    return Math.round(latest)
  }
  return {
    now,
    after: (ms, task) => clock.after(ms, task),
    reach(ms) {
      const behind = Math.max(0, ms - now())
      ahead += behind
      latest += behind
      return behind
    },
  }
}

/** The clock of a space: continues from the last time in its log, whatever the system clock says. */
export function logClock(
  clock: Clock,
  logger: Logger,
  space: string,
): { clock: Clock; follow(last: { readonly ts: string } | undefined): void } {
  const steady = steadyClock(clock, logger)
  return {
    clock: steady,
    follow(last) {
      if (last === undefined) return
      const { ts } = last
      const aheadMs = steady.reach(Date.parse(ts))
      if (aheadMs < minReportedMs) return
      const advice = 'its time continues from there, a tenth slower, until the clock has caught up'
      logger.warn({ space, aheadMs, lastTs: ts }, `the log of a space is ahead of the clock; ${advice}`)
    },
  }
}
