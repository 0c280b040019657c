import {
  findEnded,
  isAnswerTo,
  isElicitation,
  isObject,
  type Participants,
  type WaitingChat,
  WaitingChats,
} from '@meup/folds'
import {
  type AnyEnvelope,
  correlations,
  type Envelope,
  type EnvelopeOf,
  freshId,
  Kind,
  type McpRequestPayload,
  type McpResponsePayload,
  ProtocolError,
  type SubscribePayload,
  type WelcomePayload,
} from '@meup/protocol'
import { errorDetails, programEndedError, ToolError } from './errors.js'
import type { ClientHandler, WelcomeInfo } from './handler.js'
import type { Progress } from './proposal.js'
import type { ClientContext, Draft, OnElicitation } from './types.js'
import { type TimedWaiter, type Waiter, type WaitOptions, wait } from './wait.js'

type Response = EnvelopeOf<typeof Kind.mcpResponse>

export interface PendingRequest {
  readonly id: string
  /** The progress token: the id of the request, or of its proposal. */
  readonly token: string
  /** The addressees, if known: those of a request that results from an approval are learned from its envelope. */
  readonly to: readonly string[]
  readonly onProgress?: ((progress: Progress) => void) | undefined
  readonly onNotification?: ((notification: McpRequestPayload) => void) | undefined
  readonly onElicitation?: OnElicitation | undefined
}

interface Waiting {
  readonly request: PendingRequest
  readonly waiter: TimedWaiter<Response>
  to: readonly string[]
  elicitations: number
}

/** Maximum ms that the caller waits longer because of an elicitation by the callee. */
const elicitationMs = 300_000
/** Maximum elicitations per request that extend the wait. */
const maxElicitations = 16

/** Pending MCP requests of this participant, by envelope id. */
export class Requests implements ClientHandler {
  readonly #waiting = new Map<string, Waiting>()

  /** Waits for the first response. Rejects when the wait is aborted or takes too long. */
  waitForResponse(request: PendingRequest, options: WaitOptions): Promise<Response> {
    return wait(
      'response',
      options,
      (waiter) => this.#waiting.set(request.id, { request, waiter, to: request.to, elicitations: 0 }),
      () => this.#waiting.delete(request.id),
    )
  }

  onEnvelope(envelope: AnyEnvelope): void {
    const own = envelope.kind === Kind.mcpRequest ? this.#waiting.get(envelope.id) : undefined
    if (own !== undefined) own.to = envelope.to ?? []
    else if (this.isNotification(envelope)) this.#onNotification(envelope)
    else if (envelope.kind === Kind.mcpResponse) this.#onResponse(envelope)
    else if (this.findElicited(envelope) !== undefined) {
      for (const waiting of this.#correlated(envelope)) {
        if (++waiting.elicitations <= maxElicitations) waiting.waiter.allowMore(elicitationMs)
      }
    }
  }

  #onResponse(response: Response): void {
    const ended = findEnded(response)
    for (const waiting of this.#correlated(response)) {
      if (ended === undefined) waiting.waiter.resolve(response)
      else {
        // The program of this addressee has ended. Other addressees may still answer, so the wait ends with the last of them.
        waiting.to = waiting.to.filter((id) => id !== ended)
        if (waiting.to.length === 0) waiting.waiter.reject(programEndedError(ended))
      }
    }
  }

  /** Finds the pending request that an elicitation by its callee is about [MEUP-3.26]. */
  findElicited(envelope: AnyEnvelope): PendingRequest | undefined {
    if (envelope.kind !== Kind.mcpRequest || !isElicitation(envelope.payload)) return undefined
    return this.#correlated(envelope).find(({ to }) => to.includes(envelope.from))?.request
  }

  /** Whether the envelope is a notification about a pending request. The tools of this participant do not get these. */
  isNotification(envelope: AnyEnvelope): envelope is EnvelopeOf<typeof Kind.mcpRequest> {
    if (envelope.kind !== Kind.mcpRequest || !envelope.payload.method.startsWith('notifications/'))
      return false
    return this.#correlated(envelope).length > 0
  }

  fail(id: string, error: Error): void {
    this.#waiting.get(id)?.waiter.reject(error)
  }

  onClose(reason: Error): void {
    for (const { waiter } of [...this.#waiting.values()]) waiter.reject(reason)
  }

  #correlated(envelope: AnyEnvelope): Waiting[] {
    return correlations(envelope).flatMap((id) => this.#waiting.get(id) ?? [])
  }

  /** Passes a notification to its request. Ignores senders that are not addressees of the request. */
  #onNotification(envelope: EnvelopeOf<typeof Kind.mcpRequest>): void {
    const { from, payload } = envelope
    const isProgress = payload.method === 'notifications/progress'
    for (const { request, waiter, to } of this.#correlated(envelope)) {
      if (!to.includes(from)) continue
      const progress = isProgress ? readProgress(payload.params, request.token) : undefined
      if (progress !== undefined) {
        waiter.allowMore(0)
        request.onProgress?.(progress)
      } else if (!isProgress) request.onNotification?.(payload)
    }
  }
}

