import type { ModelOptions } from '../../model/options.js'

/**
 * Decides whether an answer is shown while it is written. Some servers send reasoning as text, possibly without `<think>`,
 * which the chat template has written: until `</think>` it looks like an answer. So a server at a `baseURL` must first send
 * reasoning in a separate field, or one answer without such reasoning, before its text is shown live.
 */
export class Liveness {
  #mayShow: boolean
  #isKnown: boolean

  constructor({ live, baseURL }: Pick<ModelOptions, 'live' | 'baseURL'>) {
    this.#mayShow = live ?? baseURL === undefined
    this.#isKnown = live !== undefined
  }

  get mayShow(): boolean {
    return this.#mayShow
  }

  /** The server sent reasoning in a separate field, so its text is not reasoning. */
  onThought(): void {
    if (!this.#isKnown) this.#mayShow = true
  }

  /** `isUnmarked`: the text contained a thought without an opening tag. */
  onAnswer(isUnmarked: boolean): void {
    if (this.#isKnown) return
    this.#mayShow = !isUnmarked
    this.#isKnown = isUnmarked
  }
}
