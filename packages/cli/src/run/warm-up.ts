import { compileSafety, defaultSafety, warmUp } from '@meup/safety'

/** A step takes two milliseconds or so: a tenth of a core, while agents and tool servers start. */
const PAUSE_MS = 20

let isWarm = false

/** Warms up what looks for secrets, a step at a time, once in a process. Gives what stops it. */
export function warmUpSafety(): () => void {
  if (isWarm) return () => {}
  const steps = warmUp(compileSafety(defaultSafety))
  const step = (): void => {
    isWarm = steps.next().done === true
    if (!isWarm) next = setTimeout(step, PAUSE_MS)
  }
  let next = setTimeout(step, PAUSE_MS)
  return () => clearTimeout(next)
}
