import type { WorkMeter } from '../work.js'

/** Steps that one check may take, whatever patterns and texts meet in it. A step takes from 3 to 70 ns. */
const mostSteps = 2 ** 20

let left = 0
let isShared = false

/** A check begins: it has all its steps before it. Checks do not overlap. */
export function beginCheck(): void {
  if (!isShared) left = mostSteps
}

/** Whether the check may take so many steps more. */
export function mayTake(steps: number): boolean {
  left -= steps
  return left >= 0
}

/** Makes several checks one, which may take so many steps altogether. What is left undecided then matches nothing. */
export function checkWithin<T>(steps: number, checks: () => T): T {
  left = steps
  isShared = true
  try {
    return checks()
  } finally {
    isShared = false
  }
}

/** Steps for one unit of work. */
const stepsForOne = 64

/** Makes several checks one, which the meter pays for. Throws `WorkError` where it cannot. */
export function checkMetered<T>(meter: WorkMeter, checks: () => T): T {
  const steps = meter.left * stepsForOne
  const result = checkWithin(steps, checks)
  meter.charge((steps - left) / stepsForOne, 'patterns to match with it')
  return result
}
