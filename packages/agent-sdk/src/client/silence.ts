import { setLongTimeout } from './wait.js'

/** Looks per limit: silence is noticed within a tenth more. */
const looks = 10
/** How soon a late look is repeated, in ms. */
const repeatMs = 1000

/**
 * Calls `onSilent` once `received()` has stayed the same for `limitMs`. Returns the function that ends it.
 *
 * Time is that of the clock, not of timers, which stand still while a machine sleeps. A look that comes late is repeated: what came
 * while the process could not run is yet to be read.
 */
export function watchSilence(limitMs: number, received: () => number, onSilent: () => void): () => void {
  if (limitMs === Number.POSITIVE_INFINITY) return () => {}
  const stepMs = limitMs / looks
  let [count, heardAt, dueAt, wasLate] = [received(), Date.now(), Date.now() + stepMs, false]
  let cancel = setLongTimeout(stepMs, look)
  return () => cancel()

  function look(): void {
    const now = Date.now()
    const isLate = !wasLate && now - dueAt > stepMs
    wasLate = isLate
    const heard = received()
    // Earlier than before: the clock was set.
    if (heard !== count || now < heardAt) [count, heardAt] = [heard, now]
    else if (now - heardAt >= limitMs && !isLate) {
      onSilent()
      return
    }
    const waitMs = isLate ? Math.min(repeatMs, stepMs) : stepMs
    dueAt = now + waitMs
    cancel = setLongTimeout(waitMs, look)
  }
}
