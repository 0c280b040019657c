import { hiddenPageMs, requestFrame } from './frames.js'

/** Maximum values per delivery, so that a long replay does not block the page. */
const maxBatch = 2000
/** Minimum milliseconds between two deliveries: faster updates cannot be read, and each one redraws the page. */
const leastMs = 40

/** Batches values: delivers the first one in the next frame, and further ones together after a pause. */
export class Batches<Value> {
  readonly #give: (batch: readonly Value[]) => void
  #waiting: Value[] = []
  #rest: ReturnType<typeof setTimeout> | undefined
  #isScheduled = false
  #delivered = Number.NEGATIVE_INFINITY
  #drained: (() => void)[] = []

  constructor(give: (batch: readonly Value[]) => void) {
    this.#give = give
  }

  add(value: Value): void {
    this.#waiting.push(value)
    this.#schedule()
  }

  clear(): void {
    this.#waiting = []
  }

  /** Resolves when all values added so far are delivered; skips the pauses. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#drained.push(resolve)
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#isScheduled) return
    const restMs = this.#delivered + leastMs - performance.now()
    if (restMs <= 0 || this.#drained.length > 0 || this.#waiting.length >= maxBatch) this.#deliverSoon()
    else this.#rest ??= setTimeout(() => this.#deliverSoon(), restMs)
  }

  #deliverSoon(): void {
    clearTimeout(this.#rest)
    this.#rest = undefined
    this.#isScheduled = true
    requestFrame(() => this.#deliver(), hiddenPageMs)
  }

  #deliver(): void {
    this.#isScheduled = false
    this.#delivered = performance.now()
    const batch = this.#waiting.splice(0, maxBatch)
    if (batch.length > 0) this.#give(batch)
    if (this.#waiting.length > 0) this.#schedule()
    else for (const resolve of this.#drained.splice(0)) resolve()
  }
}
