/** Milliseconds over which it is counted. */
const span = 5000

/** How many a second, lately. */
export class Rate {
  readonly #times: number[] = []

  /** `now` in milliseconds, never less than before. */
  add(now: number): void {
    this.#times.push(now)
    if (this.#times.length > 20_000) this.#times.splice(0, 10_000)
  }

  perSecond(now: number): number {
    const first = this.#times.findIndex((time) => time > now - span)
    this.#times.splice(0, first === -1 ? this.#times.length : first)
    return this.#times.length / (span / 1000)
  }
}
