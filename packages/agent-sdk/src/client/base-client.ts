import {
  type AnyEnvelope,
  type Capability,
  type ContextInfo,
  Kind,
  type ParticipantInfo,
  type SubscribePayload,
  type WelcomePayload,
} from '@meup/protocol'
import { EventEmitter } from 'eventemitter3'
import { Link } from './connection.js'
import { ConnectionError } from './errors.js'
import { freshId } from './fresh-id.js'
import type { Gate } from './outbound-safety.js'
import { type Pause, Pauses } from './pauses.js'
import { Subscriptions } from './requests.js'
import { GatewayTime, People, Rights, type Run, Runs, type Timed } from './space-state.js'
import type { Dial, DialRequest } from './transport.js'
import type { ChatOptions, ConnectionStatus, Draft, SpaceEvents } from './types.js'
import { stream, type WaitOptions } from './wait.js'

/** That somebody belongs to a space: what it is told, what it may do, what it hears and says. */
export abstract class Membership extends EventEmitter<SpaceEvents> implements AsyncDisposable, Timed {
  readonly #link: Link
  readonly #people = new People()
  readonly #time = new GatewayTime()
  readonly #rights = new Rights()
  readonly #subscriptions = new Subscriptions((envelope) => this.#link.post(envelope))
  readonly #runs = new Runs((change) => void this.emit('visibility', change))
  readonly #pauses = new Pauses((pause) => void (pause ? this.emit('paused', pause) : this.emit('resumed')))
  #welcome: WelcomePayload | undefined
  #ended: { readonly error: Error | undefined } | undefined

