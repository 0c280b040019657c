import type { ModelOptions } from '../../model/options.js'

/**
 * Whether answers are shown while they are written. A server that knows nothing of its model's thoughts gives them as text, perhaps
 * without their beginning, which the template wrote: nobody can tell them from an answer until they end. So nothing is shown of
 * what a server at a `baseURL` writes until it has given thoughts in a field of their own, or one answer without such thoughts.
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

  /** The server has told a thought from the text, in a field of its own: what comes as text is none. */
  onThought(): void {
    if (!this.#isKnown) this.#mayShow = true
  }

  /** `isUnmarked`: some of the text was a thought that began without a mark. */
  onAnswer(isUnmarked: boolean): void {
    if (this.#isKnown) return
    this.#mayShow = !isUnmarked
    this.#isKnown = isUnmarked
  }
}
