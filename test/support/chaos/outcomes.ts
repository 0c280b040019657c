/** Counts how requests of one sort end during a whole run. */
export class Outcomes {
  readonly #open = new Map<number, { readonly what: string; readonly since: number }>()
  readonly answered = new Map<string, number>()
  /** Number of failures, by the request and its error. */
  readonly failed = new Map<string, number>()
  #next = 0

  /** Follows a request until it is settled. Resolves with whether it was answered. */
  async follow(what: string, request: Promise<unknown>): Promise<boolean> {
    const id = this.#next++
    this.#open.set(id, { what, since: performance.now() })
    try {
      await request
      count(this.answered, what)
      return true
    } catch (error) {
      count(this.failed, `${what}: ${describe(error)}`)
      return false
    } finally {
      this.#open.delete(id)
    }
  }

  /** Lists the requests that are still open after `ms` milliseconds. */
  stuck(ms: number): string[] {
    const now = performance.now()
    return [...this.#open.values()].filter(({ since }) => now - since > ms).map(({ what }) => what)
  }
}

const count = (counts: Map<string, number>, key: string): void =>
  void counts.set(key, (counts.get(key) ?? 0) + 1)

const describe = (error: unknown): string => {
  const { code, name, message } = Object(error) as { code?: unknown; name?: string; message?: string }
  return `${name} ${String(code ?? '')} ${String(message).slice(0, 120)}`
}

/** Returns the value below which the share `q` of the values lies; 0 if there are none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0
}

/** Makes a generator of random numbers from 0 to 1. The same seed gives the same numbers (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
