import {
  type AnyEnvelope,
  freshId,
  Kind,
  ProtocolError,
  type SubscribePayload,
  type WelcomePayload,
} from '@meup/protocol'
import { errorDetails } from './errors.js'
import type { ClientHandler, WelcomeInfo } from './handler.js'
import type { Waiter } from './wait.js'

interface SubscriptionChange extends Waiter<WelcomePayload> {
  readonly id: string
  readonly wanted: SubscribePayload
}

/** The subscription of a client. The gateway forgets it when the connection is lost, so the client renews it [MEUP-9.1]. */
export class Subscriptions implements ClientHandler {
  readonly #post: (envelope: object) => void
  #current: SubscribePayload | undefined
  #changes: SubscriptionChange[] = []

  constructor(post: (envelope: object) => void) {
    this.#post = post
  }

  change(wanted: SubscribePayload): Promise<WelcomePayload> {
    return new Promise((resolve, reject) => this.#request({ id: freshId(), wanted, resolve, reject }))
  }

  /** Renews the subscription if the welcome is the first of a connection; otherwise resolves the change that it answers. */
  onWelcome(welcome: WelcomePayload, _: unknown, { isFirst, answers = '' }: WelcomeInfo): void {
    if (isFirst) this.#renew()
    const change = isFirst ? undefined : this.#remove(answers)
    if (change === undefined) return
    this.#current = change.wanted
    change.resolve(welcome)
  }

  /** If the envelope refuses a subscription change, rejects that change and returns true. */
  onEnvelope(envelope: AnyEnvelope): boolean {
    if (envelope.kind !== Kind.systemError) return false
    const { correlationId, payload } = envelope
    const change = this.#remove(String(correlationId))
    change?.reject(new ProtocolError(payload.code, payload.message, errorDetails(payload)))
    return change !== undefined
  }

  onClose(reason: Error): void {
    for (const { reject } of this.#changes.splice(0)) reject(reason)
  }

  #renew(): void {
    const unanswered = this.#changes
    this.#changes = []
    if (this.#current !== undefined) {
      this.#request({ id: freshId(), wanted: this.#current, resolve: () => {}, reject: () => {} })
    }
    for (const change of unanswered) this.#request(change)
  }

  #remove(id: string): SubscriptionChange | undefined {
    const at = this.#changes.findIndex((each) => each.id === id)
    return at === -1 ? undefined : this.#changes.splice(at, 1)[0]
  }

  #request(change: SubscriptionChange): void {
    this.#post({ id: change.id, kind: Kind.observeSubscribe, payload: change.wanted })
    this.#changes.push(change)
  }
}
