import { Bounded } from './bounded.js'

export type DeadlinesSnapshot = readonly (readonly [id: string, milliseconds: number])[]

/** Expiry times by id. Scans them only when one of them is due. */
export class Deadlines {
  readonly #times = new Bounded<number>(10_000)
  #soonest = Number.POSITIVE_INFINITY

  /** `time` is RFC 3339; anything else is no deadline. */
  set(id: string, time: unknown): void {
    const milliseconds = typeof time === 'string' ? Date.parse(time) : Number.NaN
    if (Number.isNaN(milliseconds)) return
    this.#times.set(id, milliseconds)
    this.#soonest = Math.min(this.#soonest, milliseconds)
  }

  delete(id: string): void {
    this.#times.delete(id)
  }

  get isEmpty(): boolean {
    return this.#soonest === Number.POSITIVE_INFINITY
  }

  /** Removes and returns the ids that are due at `now` (milliseconds). */
  due(now: number): readonly string[] {
    if (now < this.#soonest) return []
    const due = this.#times.snapshot().filter(([, time]) => time <= now)
    for (const [id] of due) this.#times.delete(id)
    this.#soonest = Math.min(...this.#times.values())
    return due.map(([id]) => id)
  }

  snapshot(): DeadlinesSnapshot {
    return this.#times.snapshot()
  }

  restore(snapshot: DeadlinesSnapshot): void {
    this.#times.restore(snapshot)
    this.#soonest = Math.min(...this.#times.values())
  }
}
