import type { Clock } from '../ports/clock.js'
import type { Logger } from '../ports/logger.js'

/** Of the time that passes, what a clock that runs ahead gives away until it is right again. */
const slower = 0.1
/** Less than this is what clocks that are kept right do all day. */
const worthTelling = 1000

/**
 * The same time, but never an earlier one as long as this process lives: what has ended by the clock has ended, and a replay
 * ends the same things at the same places [MEUP-3.4, 4.14]. Where the clock is put back, time goes on from where it was, a
 * tenth slower until the two agree. A restart goes by the clock again, so that a wrong one need not be waited for.
 */
export function steadyClock(clock: Clock, logger: Logger): Clock {
  let latest = clock.now()
  let ahead = 0
  return {
    now() {
      const told = clock.now()
      const passed = told + ahead - latest
      if (passed < 0) {
        ahead = latest - told
        if (-passed >= worthTelling) {
          logger.warn({ backMs: -passed }, 'the clock was put back; envelopes go on from the time they had')
        }
      } else {
        ahead -= Math.min(ahead, passed * slower)
        latest = told + ahead
      }
      return Math.round(latest)
    },
    after: (ms, task) => clock.after(ms, task),
  }
}
