import {
  type AnyEnvelope,
  type Capability,
  type ContextInfo,
  Kind,
  type McpRequestPayload,
  type ParticipantInfo,
  ProtocolError,
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
import { ConnectionError, errorDetails } from './errors.js'
import { Link } from './link.js'
import { People } from './people.js'
import { Requests, resultOf } from './requests.js'
import { stream } from './stream.js'
import type { Dial, DialRequest } from './transport.js'
import type { WaitOptions } from './wait.js'

/** What a sender sets of an envelope; the gateway adds the rest. */
export interface Draft {
  readonly kind: string
  readonly id?: string
  readonly to?: readonly string[]
  readonly correlationId?: string | readonly string[]
  readonly context?: string
  readonly rationale?: string
  readonly parallelGroup?: number
  readonly payload?: object
}

/** Where in the conversation a request stands, and why it is made. */
export interface CallOptions extends WaitOptions {
  readonly context?: string
  readonly correlationId?: string
  /** Why this tool, for everyone to read. */
  readonly why?: string
  /** Calls with the same number were made together. */
  readonly parallelGroup?: number
}

export interface SpaceEvents {
  /** Every logged envelope this participant gets, in order, and errors that answer nothing it awaits. */
  envelope: [AnyEnvelope]
  /** What is known of the space; again whenever it is told anew. */
  welcome: [WelcomePayload]
  reconnecting: [inMs: number, reason: string]
  /** The log this participant followed is gone; what follows starts at the oldest envelope. */
  lost: [WelcomePayload]
  closed: [Error | undefined]
}

/** A participant's seat in a space. */
export class Space extends EventEmitter<SpaceEvents> implements AsyncDisposable {
  readonly #link: Link
  readonly #requests = new Requests()
  readonly #tools: Tools
  readonly #people = new People()
  #welcome: WelcomePayload | undefined
  #asked: SubscribePayload | undefined
  #subscribing: { id: string; resolve(welcome: WelcomePayload): void; reject(error: Error): void } | undefined

  private constructor(dial: Dial, request: DialRequest) {
    super()
    this.#tools = new Tools(this)
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
  whenPresent(ids: readonly string[], options: WaitOptions = {}): Promise<void> {
    return this.#people.whenPresent(ids, options)
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
  chat(message: string, options: Omit<Draft, 'kind' | 'payload'> & { format?: 'plain' | 'markdown' } = {}) {
    const { format, ...fields } = options
    return this.send({ ...fields, kind: Kind.chat, payload: { message, ...(format && { format }) } })
  }

  /** Makes an MCP request of a participant; gives back its result, throws `ToolError` for its error. */
  async request(to: string, method: string, params: object = {}, options: CallOptions = {}) {
    const { context, correlationId, why, parallelGroup, ...wait } = options
    const id = nanoid()
    const response = this.#requests.response(id, wait)
    const fields = {
      to: [to],
      ...(context !== undefined && { context }),
      ...(correlationId !== undefined && { correlationId }),
    }
    const payload = { jsonrpc: '2.0', id, method, params }
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
  subscribe(asked: SubscribePayload): Promise<WelcomePayload> {
    const id = nanoid()
    this.#asked = asked
    return new Promise((resolve, reject) => {
      this.#subscribing = { id, resolve, reject }
      this.#link.post({ id, kind: Kind.observeSubscribe, payload: asked })
    })
  }

  close(): void {
    this.#link.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
  }

  #receive(envelope: AnyEnvelope): void {
    if (envelope.kind === Kind.systemError && envelope.correlationId === this.#subscribing?.id) {
      const { code, message } = envelope.payload
      this.#subscribing?.reject(new ProtocolError(code, message, errorDetails(envelope.payload)))
      this.#subscribing = undefined
      return
    }
    this.#requests.take(envelope)
    this.#people.take(envelope)
    if (envelope.kind === Kind.mcpRequest) this.#tools.take(envelope)
    this.emit('envelope', envelope)
  }

  #told(welcome: WelcomePayload, fresh: boolean): void {
    this.#welcome = welcome
    this.#people.tell(welcome.participants)
    if (fresh && this.#asked !== undefined) {
      this.#link.post({ id: nanoid(), kind: Kind.observeSubscribe, payload: this.#asked })
    } else if (!fresh) {
      this.#subscribing?.resolve(welcome)
      this.#subscribing = undefined
    }
    if (welcome.resume.status === 'lost') this.emit('lost', welcome)
    this.emit('welcome', welcome)
  }

  #closed(error: Error | undefined): void {
    this.#requests.failAll(error ?? new ConnectionError('closed', 'the connection was closed'))
    this.#tools.close()
    this.emit('closed', error)
  }

  /** Tells the other side that nobody waits any more. */
  #giveUp(requestId: string, fields: object, reason: string): void {
    const payload: McpRequestPayload = {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId, reason },
    }
    this.#link.post({ ...fields, id: nanoid(), kind: Kind.mcpRequest, payload })
  }
}