/** Returns the params with a progress token in `_meta`. */
export function withProgressToken(params: object, progressToken: string): object {
  const { _meta } = params as { _meta?: object }
  return { ...params, _meta: { ..._meta, progressToken } }
}

function readProgress(params: Record<string, unknown> | undefined, token: string): Progress | undefined {
  const { progressToken, progress, total, message } = params ?? {}
  if (progressToken !== token || typeof progress !== 'number') return undefined
  return {
    progress,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message }),
  }
}

/** Returns the result of a JSON-RPC response. Throws `ToolError` if it is an error. */
export function getResult({ result, error }: McpResponsePayload): Record<string, unknown> {
  if (error === undefined || error === null) return readResult(result)
  // Any field may be missing: the gateway does not validate the error object.
  const { message, code, data } = Object(error) as Partial<NonNullable<McpResponsePayload['error']>>
  throw new ToolError(String(message ?? ''), code, data)
}

/** Converts a result to an object, as MCP requires: some servers send a string. */
function readResult(result: unknown): Record<string, unknown> {
  if (isObject(result)) return result
  if (result === undefined || result === null) return {}
  return { content: [{ type: 'text', text: typeof result === 'string' ? result : JSON.stringify(result) }] }
}

interface ExpectedReply {
  readonly kind: Kind
  /** The only participant whose answer counts; absent = any. */
  readonly from?: string
}

/** Maximum number of own messages for which it is tracked whether an agent program that may answer them still runs. */
const maxQuestions = 2000

/** Waits for the answers to sent envelopes that are not MCP requests, such as questions and invitations. */
export class Replies implements ClientHandler {
  readonly #client: Pick<ClientContext, 'id' | 'sendPaced'>
  readonly #waiting = new Map<string, ExpectedReply & { readonly waiter: Waiter<AnyEnvelope> }>()
  readonly #questions: WaitingChats
  /** Own messages that no program will answer, because the last envelope reports that the asked one has ended. */
  unanswered: readonly WaitingChat[] = []

  constructor(client: Pick<ClientContext, 'id' | 'sendPaced'>, participants: Participants) {
    this.#client = client
    const isFollowed = ({ id, from, correlationId }: Envelope): boolean =>
      this.#waiting.has(id) || (from === client.id && correlationId === undefined)
    this.#questions = new WaitingChats(participants, { isFollowed, maxChats: maxQuestions })
  }

  /** Sends a draft. Resolves with the first correlated envelope of the expected kind and sender. */
  async ask<K extends Kind>(
    draft: Draft,
    expected: ExpectedReply & { kind: K },
    options: WaitOptions,
  ): Promise<EnvelopeOf<K>> {
    const id = draft.id ?? freshId()
    const over = new AbortController()
    const answer = wait<AnyEnvelope>(
      'answer',
      options,
      (waiter) => {
        this.#waiting.set(id, { ...expected, waiter })
        this.#client.sendPaced({ ...draft, id }, over.signal).catch((error: Error) => waiter.reject(error))
      },
      () => {
        this.#waiting.delete(id)
        over.abort('no one waits for it any more')
      },
    )
    return (await answer) as EnvelopeOf<K>
  }

  /** Resolves waiting envelopes. Returns true for answers to invitations, which hides their token from listeners. */
  onEnvelope(envelope: AnyEnvelope): boolean {
    this.unanswered = this.#questions.apply(envelope as Envelope)
    for (const { id, agent } of this.unanswered)
      this.#waiting.get(id)?.waiter.reject(programEndedError(agent))
    const answered = correlations(envelope)
      .flatMap((id) => this.#waiting.get(this.#questions.getQuestion(id)) ?? [])
      .filter(({ kind, from = envelope.from }) => kind === envelope.kind && from === envelope.from)
      .filter(({ kind }) => kind !== Kind.chat || isAnswerTo(this.#client.id, envelope))
    for (const { waiter } of answered) waiter.resolve(envelope)
    return answered.length > 0 && envelope.kind === Kind.spaceInviteAck
  }

  onClose(reason: Error): void {
    for (const { waiter } of [...this.#waiting.values()]) waiter.reject(reason)
  }
}

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
