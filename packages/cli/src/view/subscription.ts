import type { SpaceClient } from '@meup/agent-sdk'
import type { SubscribePayload, WelcomePayload } from '@meup/protocol'

/** What this connection asks the gateway for: what was chosen, and thoughts only while it wants them [MEUP-9.1]. */
export class Subscription {
  readonly #space: Pick<SpaceClient, 'subscribe'>
  #chosen: SubscribePayload
  #cutsThoughts = false

  constructor(space: Pick<SpaceClient, 'subscribe'>, chosen: SubscribePayload = {}) {
    this.#space = space
    this.#chosen = chosen
  }

  get chosen(): SubscribePayload {
    return this.#chosen
  }

  choose(chosen: SubscribePayload): Promise<WelcomePayload> {
    this.#chosen = chosen
    return this.#ask()
  }

  /** Has thoughts cut at the gateway, for this connection alone, or sent again. */
  async cutThoughts(isCut: boolean): Promise<void> {
    if (isCut === this.#cutsThoughts) return
    this.#cutsThoughts = isCut
    await this.#ask()
  }

  #ask(): Promise<WelcomePayload> {
    const isMore = (this.#chosen.reasoning ?? 'full') === 'full'
    return this.#space.subscribe({
      ...this.#chosen,
      ...(this.#cutsThoughts && isMore && { reasoning: 'boundaries' }),
    })
  }
}
