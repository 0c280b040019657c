import {
  type AnyEnvelope,
  type Capability,
  type ContextInfo,
  Kind,
  type McpRequestPayload,
  type ParticipantInfo,
  type SubscribePayload,
  type WelcomePayload,
} from '@meup/protocol'
import { EventEmitter } from 'eventemitter3'
import { nanoid } from 'nanoid'
import type { InputSchema } from '../agent/schema.js'
import { type Fallback, type ToolDefinition, type ToolHandler, Tools } from '../agent/tools.js'
import type { Turn } from '../agent/turn.js'
import { type TurnOptions, Turns } from '../agent/turns.js'
import { Reasoning, type ReasonOptions } from '../reasoning/reasoning.js'
import { readToolResult, type ToolResult } from '../tool-call/tool-result.js'
import { ConnectionError } from './errors.js'
import { Link } from './link.js'
import { People } from './people.js'
import { withProgressToken } from './progress.js'
import { Requests, resultOf } from './requests.js'
import type { CallOptions, ChatOptions, Draft, Seat } from './seat.js'
import { stream } from './stream.js'
import { Subscriptions } from './subscriptions.js'
import type { Dial, DialRequest } from './transport.js'
import type { WaitOptions } from './wait.js'

/** How the connection stands. */
export type ConnectionStatus =
  | { readonly state: 'connected' }
  | { readonly state: 'reconnecting'; readonly inMs: number; readonly reason: string }

export interface SpaceEvents {
  /** The line is there again. */
  connected: []
  /** Every logged envelope this participant gets, in order, and errors that answer nothing it awaits. */
  envelope: [AnyEnvelope]
  /** What is known of the space; again whenever it is told anew. */
  welcome: [WelcomePayload]
  reconnecting: [inMs: number, reason: string]
  /** The log this participant followed is gone; what follows starts at the oldest envelope. */
  lost: [WelcomePayload]
  /** A request that could not be answered, such as for lack of the capability `mcp.response`. */
  trouble: [error: unknown, request: AnyEnvelope]
  closed: [Error | undefined]
}

/** A participant's seat in a space. */
export class Space extends EventEmitter<SpaceEvents> implements Seat, AsyncDisposable {
  readonly #link: Link
  readonly #requests = new Requests()
  readonly #tools: Tools
  readonly #people = new People()
  readonly #subscriptions = new Subscriptions((envelope) => this.#link.post(envelope))
  #welcome: WelcomePayload | undefined
  #ended: { readonly error: Error | undefined } | undefined

