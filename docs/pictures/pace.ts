/** Makes the steps of an agent wait until `go` releases them. */
export class Pace {
  #free = 0
  readonly #waiting: (() => void)[] = []

  /** Releases this many steps. */
  go(steps: number): void {
    this.#free += steps
    while (this.#free > 0 && this.#waiting.length > 0) {
      this.#free--
      this.#waiting.shift()?.()
    }
  }

  /** Resolves when `go` releases a step. */
  async step(): Promise<void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}

const steps = new Set<string | symbol>(['reason', 'thought', 'call', 'parallel', 'conclude', 'reply'])

/** Wraps a turn, or a context in it, so that each act (thought, call, reply…) waits for a step. */
export const paced = <Target extends object>(target: Target, pace: Pace): Target =>
  new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (!steps.has(name)) return value.bind(target)
      return async (...args: unknown[]): Promise<unknown> => {
        await pace.step()
        const outcome: unknown = await Reflect.apply(value, target, args)
        return name === 'reason' ? paced(outcome as object, pace) : outcome
      }
    },
  })
