import type { Clock } from '../ports/clock.js'

/** Between two attempts: doubled each time, up to the second. */
const [shortestMs, longestMs] = [500, 10_000]

/** Tries something until it succeeds: at once, then ever more seldom. */
export class Recovery {
  readonly #clock: Clock
  readonly #failed: (error: unknown, retryMs: number) => void
  #cancel = (): void => {}
  #isOver = false

  constructor(clock: Clock, failed: (error: unknown, retryMs: number) => void) {
    this.#clock = clock
    this.#failed = failed
  }

  begin(attempt: () => Promise<void>): void {
    void this.#try(attempt, shortestMs)
  }

  /** Gives up. */
  close(): void {
    this.#isOver = true
    this.#cancel()
  }

  async #try(attempt: () => Promise<void>, retryMs: number): Promise<void> {
    if (this.#isOver) return
    try {
      await attempt()
    } catch (error) {
      if (this.#isOver) return
      this.#failed(error, retryMs)
      const next = Math.min(2 * retryMs, longestMs)
      this.#cancel = this.#clock.after(retryMs, () => void this.#try(attempt, next))
    }
  }
}
