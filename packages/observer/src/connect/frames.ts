/** Milliseconds: a page that nobody sees has no frames. */
const hiddenPageMs = 250
/** Values per delivery, so that a long replay does not block the page. */
const maxBatch = 2000

/** Collects values and delivers them once per frame. */
export class Batches<Value> {
  readonly #give: (batch: readonly Value[]) => void
  #waiting: Value[] = []
  #isScheduled = false
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

  /** Resolves when everything added so far has been delivered. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#drained.push(resolve)
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    const give = (): void => {
      this.#isScheduled = false
      const batch = this.#waiting.splice(0, maxBatch)
      if (batch.length > 0) this.#give(batch)
      if (this.#waiting.length > 0) this.#schedule()
      else for (const resolve of this.#drained.splice(0)) resolve()
    }
    if (document.hidden) setTimeout(give, hiddenPageMs)
    else requestAnimationFrame(give)
  }
}

export const nextFrame = (): Promise<unknown> =>
  new Promise((resolve) => {
    if (document.hidden) setTimeout(resolve, hiddenFrameMs)
    else requestAnimationFrame(resolve)
  })
/** Milliseconds between two turns while nobody sees the page. */
const hiddenFrameMs = 50
