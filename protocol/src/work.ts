/** Deciding on an envelope would cost more than `limits.work` [MEUP-7.1]. */
export class WorkError extends Error {
  override readonly name = 'WorkError'
  /** What was costly, as a message names it: `patterns to compare`. */
  readonly what: string

  constructor(what: string, limit: number) {
    super(`there are too many ${what}: deciding on this costs more than ${limit} units of work`)
    this.what = what
  }
}

/**
 * What it has cost so far to decide on one envelope, in units of about a microsecond [MEUP-7.1]. Steps are counted, not
 * time, so that a replay of the log decides the same.
 */
export class WorkMeter {
  readonly #limit: number
  #spent = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get spent(): number {
    return this.#spent
  }

  /** What may still be spent. */
  get left(): number {
    return Math.max(0, this.#limit - this.#spent)
  }

  /** `what` was costly, in the plural. Throws `WorkError` past the limit: what was charged until then stays spent. */
  charge(units: number, what: string): void {
    this.#spent += units
    if (this.#spent > this.#limit) throw new WorkError(what, this.#limit)
  }
}

/** Steps that one check may take, whatever patterns and texts meet in it. A step takes from 3 to 70 ns. */
const maxSteps = 2 ** 20

let left = 0
let isShared = false

/** A check begins: it has all its steps before it. Checks do not overlap. */
export function beginCheck(): void {
  if (!isShared) left = maxSteps
}

/** Whether the check may take so many steps more. */
export function spendSteps(steps: number): boolean {
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
const stepsPerUnit = 64

/** Makes several checks one, which the meter pays for. Throws `WorkError` where it cannot. */
export function checkMetered<T>(meter: WorkMeter, checks: () => T): T {
  const steps = meter.left * stepsPerUnit
  const result = checkWithin(steps, checks)
  meter.charge((steps - left) / stepsPerUnit, 'patterns to match with it')
  return result
}
