import type { Block } from './entry.js'

/** Rows that are made anew a few at a time, while those of before still show. */
export class Renewal<Prepared extends ReadonlyMap<unknown, Map<Block, unknown>>> {
  #steps: Generator<undefined, Prepared> | undefined
  /** Blocks that became different meanwhile. */
  readonly #different = new Set<Block>()

  get isOn(): boolean {
    return this.#steps !== undefined
  }

  /** Drops what was prepared so far. */
  begin(steps: Generator<undefined, Prepared>): void {
    this.#different.clear()
    this.#steps = steps
  }

  end(): void {
    this.#steps = undefined
  }

  touch(blocks: readonly Block[]): void {
    if (this.isOn) for (const block of blocks) this.#different.add(block)
  }

  /** Goes on until its time is up. What was prepared, once that is all. */
  work(isTimeUp: () => boolean): Prepared | undefined {
    while (this.#steps !== undefined) {
      const { done, value } = this.#steps.next()
      if (done === true) {
        for (const known of value.values()) for (const block of this.#different) known.delete(block)
        this.end()
        return value
      }
      if (isTimeUp()) break
    }
    return undefined
  }
}
