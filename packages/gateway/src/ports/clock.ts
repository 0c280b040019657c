import type { Logger } from './logger.js'

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

/** Of the time that passes, what a clock that runs ahead gives away until it is right again. */
const slower = 0.1
/** Less than this is what clocks that are kept right do all day. */
const minReportedMs = 1000

interface SteadyClock extends Clock {
  /** From now on no earlier time than this, in milliseconds since the epoch. Gives how far that is from what it was. */
  reach(ms: number): number
}

/**
 * The same time, but never an earlier one, nor one before what it has to `reach`: what has ended by the clock has ended, and
 * a replay ends the same things at the same places [MEUP-3.4, 4.14]. Where the clock is put back, time goes on from where it
 * was, a tenth slower until the two agree.
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
        logger.warn({ backMs: -passed }, 'the clock was put back; envelopes go on from the time they had')
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

/** The clock of a space, which goes on from the last time in its log, whatever the clock of this machine says. */
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
      const advice = 'its time goes on from there, a tenth slower, until the clock has caught up'
      logger.warn({ space, aheadMs, lastTs: ts }, `the log of a space is ahead of the clock; ${advice}`)
    },
  }
}