  private constructor(dial: Dial, request: DialRequest) {
    super()
    this.#tools = new Tools(this, (error, request) => this.#trouble(error, request))
    this.#link = new Link(dial, request, {
      envelope: (envelope) => this.#receive(envelope),
      welcome: (welcome, fresh) => this.#told(welcome, fresh),
      reconnecting: (inMs, reason) => this.emit('reconnecting', inMs, reason),
      closed: (error) => this.#closed(error),
    })
  }

  /** Rejects with `ProtocolError` when the gateway refuses, `ConnectionError` when it cannot be reached. */
  static async open(dial: Dial, request: DialRequest): Promise<Space> {
    const space = new Space(dial, request)
    await space.#link.open()
    return space
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

  get capabilities(): readonly Capability[] {
    return this.welcome.you.capabilities
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

  /** The contexts that were open at the last welcome. */
  get contexts(): readonly ContextInfo[] {
    return this.welcome.contexts
  }

  /** Sends an envelope; resolves with it as the space accepted it, rejects with the gateway's `ProtocolError`. */
  send(draft: Draft): Promise<AnyEnvelope> {
    const id = draft.id ?? nanoid()
    return this.#link.send(id, { ...draft, id })
  }

  /** Says something in the main conversation. */
  chat(message: string, options: ChatOptions = {}): Promise<AnyEnvelope> {
    const { format, ...fields } = options
    return this.send({ ...fields, kind: Kind.chat, payload: { message, ...(format && { format }) } })
  }

  /** Makes an MCP request of a participant; gives back its result, throws `ToolError` for its error. */
  async request(to: string, method: string, params: object = {}, options: CallOptions = {}) {
    const { context, correlationId, why, parallelGroup, onProgress, ...wait } = options
    if (wait.signal?.aborted) throw new ConnectionError('aborted', `aborted: ${String(wait.signal.reason)}`)
    const id = nanoid()
    const response = this.#requests.response({ id, to, onProgress }, wait)
    const fields = {
      to: [to],
      ...(context !== undefined && { context }),
      ...(correlationId !== undefined && { correlationId }),
    }
    const payload = {
      jsonrpc: '2.0',
      id,
      method,
      params: onProgress === undefined ? params : withProgressToken(params, id),
    }
    const tool = {
      ...(why !== undefined && { rationale: why }),
      ...(parallelGroup !== undefined && { parallelGroup }),
    }
    this.send({ id, kind: Kind.mcpRequest, ...fields, ...tool, payload }).catch((error: Error) =>
      this.#requests.fail(id, error),
    )
    try {
      return resultOf((await response).payload)
    } catch (error) {
      if (error instanceof ConnectionError) this.#giveUp(id, fields, error.message)
      throw error
    }
  }

  /** Calls a tool by `participant/tool`. Throws `ToolError` when the tool fails. */
  async call(tool: string, args: object = {}, options: CallOptions = {}): Promise<ToolResult> {
    const slash = tool.indexOf('/')
    if (slash < 1) throw new TypeError(`name a tool as participant/tool, not ${JSON.stringify(tool)}`)
    const params = { name: tool.slice(slash + 1), arguments: args }
    return readToolResult(await this.request(tool.slice(0, slash), 'tools/call', params, options))
  }

  /** Offers a tool to the space. It is served in every context, whatever this connection filters. */
  tool<Schema extends InputSchema>(
    name: string,
    definition: ToolDefinition<Schema>,
    handler: ToolHandler<Schema>,
  ): this {
    this.#tools.add(name, definition, handler)
    return this
  }

  /** Answers every MCP request to this participant that is not for one of its tools. */
  serve(handler: Fallback): this {
    this.#tools.fallback = handler
    return this
  }

  /** Opens a run that nobody asked for. */
  reason(message?: string, options?: ReasonOptions): Promise<Reasoning> {
    return Reasoning.open(this, {}, message, options)
  }

  /** What others ask of this participant, one turn after the other. Ends when the space is closed. */
  turns(options: TurnOptions = {}): AsyncIterableIterator<Turn> {
    return new Turns(this, options).sequence()
  }

  /** Handles turns as they come, several at once. Resolves when the space is closed. */
  eachTurn(
    handler: (turn: Turn) => Promise<void>,
    options: TurnOptions & { concurrency?: number } = {},
  ): Promise<void> {
    return new Turns(this, options).each(handler, options.concurrency ?? Number.POSITIVE_INFINITY)
  }

  /** Every envelope from now on. Ends when the space is closed; throws if it was closed by an error. */
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

  /** Answers what is still being asked of this participant, for so many milliseconds at most, then closes. */
  async leave(withinMs = 2000): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, withinMs)
    })
    await Promise.race([this.#tools.settled(), late])
    clearTimeout(timer)
    this.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
  }

  #receive(envelope: AnyEnvelope): void {
    if (envelope.kind === Kind.systemError && this.#subscriptions.refused(envelope)) return
    const awaited = this.#requests.take(envelope)
    this.#people.take(envelope)
    if (envelope.kind === Kind.mcpRequest && !awaited) this.#tools.take(envelope)
    this.emit('envelope', envelope)
  }

  #told(welcome: WelcomePayload, fresh: boolean): void {
    this.#welcome = welcome
    this.#people.tell(welcome)
    if (fresh) this.#subscriptions.renew()
    else this.#subscriptions.granted(welcome)
    if (fresh) this.emit('connected')
    if (welcome.resume.status === 'lost') this.emit('lost', welcome)
    this.emit('welcome', welcome)
  }

  #closed(error: Error | undefined): void {
    this.#ended = { error }
    const reason = error ?? new ConnectionError('closed', 'the connection was closed')
    this.#requests.failAll(reason)
    this.#subscriptions.fail(reason)
    this.#people.fail(reason)
    this.#tools.close()
    this.emit('closed', error)
  }

  /** Said aloud where nobody listens: an asker waits in vain. A closed connection is told by `closed`. */
  #trouble(error: unknown, request: AnyEnvelope): void {
    if (error instanceof ConnectionError) return
    if (!this.emit('trouble', error, request)) console.error(`request ${request.id} was not answered:`, error)
  }

  #mustGoOn(): void {
    if (this.#ended !== undefined) throw new ConnectionError('closed', 'the connection is closed')
  }

  /** Tells the other side that nobody waits any more; if it cannot be told, it works in vain. */
  #giveUp(requestId: string, fields: object, reason: string): void {
    const payload: McpRequestPayload = {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId, reason },
    }
    this.send({ ...fields, kind: Kind.mcpRequest, payload }).catch(() => {})
  }
}
