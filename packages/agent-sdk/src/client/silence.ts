import { setLongTimeout } from './wait.js'

/** Checks per limit: silence is detected within a tenth more. */
const looks = 10
/** Delay of the repetition after a late check, in ms. */
const repeatMs = 1000

/**
 * Calls `onSilent` once `received()` has not changed for `limitMs`. Returns a function that stops it. Uses the clock, because
 * timers stop while a machine sleeps. A late check is repeated, because data may have arrived while the process could not run.
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
    // An earlier time: the clock was adjusted.
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
