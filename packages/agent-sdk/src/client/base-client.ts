import { Questions, SpaceView, suggest } from '@meup/folds'
import {
  type AnyEnvelope,
  type Capability,
  type ContextInfo,
  contextRoot,
  type EnvelopeOf,
  freshId,
  GATEWAY,
  isCompilable,
  Kind,
  makeCompilable,
  omitUndefined,
  type ParticipantDetails,
  ProtocolError,
  SELF,
  type SubscribePayload,
  type WelcomePayload,
} from '@meup/protocol'
import { Attendance } from './attendance.js'
import { OwnRequests, readToolResult } from './calls.js'
import { ClientConnection } from './connection.js'
import { endedError, postedKindError, traceToCaller, unnamedToolError } from './errors.js'
import { GuardedEmitter, printListenerError } from './guarded-emitter.js'
import type { ClientHandler, KnownSpace, WelcomeInfo } from './handler.js'
import {
  type Grant,
  type GrantOptions,
  type Invitation,
  type KickOptions,
  type PauseOptions,
  type Revocable,
  type Status,
  type StatusOptions,
  sendGrant,
} from './management.js'
import type { OutboundSafety } from './outbound-safety.js'
import { OwnProposals } from './own-proposals.js'
import { OwnPause, type Pause } from './pauses.js'
import { PendingRequests } from './pending-requests.js'
import type { Proposal, ProposalDraft, ProposeOptions } from './proposal.js'
import { Proposals } from './proposals.js'
import { Replies } from './replies.js'
import { Pace, retryAfterPause } from './retry.js'
import { GatewayTime, type OpenRun, OwnCapabilities, ParticipantList, Runs } from './space-state.js'
import { streamEvents } from './stream-events.js'
import { Subscriptions } from './subscriptions.js'
import type { ToolResult } from './tool-result.js'
import { Tracing } from './tracing.js'
import type { Dial, DialRequest } from './transport.js'
import type {
  CallOptions,
  ChatOptions,
  ClientContext,
  ConnectionStatus,
  ContributeOptions,
  Draft,
  SpaceEvents,
} from './types.js'
import type { WaitOptions } from './wait.js'

export interface Answer {
  /** Envelope id of the answer. */
  readonly id: string
  readonly from: string
  /** Time of the answer, RFC 3339. */
  readonly ts: string
  readonly text: string
  /** The structured content of the message; absent = none. */
  readonly data?: unknown
  /** Set if the chat is not an answer, because the agent is busy, failed, or was stopped. Its text says so too. */
  readonly noAnswer?: NoAnswer
}

/** Reasons why a chat that correlates with a question does not answer it [MEUP-13.13]. */
const noAnswers = ['busy', 'failed', 'stopped'] as const
export type NoAnswer = (typeof noAnswers)[number]

/**
 * A participant of a space: sends and receives envelopes, makes requests, and decides proposals. Does not offer tools or mask
 * texts, which keeps web pages small; `SpaceClient` adds both.
 */
