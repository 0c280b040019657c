/** Thrown if deciding on an envelope would exceed `limits.work` [MEUP-7.1]. */
export class WorkError extends Error {
  override readonly name = 'WorkError'
  /** The costly items, for the message: `patterns to compare`. */
  readonly what: string

  constructor(what: string, limit: number) {
    super(`there are too many ${what}: deciding on this costs more than ${limit} units of work`)
    this.what = what
  }
}

/**
 * Counts the cost of deciding on one envelope, in units of about a microsecond [MEUP-7.1]. Counts steps instead of time, so
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

  /** Adds to the cost. `what`: the costly items, in the plural. Throws `WorkError` beyond the limit; earlier charges stay. */
  charge(units: number, what: string): void {
    this.#spent += units
    if (this.#spent > this.#limit) throw new WorkError(what, this.#limit)
  }
}

/** Maximum steps of one check with any patterns and texts. One step takes 3 to 70 ns. */
const maxSteps = 2 ** 20

/** The steps that one check, or several together, may take. A check that needs more matches nothing. */
export class StepBudget {
  #left: number

  constructor(steps = maxSteps) {
    this.#left = steps
  }

  /** The remaining steps; negative if a check needed more. */
  get left(): number {
    return this.#left
  }

  /** Takes steps from the budget. Returns whether it sufficed. */
  spend(steps: number): boolean {
    this.#left -= steps
    return this.#left >= 0
  }
}

/** Steps per unit of work. */
const stepsPerUnit = 64

/**
 * Runs checks with a shared budget, and charges their steps to a meter. Throws `WorkError` if they need more than the meter has
 * left.
 */
export function checkMetered<T>(meter: WorkMeter, checks: (budget: StepBudget) => T): T {
  const steps = meter.left * stepsPerUnit
  const budget = new StepBudget(steps)
  const result = checks(budget)
  meter.charge((steps - budget.left) / stepsPerUnit, 'patterns to match with it')
  return result
}
