import type { Clock } from '../ports/clock.js'

/** A clock that stands still until it is told to go on. */
export class FakeClock implements Clock {
  #now: number
  readonly #timers = new Set<{ at: number; task: () => void }>()

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#now = start
  }

  now(): number {
    return this.#now
  }

  after(ms: number, task: () => void): () => void {
    const timer = { at: this.#now + ms, task }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Runs every task that falls due, in order. */
  advance(ms: number): void {
    const end = this.#now + ms
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
      if (next === undefined) break
      this.#timers.delete(next)
      this.#now = next.at
      next.task()
    }
    this.#now = end
  }
}
