import { type Check, fail, pass } from './check.js'

/** As `engines` in package.json has it. */
export const oldestNode = '20.19'

export function nodeCheck(version: string): Check {
  const isEnough = version.localeCompare(oldestNode, 'en', { numeric: true }) >= 0
  return isEnough
    ? pass('node', version)
    : fail('node', `${version} is too old`, `install Node ${oldestNode} or newer`)
}

/** Milliseconds that two clocks may differ; HTTP dates have whole seconds. */
const tolerance = 5000

/**
 * Whether this machine's clock agrees with what others have said the time was: `not before` those in `past`, and `just
 * now` that in `present`. All in milliseconds since the epoch.
 */
export function clockCheck(
  now: number,
  { present, past }: { present: number | undefined; past: number | undefined },
): Check {
  const advice = 'set the clock, and keep it right with a time service'
  const time = (at: number): string => new Date(at).toISOString()
  if (present !== undefined && Math.abs(now - present) > tolerance) {
    return fail('clock', `it is ${time(now)} here, and ${time(present)} at the gateway`, advice)
  }
  if (past !== undefined && past - now > tolerance) {
    return fail('clock', `it is ${time(now)} here, but the log has something of ${time(past)}`, advice)
  }
  return pass('clock', time(now))
}