export class BaseClient extends GuardedEmitter<SpaceEvents> implements AsyncDisposable, ClientContext {
  readonly #connection: ClientConnection
  readonly #time = new GatewayTime()
  readonly #space: KnownSpace
  readonly #capabilities = new OwnCapabilities()
  readonly #participants = new ParticipantList(this.#time)
  readonly #attendance = new Attendance((id) => this.#participants.find(id))
  readonly #subscriptions = new Subscriptions((envelope) => this.#connection.post(envelope))
  readonly #runs = new Runs((change) => void this.emit('visibility', change))
  readonly #pauses = new OwnPause(
    this,
    this.#participants,
    (pause) => void (pause ? this.emit('paused', pause) : this.emit('resumed')),
  )
  readonly #replies = new Replies(this, this.#participants.fold)
  readonly #pace = new Pace()
  /** @internal */
  protected readonly questions = new Questions()
  readonly #tracing: Tracing
  /** @internal */
  protected readonly requests = new PendingRequests()
  readonly #ownProposals: OwnProposals
  readonly #calls: OwnRequests
  /** Open proposals of other participants, with methods to decide them. */
  readonly proposals: Proposals
  /** @internal */
  protected readonly handlers: ClientHandler[]
  #welcome: WelcomePayload | undefined
  #ended: { readonly error: Error | undefined } | undefined

  protected constructor(dial: Dial, request: DialRequest, safety: OutboundSafety | undefined) {
    super(printListenerError)
    if (request.onReconnecting) this.on('reconnecting', request.onReconnecting)
    this.proposals = new Proposals(this, this.requests, this.#attendance, request.proposals)
    this.#space = new SpaceView({
      participants: this.#participants.fold,
      contexts: this.#runs.fold,
      proposals: this.proposals.fold,
    })
    this.#tracing = new Tracing(request.tracing ? () => this.welcome.space.epoch : undefined)
    this.#ownProposals = new OwnProposals(this, this.requests, this.#tracing)
    this.#calls = new OwnRequests(this, this.requests, this.#ownProposals, {
      tracing: this.#tracing,
      attendance: this.#attendance,
      resolve: (named) => (named === SELF && this.#participants.find(SELF) === undefined ? this.id : named),
      onOwnCall: (call, over) => {
        for (const handler of this.handlers) this.#guard(() => handler.onOwnCall?.(call, over))
      },
      onError: (error) => this.reportError(error, undefined),
    })
    this.handlers = [
      this.#subscriptions, // First: it hides refusals of subscription changes from the others.
      this.#participants,
      this.#attendance, // After the participants, which it queries.
      this.#pauses,
      this.#runs,
      this.#replies, // Before all observers: it consumes answers to invitations, which contain a token.
      this.#tracing,
      { onEnvelope: (envelope) => this.questions.apply(envelope, this.id) },
      this.requests,
      this.#ownProposals,
      this.proposals,
    ]
    this.#connection = new ClientConnection(dial, request, safety, {
      onEnvelope: (envelope, frame) => this.#onEnvelope(envelope, frame),
      onMalformed: (error) => this.reportError(error, undefined),
      onRefused: (error) => this.#pauses.onRefused(error),
      onWelcome: (welcome, info) => this.#onWelcome(welcome, info),
      onReconnecting: (inMs, reason) => {
        this.#attendance.onReconnecting()
        this.emit('reconnecting', inMs, reason)
      },
      onClose: (error) => this.#onClose(error),
    })
  }

  /** Opens a client. Rejects with `ProtocolError` if the gateway refuses, with `ConnectionError` if it is unreachable. */
  static async open(dial: Dial, request: Omit<DialRequest, 'safety'>): Promise<BaseClient> {
    const client = new BaseClient(dial, request, undefined)
    await client.connect()
    return client
  }

  get welcome(): WelcomePayload {
    if (this.#welcome === undefined) throw new Error('not connected yet')
    return this.#welcome
  }

  /** Set when the client was closed, with the error that caused it, if any. */
  get ended(): { readonly error: Error | undefined } | undefined {
    return this.#ended
  }

  get id(): string {
    return this.welcome.you.id
  }

  gatewayTime(): number {
    return this.#time.now()
  }

  /** This participant's current capabilities, configured and granted ones. */
  get capabilities(): readonly Capability[] {
    return this.welcome.you.capabilities
  }

  /** Whether a capability of this participant allows the envelope, as far as this client knows. The gateway decides. */
  can({ kind, to, context, payload = {} }: Draft): boolean {
    return this.#capabilities.allow({ kind, to, context, payload })
  }

  /** Whether this participant may grant these capabilities, as far as this client knows. The gateway decides. */
  mayGrant(recipient: string, capabilities: readonly Capability[]): boolean {
    const draft = { kind: Kind.capabilityGrant, payload: { recipient, capabilities } }
    return recipient !== this.id && this.can(draft) && this.#capabilities.cover(capabilities)
  }

  /**
   * Whether a message asks this participant: `to` or a mention names it; or it names no participant, does not answer a message,
   * and this participant is the front desk or the space has none. An answer to a question of this participant is not a question
   * [MEUP-13.18]. `frontDesk: false` ignores the front desk.
   */
  isAsked(message: EnvelopeOf<typeof Kind.chat>, { frontDesk = true } = {}): boolean {
    const { frontDesk: desk } = this.#participants.fold
    return this.questions.isAsked(message, this.id, frontDesk ? desk : undefined)
  }

  /** The current pause of this participant; `undefined` = not paused, as far as known. */
  get paused(): Pause | undefined {
    return this.#pauses.current
  }

  /**
   * All known participants with presence, pause, kick, and the state of their programs. Pauses of other participants are those
   * of the welcome; later pauses are only known with the capability `observe.targeted`, or if this participant sent them.
   */
  get participants(): readonly ParticipantDetails[] {
    return this.#participants.list()
  }

  /**
   * The kind of a participant as configured (`human`, `agent`, `mcp`, `process`, `acp`); otherwise `human` for guests, and
   * `agent`. `undefined` = not in this space.
   */
  getKind(id: string): string | undefined {
    return this.#participants.getKind(id)
  }

  /** Resolves when all these participants are present. Rejects with `ConnectionError` after `timeoutMs`. */
  async whenPresent(ids: readonly string[], options: WaitOptions = {}): Promise<void> {
    this.#checkOpen()
    await this.#participants.whenPresent(ids, options)
  }

  /** The contexts that were open at the last welcome, with their current visibility. */
  get contexts(): readonly ContextInfo[] {
    return this.welcome.contexts.map(({ hiddenBy: _, ...each }) => ({
      ...each,
      ...this.#runs.getVisibility(each.context),
    }))
  }

  /** The open runs visible to this connection, oldest first. */
  get runs(): readonly OpenRun[] {
    return this.#runs.list()
  }

  /**
   * Sends an envelope. Resolves with the envelope as logged; rejects with the gateway's `ProtocolError`. `chat.delta` and
   * `observe.typing` are not logged and never acknowledged: use `post`.
   */
  async send(draft: Draft): Promise<AnyEnvelope> {
    if (draft.kind === Kind.chatDelta || draft.kind === Kind.observeTyping) throw postedKindError(draft.kind)
    const id = draft.id ?? freshId()
    try {
      return await this.#connection.send(id, { ...draft, id })
    } catch (error) {
      throw suggestParticipant(error, draft, this.participants)
    }
  }

  /**
   * Like `send`, but an envelope refused as `rate_limited`, `unavailable` or `internal` is queued and resent unchanged. The
   * first in the queue is retried for ten seconds at most.
   */
  sendPaced(draft: Draft, signal?: AbortSignal): Promise<AnyEnvelope> {
    const named = withId(draft)
    return this.#pace.send(draft.kind, () => this.send(named), signal)
  }

  /** Like `sendPaced`; also waits while this participant is paused. Rejects with `aborted` when the signal is aborted. */
  sendWhenAllowed(draft: Draft, signal?: AbortSignal): Promise<AnyEnvelope> {
    const named = withId(draft)
    return retryAfterPause(this, () => this.sendPaced(named, signal), signal)
  }

  /** Sends an envelope of a kind that is not logged or acknowledged. It is lost while disconnected. */
  post(draft: Draft): void {
    this.#connection.post(draft)
  }

  /** Shows for a few seconds that this participant is typing, to all participants or to `to`. Repeat it to continue. */
  sendTyping({ to }: Pick<Draft, 'to'> = {}): void {
    this.post({ kind: Kind.observeTyping, ...(to && { to }), payload: {} })
  }

  /**
   * Sends a chat message. Resolves when it is in the log. Rejects at once with the gateway's refusal, also with `rate_limited` and
   * `participant_paused`: `sendWhenAllowed` waits.
   */
  chat(message: string, options: ChatOptions = {}): Promise<AnyEnvelope> {
    return this.send(createChat(message, options))
  }

  /**
   * Sends a message, and waits for the first chat that answers it. Rejects with `ConnectionError` if there is no answer in time
   * (default 60,000 ms).
   */
  async ask(
    message: string,
    { timeoutMs, signal, ...options }: ChatOptions & WaitOptions = {},
  ): Promise<Answer> {
    const waiting = { ...omitUndefined({ timeoutMs }), ...(signal && { signal }) }
    const expected = { kind: Kind.chat }
    const { id, from, ts, payload } = await this.#replies.ask(createChat(message, options), expected, waiting)
    const noAnswer = noAnswers.find((each) => each === (payload as { noAnswer?: unknown }).noAnswer)
    const { message: text, data } = payload
    return { id, from, ts, text, ...omitUndefined({ data }), ...(noAnswer && { noAnswer }) }
  }

  /**
   * Makes an MCP request to a participant and returns its result; throws `ToolError` if the participant answers with an error.
   * If this participant lacks the capability, the request is proposed; throws `ProposalError` unless it is approved. Rejects
   * with `ConnectionError` `participant_away` within two seconds if the participant is absent and not starting (`waitForMs`),
   * and if it leaves for more than two seconds. In the latter case it may have carried out the request, which is then
   * cancelled.
   */
  async request(to: string, method: string, params: object = {}, options: CallOptions = {}) {
    const { result } = await this.#calls.make(to, method, params, options)
    return result
  }

  /**
   * Calls a tool by `participant/tool`, like `request`; `me/tool` is a tool of this participant. Throws `ToolError` if the tool
   * fails.
   */
  async call(tool: string, args: object = {}, options: CallOptions = {}): Promise<ToolResult> {
    const slash = tool.indexOf('/')
    if (slash < 1) throw unnamedToolError(tool)
    const params = { name: tool.slice(slash + 1), arguments: args }
    return readToolResult(await this.#calls.make(tool.slice(0, slash), 'tools/call', params, options))
  }

  /**
   * Proposes a request that another participant may approve. Resolves when the proposal is in the log; rejects with the
   * gateway's refusal.
   */
  propose(draft: ProposalDraft, options: ProposeOptions = {}): Promise<Proposal> {
    return this.#ownProposals.propose(draft, options)
  }

  /** Grants capabilities that this participant holds. Rejects with `grant_exceeds_own` if it does not hold one of them. */
  grant(recipient: string, capabilities: readonly Capability[], options: GrantOptions = {}): Promise<Grant> {
    return sendGrant(this, recipient, capabilities, options)
  }

  /** Revokes one grant, or all grants of a participant that these capabilities cover. Takes effect immediately. */
  revoke(what: Revocable, reason?: string): Promise<AnyEnvelope> {
    const { recipient } = what
    const which = what.id === undefined ? { capabilities: what.capabilities } : { grantId: what.id }
    const payload = { recipient, ...which, ...omitUndefined({ reason }) }
    return this.send({ kind: Kind.capabilityRevoke, payload })
  }

  /**
   * Adds a participant with capabilities, like `grant`. The token is sent only on this connection and never logged: if the
   * connection breaks first, the token is lost.
   */
  async invite(
    participantId: string,
    capabilities: readonly Capability[],
    { signal, timeoutMs, ...terms }: GrantOptions & WaitOptions = {},
  ): Promise<Invitation> {
    const draft = { kind: Kind.spaceInvite, payload: { participantId, capabilities, ...terms } }
    const waiting = { ...(signal && { signal }), ...omitUndefined({ timeoutMs }) }
    const expected = { kind: Kind.spaceInviteAck, from: GATEWAY }
    const { status, token, url } = (await this.#replies.ask(draft, expected, waiting)).payload
    return { participantId, status, ...(token !== '' && { token }), url }
  }

  /** Removes a participant from the space. */
  kick(participantId: string, options: KickOptions = {}): Promise<AnyEnvelope> {
    return this.send({ kind: Kind.spaceKick, payload: { participantId, ...options } })
  }

  /** Pauses participants. A paused participant may only answer. */
  pause(ids: readonly string[], options: PauseOptions = {}): Promise<AnyEnvelope> {
    return this.send({ kind: Kind.participantPause, to: ids, payload: options })
  }

  resume(ids: readonly string[], reason?: string): Promise<AnyEnvelope> {
    const payload = reason === undefined ? {} : { reason }
    return this.send({ kind: Kind.participantResume, to: ids, payload })
  }

  /** Requests the status of an agent. Rejects with `ConnectionError` if the agent is absent or does not answer in time. */
  async requestStatus(id: string, { fields, ...waiting }: StatusOptions = {}): Promise<Status> {
    const payload = fields === undefined ? {} : { fields }
    const draft = { kind: Kind.participantRequestStatus, to: [id], payload }
    if (this.can(draft)) await this.#attendance.whenHere([id], waiting)
    return (await this.#replies.ask(draft, { kind: Kind.participantStatus, from: id }, waiting)).payload
  }

  /**
   * Asks an agent to compact its memory, and waits until it has. Rejects with `ConnectionError` if the agent is absent or does
   * not finish in time; compacting may include a request to its model.
   */
  async requestCompact(id: string, waiting: WaitOptions = {}): Promise<void> {
    const draft = { kind: Kind.participantCompact, to: [id], payload: {} }
    if (this.can(draft)) await this.#attendance.whenHere([id], waiting)
    await this.#replies.ask(draft, { kind: Kind.participantCompactDone, from: id }, waiting)
  }

  /**
   * Hides or shows the thoughts of a run; `context` may also be a context nested in it. Hidden thoughts are only sent to their
   * author. In a run of this participant that affects its own thoughts, in another run all [MEUP-9.5]. Rejects with
   * `run_not_active` if the run has ended; with `forbidden` if the capability for other runs is missing.
   */
  setVisibility(context: string, reasoningVisible: boolean): Promise<AnyEnvelope> {
    const payload = { context: contextRoot(context), reasoningVisible }
    return this.send({ kind: Kind.observeVisibility, payload })
  }

  /**
   * Adds a thought to the run of another participant [MEUP-2.5]. `to`: id of the thought that it answers. Rejects with
   * `forbidden` if the space has `reasoning.collaborative: false`.
   */
  contribute(
    context: string,
    message: string,
    { to, ...rest }: ContributeOptions = {},
  ): Promise<AnyEnvelope> {
    const about = to === undefined ? {} : { correlationId: to }
    return this.send({ kind: Kind.reasoningThought, context, ...about, payload: { message, ...rest } })
  }

  /** Requests that the owner of a context end it. The owner decides. */
  interrupt(context: string, reason?: string): Promise<AnyEnvelope> {
    const payload = reason === undefined ? {} : { reason }
    return this.send({ kind: Kind.reasoningCancel, context, payload })
  }

  /**
   * Iterates over all envelopes from now on. Ends when the client is closed; throws if an error closed it. Leaving a `for
   * await` loop ends the iteration: call `next()` instead to continue later.
   */
  envelopes(): AsyncIterableIterator<AnyEnvelope> {
    return streamEvents<AnyEnvelope>(this, (push) => {
      this.on('envelope', push)
      return () => this.off('envelope', push)
    })
  }

  /** Changes the subscription of this connection, which is the gateway's filter for its envelopes. */
  async subscribe(wanted: SubscribePayload): Promise<WelcomePayload> {
    this.#checkOpen()
    return this.#subscriptions.change(wanted)
  }

  /**
   * Iterates over the connection status, beginning with the current one. Ends when the client is closed; throws if an error
   * closed it.
   */
  status(): AsyncIterableIterator<ConnectionStatus> {
    return streamEvents<ConnectionStatus>(this, (push) => {
      const connected = (): void => push({ state: 'connected' })
      const reconnecting = (inMs: number, reason: string): void =>
        push({ state: 'reconnecting', inMs, reason })
      connected()
      this.on('connected', connected).on('reconnecting', reconnecting)
      return () => this.off('connected', connected).off('reconnecting', reconnecting)
    })
  }

  /** Resolves when the client is closed, with the error that closed it, if any. */
  closed(): Promise<Error | undefined> {
    if (this.#ended !== undefined) return Promise.resolve(this.#ended.error)
    return new Promise((resolve) => this.once('closed', resolve))
  }

  /** Attempts to reconnect immediately instead of at the scheduled time. */
  reconnectNow(): void {
    this.#connection.retryNow()
  }

  close(): void {
    this.#connection.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
  }

  /** Emits `requestError`; prints the error if there is no listener. @internal */
  protected reportError(error: unknown, request: AnyEnvelope | undefined): void {
    if (this.emit('requestError', error, request)) return
    console.error(request === undefined ? 'connection error:' : `request ${request.id} failed:`, error)
  }

  /** Resolves after the first welcome. @internal */
  protected connect(): Promise<void> {
    return this.#connection.open(() => this.#prepareRights().catch(this.#onRightsError))
  }

  /** @internal */
  protected reconnect(): void {
    this.#connection.renew()
  }

  #onEnvelope(envelope: AnyEnvelope, frame: string): void {
    const changes = this.#guard(() => this.#space.apply(envelope), envelope) ?? {}
    for (const handler of this.handlers) {
      if (this.#guard(() => handler.onEnvelope?.(envelope, changes, frame), envelope) === true) return
    }
    this.emit('envelope', envelope)
    for (const { id, agent } of this.#replies.unanswered) this.emit('unanswered', { id, agent })
  }

  /** Calls a handler and reports its errors: they must not prevent other handlers from receiving the envelope. */
  #guard<Result>(handle: () => Result, envelope?: AnyEnvelope): Result | undefined {
    try {
      return handle()
    } catch (error) {
      this.reportError(error, envelope)
      return undefined
    }
  }

  #onWelcome(welcome: WelcomePayload, info: WelcomeInfo): void {
    this.#welcome = welcome
    this.#time.update(info.ts)
    const { capabilities } = welcome.you
    const changed = this.#capabilities.update(capabilities)
    const changes = this.#space.onWelcome(welcome)
    for (const handler of this.handlers) this.#guard(() => handler.onWelcome?.(welcome, changes, info))
    if (info.isFirst) this.emit('connected')
    if (welcome.resume.status === 'lost') this.emit('lost', welcome)
    this.emit('welcome', welcome)
    if (!changed) return
    this.emit('capabilities', capabilities)
    this.#prepareRights().catch(this.#onRightsError)
  }

  readonly #onRightsError = (error: unknown): void => this.reportError(error, undefined)

  /** Loads the regular expression compiler. Until then `can` is false for every envelope. */
  async #prepareRights(): Promise<void> {
    const { capabilities } = this
    if (isCompilable(capabilities)) return
    await makeCompilable(capabilities)
    this.emit('capabilities', capabilities)
  }

  #onClose(error: Error | undefined): void {
    this.#ended = { error }
    const reason = error ?? endedError()
    for (const handler of this.handlers) this.#guard(() => handler.onClose?.(reason))
    this.emit('closed', error)
  }

  #checkOpen(): void {
    if (this.#ended !== undefined) throw endedError()
  }
}

/** Adds the nearest name to the refusal of an unknown one in this draft; returns other errors unchanged. */
function suggestParticipant(error: unknown, draft: Draft, known: readonly ParticipantDetails[]): unknown {
  if (!(error instanceof ProtocolError) || error.code !== 'participant_not_found') return error
  const path = String(error.details.path).split('/').slice(1)
  const named = path.reduce<unknown>((value, key) => Object(value)[key], draft)
  const ids = known.map(({ id }) => id)
  const meant = typeof named === 'string' ? suggest(named, ids) : undefined
  return meant === undefined
    ? error
    : traceToCaller(new ProtocolError(error.code, `${error.message} Did you mean ${meant}?`, error.details))
}

/** Sets the id, so that the envelope can be resent under the same id. */
const withId = (draft: Draft): Draft => ({ ...draft, id: draft.id ?? freshId() })

/** Creates the message to an asker that there is no answer. */
export const createNoAnswer = (noAnswer: NoAnswer, message: string, options: ChatOptions): Draft => {
  const chat = createChat(message, options)
  return { ...chat, payload: { ...chat.payload, noAnswer } }
}

export const createChat = (
  message: string,
  { format, thinkingLevel, mention, data, ...fields }: ChatOptions,
): Draft => {
  const payload = {
    message,
    ...(format && { format }),
    ...(mention !== undefined && { mentions: [mention].flat() }),
    ...(thinkingLevel && { thinkingLevel }),
  }
  return {
    ...fields,
    kind: Kind.chat,
    payload: { ...payload, ...omitUndefined({ data }) },
  }
}
