import type { AnyEnvelope } from '@meup/protocol'
import { explain } from '../exit.js'
import type { View } from '../view/view.js'

/** What is to follow an envelope, as soon as it is known; `undefined` = nothing. */
type Follow = (envelope: AnyEnvelope) => Promise<readonly string[]> | undefined

/** Shows envelopes in their order; what follows one comes before the next. */
export class Feed {
  readonly #view: Pick<View, 'show' | 'append' | 'tell'>
  readonly #follow: Follow
  #last: Promise<void> = Promise.resolve()

  constructor(view: Pick<View, 'show' | 'append' | 'tell'>, follow: Follow) {
    this.#view = view
    this.#follow = follow
  }

  take(envelope: AnyEnvelope): void {
    const lines = this.#follow(envelope)?.catch((error: unknown) => {
      this.#view.tell(`… why its tools were called could not be read: ${explain(error)}`)
      return []
    })
    this.#last = this.#last.then(async () => {
      this.#view.show(envelope)
      if (lines !== undefined) this.#view.append(envelope, await lines)
    })
  }

  /** When all of it is shown. */
  settled(): Promise<void> {
    return this.#last
  }
}
