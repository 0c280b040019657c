/** Deciding on an envelope would exceed `limits.work` [MEUP-7.1]. */
export class WorkError extends Error {
  override readonly name = 'WorkError'
  /** The costly operation, for the message: `patterns to compare`. */
  readonly what: string

  constructor(what: string, limit: number) {
    super(`there are too many ${what}: deciding on this costs more than ${limit} units of work`)
    this.what = what
  }
}

/**
 * The cost so far of deciding on one envelope, in units of about a microsecond [MEUP-7.1]. Counts steps instead of time, so
 * that a replay decides the same.
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

  /** The remaining units. */
  get left(): number {
    return Math.max(0, this.#limit - this.#spent)
  }

  /** `what`: the costly items, in the plural. Throws `WorkError` beyond the limit; earlier charges stay. */
  charge(units: number, what: string): void {
    this.#spent += units
    if (this.#spent > this.#limit) throw new WorkError(what, this.#limit)
  }
}

/** Maximum steps of one check with any patterns and texts. A step takes 3 to 70 ns. */
const maxSteps = 2 ** 20

let left = 0
let isShared = false

/** Resets the step budget. Checks are synchronous and never nest. */
export function beginCheck(): void {
  if (!isShared) left = maxSteps
}

/** Whether the check may take this many further steps. */
export function spendSteps(steps: number): boolean {
  left -= steps
  return left >= 0
}

/** Gives several checks a common budget of steps. Undecided ones then match nothing. */
export function checkWithin<T>(steps: number, checks: () => T): T {
  left = steps
  isShared = true
  try {
    return checks()
  } finally {
    isShared = false
  }
}

/** Steps per unit of work. */
const stepsPerUnit = 64

/** Charges several checks to a meter. Throws `WorkError` if it cannot pay. */
export function checkMetered<T>(meter: WorkMeter, checks: () => T): T {
  const steps = meter.left * stepsPerUnit
  const result = checkWithin(steps, checks)
  meter.charge((steps - left) / stepsPerUnit, 'patterns to match with it')
  return result
}
