/** Shuffles values. The same seed gives the same order (mulberry32). */
export function shuffled<Value>(values: readonly Value[], seed: number): Value[] {
  let state = seed
  const random = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const rest = [...values]
  return values.flatMap(() => rest.splice(Math.floor(random() * rest.length), 1))
}

/** Makes workers take turns in a fixed order: each name in `order` is one step of that worker. */
export class Baton {
  readonly #order: readonly string[]
  #at = 0
  #waiting: (() => void)[] = []

  constructor(order: readonly string[]) {
    this.#order = order
  }

  /** Waits for the worker's turn, does a step, and lets the next worker continue. */
  async step<Result>(worker: string, work: () => Promise<Result>): Promise<Result> {
    while (this.#order[this.#at] !== worker) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    const result = await work()
    this.#at++
    for (const wake of this.#waiting.splice(0)) wake()
    return result
  }
}
