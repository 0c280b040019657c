/**
 * Milliseconds without updates after which an answer is complete; the second value applies if the answer is empty, or tool
 * calls have not ended.
 */
const [quietMs, slowMs] = [150, 2000]
/** Maximum milliseconds to wait for such a pause; the second value applies if tool calls have not ended. */
const [maxMs, maxOpenMs] = [2000, 10_000]

interface AnswerState {
  readonly isEmpty: boolean
  readonly hasOpenCalls: boolean
  readonly isCancelled: boolean
}

/** Waits until an agent that has answered a prompt sends no more updates, because the rest of its text may follow. */
export class Settling {
  readonly #getState: () => AnswerState
  #wake: (() => void) | undefined

  constructor(getState: () => AnswerState) {
    this.#getState = getState
  }

  /** Must be called on each update, and on a cancel. */
  onUpdate(): void {
    this.#wake?.()
  }

  async wait(): Promise<void> {
    const since = performance.now()
    for (;;) {
      const { isEmpty, hasOpenCalls, isCancelled } = this.#getState()
      const left = (hasOpenCalls ? maxOpenMs : maxMs) - (performance.now() - since)
      if (isCancelled || left <= 0) return
      const isQuiet = await this.#isQuiet(Math.min(isEmpty || hasOpenCalls ? slowMs : quietMs, left))
      if (isQuiet) return
    }
  }

  #isQuiet(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(true), ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve(false)
      }
    })
  }
}
