import { setLongTimeout } from './long-timeout.js'

/** Number of checks within `limitMs`, so that silence is detected with a delay of at most a tenth of that time. */
const looks = 10
/** Milliseconds until a late check is repeated. */
const repeatMs = 1000

/**
 * Calls `onSilent` when `received()` has not changed for `limitMs`. Returns a function that stops watching. Measures with the
 * clock, because timers stop while a machine sleeps. A late check is repeated, because data may have arrived while the process
 * was suspended.
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
    // If the time has decreased, the clock was adjusted: starts measuring again.
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
