/** Who waits until the log has a seq, or until it is certain that it never will. */
export class Watchers {
  #waiting: { readonly seq: number; resolve(isCommitted: boolean): void }[] = []

  wait(seq: number): Promise<boolean> {
    return new Promise((resolve) => this.#waiting.push({ seq, resolve }))
  }

  /** The log has everything up to this seq. */
  delivered(through: number): void {
    if (this.#waiting.length === 0) return
    for (const { seq, resolve } of this.#waiting) if (seq <= through) resolve(true)
    this.#waiting = this.#waiting.filter(({ seq }) => seq > through)
  }

  /** What they wait for is not in the log. */
  disappoint(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve(false)
  }
}
