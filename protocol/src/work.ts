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
