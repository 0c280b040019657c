import {
  type EnvelopeOf,
  Kind,
  ProtocolError,
  type SubscribePayload,
  type WelcomePayload,
} from '@meup/protocol'
import { freshId } from '../fresh-id.js'
import { errorDetails } from './errors.js'
import type { Waiter } from './wait.js'

interface Change extends Waiter<WelcomePayload> {
  readonly id: string
  readonly asked: SubscribePayload
}

/** What a seat wants to be shown. The gateway forgets it with the connection; here it outlives it [MEUP-9.1]. */
export class Subscriptions {
  readonly #post: (envelope: object) => void
  #kept: SubscribePayload | undefined
  #changes: Change[] = []

  constructor(post: (envelope: object) => void) {
    this.#post = post
  }

  change(asked: SubscribePayload): Promise<WelcomePayload> {
    return new Promise((resolve, reject) => this.#ask({ id: freshId(), asked, resolve, reject }))
  }

  /** On a new connection: asks for what was granted before, and for what is still to be answered. */
  renew(): void {
    const unanswered = this.#changes
    this.#changes = []
    if (this.#kept !== undefined) {
      this.#ask({ id: freshId(), asked: this.#kept, resolve: () => {}, reject: () => {} })
    }
    for (const change of unanswered) this.#ask(change)
  }

  /** The welcome answers the change with this id. */
  granted(id: string, welcome: WelcomePayload): void {
    const change = this.#taken(id)
    if (change === undefined) return
    this.#kept = change.asked
    change.resolve(welcome)
  }

  /** Whether the error was about one of these. */
  refused({ correlationId, payload }: EnvelopeOf<typeof Kind.systemError>): boolean {
    const change = this.#taken(String(correlationId))
    change?.reject(new ProtocolError(payload.code, payload.message, errorDetails(payload)))
    return change !== undefined
  }

  fail(error: Error): void {
    for (const { reject } of this.#changes.splice(0)) reject(error)
  }

  #taken(id: string): Change | undefined {
    const at = this.#changes.findIndex((each) => each.id === id)
    return at === -1 ? undefined : this.#changes.splice(at, 1)[0]
  }

  #ask(change: Change): void {
    this.#post({ id: change.id, kind: Kind.observeSubscribe, payload: change.asked })
    this.#changes.push(change)
  }
}
