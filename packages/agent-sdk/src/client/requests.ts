import {
  type AnyEnvelope,
  correlations,
  type EnvelopeOf,
  Kind,
  type McpRequestPayload,
  type McpResponsePayload,
  ProtocolError,
  type SubscribePayload,
  type WelcomePayload,
} from '@meup/protocol'
import { errorDetails, ToolError } from './errors.js'
import { freshId } from './fresh-id.js'
import { type Progress, readProgress } from './proposal.js'
import type { Draft, Seat } from './types.js'
import { type Waiter, type WaitOptions, wait } from './wait.js'

type Response = EnvelopeOf<typeof Kind.mcpResponse>

/** A request, and who hears of it. */
interface Asked {
  readonly id: string
  /** What progress is reported under: the id of the request, or of the proposal that it carries out. */
  readonly token: string
  readonly to: readonly string[]
  readonly onProgress?: ((progress: Progress) => void) | undefined
  readonly onNotification?: ((notification: McpRequestPayload) => void) | undefined
}

interface Waiting {
  readonly asked: Asked
  readonly waiter: Waiter<Response>
}

/** Requests that wait for their response, by the id of the request. */
export class Requests {
  readonly #waiting = new Map<string, Waiting>()

  /** The first response to this request. Rejects when it is aborted or takes too long. */
  response(asked: Asked, options: WaitOptions): Promise<Response> {
    return wait(
      'response',
      options,
      (waiter) => this.#waiting.set(asked.id, { asked, waiter }),
      () => this.#waiting.delete(asked.id),
    )
  }

  /** Whether the envelope was about one of these, and nobody else's business. */
  take(envelope: AnyEnvelope): boolean {
    if (envelope.kind === Kind.mcpRequest) return this.#notified(envelope)
    if (envelope.kind !== Kind.mcpResponse) return false
    const answered = correlations(envelope).flatMap((id) => this.#waiting.get(id) ?? [])
    for (const { waiter } of answered) waiter.resolve(envelope)
    return answered.length > 0
  }

  fail(id: string, error: Error): void {
    this.#waiting.get(id)?.waiter.reject(error)
  }

  failAll(error: Error): void {
    for (const { waiter } of [...this.#waiting.values()]) waiter.reject(error)
  }

  /** Believed of those alone who were asked. */
  #notified({ from, payload, ...notification }: EnvelopeOf<typeof Kind.mcpRequest>): boolean {
    if (!payload.method.startsWith('notifications/')) return false
    const known = correlations(notification).flatMap((id) => this.#waiting.get(id) ?? [])
    for (const { asked } of known) {
      if (!asked.to.includes(from)) continue
      const isProgress = payload.method === 'notifications/progress'
      const progress = isProgress ? readProgress(payload.params, asked.token) : undefined
      if (progress !== undefined) asked.onProgress?.(progress)
      else if (!isProgress) asked.onNotification?.(payload)
    }
    return known.length > 0
  }
}

/** The result of a JSON-RPC response; throws `ToolError` for its error. */
export function resultOf({ result, error }: McpResponsePayload): Record<string, unknown> {
  if (error === undefined) return result ?? {}
  // The gateway relays whatever a participant says in its place.
  const { message, code, data } = Object(error) as Partial<NonNullable<McpResponsePayload['error']>>
  throw new ToolError(String(message ?? 'the tool failed without saying why'), code, data)
}

interface Awaited {
  readonly kind: Kind
  /** Who has to answer; absent = anybody. */
  readonly from?: string
  readonly waiter: Waiter<AnyEnvelope>
}

/** What is asked with one kind of envelope and answered with another, by the id of what was sent. */
export class Replies {
  readonly #seat: Pick<Seat, 'send'>
  readonly #waiting = new Map<string, Awaited>()

  constructor(seat: Pick<Seat, 'send'>) {
    this.#seat = seat
  }

  /** Sends the draft; the answer is the first envelope of this kind, from this sender, that correlates to it. */
  async ask<K extends Kind>(
    draft: Draft,
    { kind, from }: { kind: K; from?: string },
    options: WaitOptions,
  ): Promise<EnvelopeOf<K>> {
    const id = draft.id ?? freshId()
    const answer = wait<AnyEnvelope>(
      kind,
      options,
      (waiter) => {
        this.#waiting.set(id, { kind, waiter, ...(from !== undefined && { from }) })
        this.#seat.send({ ...draft, id }).catch((error: Error) => waiter.reject(error))
      },
      () => this.#waiting.delete(id),
    )
    return (await answer) as EnvelopeOf<K>
  }

  /** Whether the envelope was such an answer. */
  take(envelope: AnyEnvelope): boolean {
    if (this.#waiting.size === 0) return false
    const answered = correlations(envelope)
      .flatMap((id) => this.#waiting.get(id) ?? [])
      .filter(({ kind, from = envelope.from }) => kind === envelope.kind && from === envelope.from)
    for (const { waiter } of answered) waiter.resolve(envelope)
    return answered.length > 0
  }

  failAll(error: Error): void {
    for (const { waiter } of [...this.#waiting.values()]) waiter.reject(error)
  }
}

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
