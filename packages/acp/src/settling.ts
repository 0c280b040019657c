/** Milliseconds without an update after which an answer is whole; without text, or with open calls. */
const [quietMs, slowMs] = [150, 2000]
/** Milliseconds that are waited for in all; with open calls. */
const [maxMs, maxOpenMs] = [2000, 10_000]

/** What an answer is like at present. */
interface AnswerState {
  readonly isEmpty: boolean
  /** Calls are not over. */
  readonly hasOpenCalls: boolean
  readonly isCancelled: boolean
}

/** Waits until an agent that says that it is done is quiet: the end of its text may come behind that. */
export class Settling {
  readonly #getState: () => AnswerState
  #wake: (() => void) | undefined

  constructor(getState: () => AnswerState) {
    this.#getState = getState
  }

  /** The agent has said something, or nothing is waited for any more. */
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