  protected constructor(dial: Dial, request: DialRequest, gate: Gate | undefined) {
    super()
    this.#link = new Link(dial, request, gate, {
      envelope: (envelope, text) => this.#receive(envelope, text),
      malformed: (error) => this.report(error, undefined),
      refused: (error) => this.#pauses.refused(error),
      welcome: (welcome, fresh, ts, answers) => this.#told(welcome, fresh, ts, answers),
      reconnecting: (inMs, reason) => this.emit('reconnecting', inMs, reason),
      closed: (error) => this.#closed(error),
    })
  }

  get welcome(): WelcomePayload {
    if (this.#welcome === undefined) throw new ConnectionError('closed', 'the space has not been entered yet')
    return this.#welcome
  }

  /** Why it is over, for good; `undefined` while it goes on. */
  get ended(): { readonly error: Error | undefined } | undefined {
    return this.#ended
  }

  /** This participant's id. */
  get id(): string {
    return this.welcome.you.id
  }

  gatewayTime(): number {
    return this.#time.now()
  }

  /** What this participant may do at present: what the operator gave it, and what it was granted. */
  get capabilities(): readonly Capability[] {
    return this.welcome.you.capabilities
  }

  /** Whether a capability of this participant allows it. The gateway has the last word. */
  can({ kind, to, context, payload = {} }: Draft): boolean {
    return this.#rights.allow({ kind, to, context, payload })
  }

  /** Why this participant may do little more than answer; `undefined` = it is not paused, as far as it knows. */
  get paused(): Pause | undefined {
    return this.#pauses.current
  }

  /** Everybody the space knows, and who is there now. */
  get participants(): readonly ParticipantInfo[] {
    return this.#people.list()
  }

  /** Resolves when all of these are there. Rejects with `ConnectionError` when it takes too long. */
  async whenPresent(ids: readonly string[], options: WaitOptions = {}): Promise<void> {
    this.#mustGoOn()
    await this.#people.whenPresent(ids, options)
  }

  /** The contexts that were open at the last welcome. Whether each is visible is known as of now. */
  get contexts(): readonly ContextInfo[] {
    return this.welcome.contexts.map(({ hiddenBy: _, ...each }) => {
      const hiddenBy = this.#runs.hiddenBy(each.context)
      return { ...each, reasoningVisible: hiddenBy === undefined, ...(hiddenBy && { hiddenBy }) }
    })
  }

  /** The runs that go on, oldest first, as far as this connection is shown them. */
  get runs(): readonly Run[] {
    return this.#runs.list()
  }

  /**
   * Sends an envelope; resolves with it as the space accepted it, rejects with the gateway's `ProtocolError`.
   * Everything that this participant says passes here.
   */
  send(draft: Draft): Promise<AnyEnvelope> {
    const id = draft.id ?? freshId()
    return this.#link.send(id, { ...draft, id })
  }

  /** Says something in the main conversation. */
  chat(message: string, options: ChatOptions = {}): Promise<AnyEnvelope> {
    return this.send(chatDraft(message, options))
  }

  /**
   * Every envelope from now on. Ends when the space is closed; throws if it was closed by an error. Whoever leaves a
   * `for await` loop ends it too: to read on later, call `next()`.
   */
  envelopes(): AsyncIterableIterator<AnyEnvelope> {
    return stream<AnyEnvelope>(this, (push) => {
      this.on('envelope', push)
      return () => this.off('envelope', push)
    })
  }

  /** Changes what this connection is shown; what is cut is cut in the gateway. */
  async subscribe(asked: SubscribePayload): Promise<WelcomePayload> {
    this.#mustGoOn()
    return this.#subscriptions.change(asked)
  }

  /** How the connection stands, now and whenever that changes. Ends when the space is closed, throws if by an error. */
  status(): AsyncIterableIterator<ConnectionStatus> {
    return stream<ConnectionStatus>(this, (push) => {
      const connected = (): void => push({ state: 'connected' })
      const reconnecting = (inMs: number, reason: string): void =>
        push({ state: 'reconnecting', inMs, reason })
      connected()
      this.on('connected', connected).on('reconnecting', reconnecting)
      return () => this.off('connected', connected).off('reconnecting', reconnecting)
    })
  }

  /** Resolves when the space is closed: with what closed it, or nothing where that was asked for. */
  closed(): Promise<Error | undefined> {
    if (this.#ended !== undefined) return Promise.resolve(this.#ended.error)
    return new Promise((resolve) => this.once('closed', resolve))
  }

  close(): void {
    this.#link.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
  }

  /** Whether the envelope was awaited here and is nobody else's business. `frame` = as it was received. */
  protected abstract take(envelope: AnyEnvelope, frame: string): boolean

  protected abstract told(welcome: WelcomePayload): void

  /** It is over: whoever still waits is told why. */
  protected abstract end(reason: Error): void

  /** Says what went wrong; aloud where nobody listens. */
  protected report(error: unknown, request: AnyEnvelope | undefined): void {
    if (this.emit('trouble', error, request)) return
    console.error(request === undefined ? 'trouble:' : `request ${request.id} was not answered:`, error)
  }

  /** Resolves after the first welcome. */
  protected enter(): Promise<void> {
    return this.#link.open()
  }

  protected reconnect(): void {
    this.#link.renew()
  }

  #receive(envelope: AnyEnvelope, frame: string): void {
    if (envelope.kind === Kind.systemError && this.#subscriptions.refused(envelope)) return
    this.#people.take(envelope)
    this.#pauses.take(envelope, this.id)
    this.#runs.take(envelope)
    if (!this.take(envelope, frame)) this.emit('envelope', envelope)
  }

  #told(welcome: WelcomePayload, fresh: boolean, ts: string, answers?: string): void {
    this.#time.hear(ts)
    this.#welcome = welcome
    this.#people.tell(welcome)
    this.#runs.tell(welcome)
    const { capabilities } = welcome.you
    const changed = this.#rights.tell(capabilities)
    if (fresh) this.#subscriptions.renew()
    else if (answers !== undefined) this.#subscriptions.granted(answers, welcome)
    this.told(welcome)
    if (fresh) this.emit('connected')
    if (welcome.resume.status === 'lost') this.emit('lost', welcome)
    this.emit('welcome', welcome)
    if (changed) this.emit('capabilities', capabilities)
  }

  #closed(error: Error | undefined): void {
    this.#ended = { error }
    const reason = error ?? new ConnectionError('closed', 'the connection was closed')
    this.#subscriptions.fail(reason)
    this.#people.fail(reason)
    this.#pauses.close()
    this.end(reason)
    this.emit('closed', error)
  }

  #mustGoOn(): void {
    if (this.#ended !== undefined) throw new ConnectionError('closed', 'the connection is closed')
  }
}

export const chatDraft = (message: string, { format, ...fields }: ChatOptions): Draft => ({
  ...fields,
  kind: Kind.chat,
  payload: { message, ...(format && { format }) },
})
