import type { AnyEnvelope } from '@meup/protocol'
import { runModelAgent } from '#model-agent'
import { Arrivals, formatUnhandled } from './agent/arrivals.js'
import { Control, type ControlHooks, Workload } from './agent/control.js'
import { ConversationLog } from './agent/conversation-log.js'
import { Deltas } from './agent/deltas.js'
import { AskedElicitations } from './agent/elicitations.js'
import { type OwnTool, type ToolDefinition, type ToolHandler, tool } from './agent/own-tool.js'
import {
  type Reasoning,
  ReasoningContext,
  type ReasonOptions,
  type Think,
  thinkIn,
} from './agent/reasoning.js'
import type { InputSchema } from './agent/schemas.js'
import { type CallableTool, SpaceTools } from './agent/space-tools.js'
import { type Fallback, Tools } from './agent/tools.js'
import type { Turn } from './agent/turn.js'
import { type ClientTurn, type OpenTurnOptions, type TurnOptions, Turns } from './agent/turns.js'
import { BaseClient } from './client/base-client.js'
import { ConnectionError } from './client/errors.js'
import { OutboundSafety } from './client/outbound-safety.js'
import type { ToolResult } from './client/tool-result.js'
import type { Dial, DialRequest } from './client/transport.js'
import type { CallOptions, Unhandled } from './client/types.js'
import { HttpClient } from './http/http-client.js'
import type { WhyAnswer, WhyQuery } from './http/types.js'
import { type AgentOptions, isOwnTool, resolveOptions } from './model/options.js'
import type { ModelAgent } from './model/run-model-agent.js'

/**
 * Milliseconds for reading a page of the log over HTTP. Less than the default of `HttpClient`, because an agent waits for it
 * before it answers.
 */
const readTimeoutMs = 10_000

/** A participant of a space with the features that agents need: tools, turns, reasoning, and control requests. */
export class SpaceClient extends BaseClient {
  readonly #request: DialRequest
  readonly #spaceTools = new SpaceTools(
    this,
    () => this.#tools.list(),
    (error) => this.reportError(error, undefined),
    () => void this.emit('tools'),
  )
  readonly #tools: Tools
  readonly #http: HttpClient
  readonly #log: ConversationLog
  readonly #arrivals: Arrivals
  readonly #elicitations = new AskedElicitations(
    this,
    this.requests,
    () => this.#arrivals.isAnswered,
    (error, request) => this.#onRequestError(error, request),
  )
  readonly #deltas = new Deltas(this)
  readonly #workload = new Workload(this)
  readonly #control = new Control(this, this.#workload, {
    reconnect: () => this.reconnect(),
    leave: () => this.leave(),
    onError: (error, request) => this.#onRequestError(error, request),
  })

  private constructor(dial: Dial, request: DialRequest, safety: OutboundSafety | undefined) {
    super(dial, request, safety)
    this.#request = request
    this.#http = new HttpClient(request, { timeoutMs: readTimeoutMs })
    this.#log = new ConversationLog(this, {
      http: this.#http,
      questions: this.questions,
      onError: (error) => this.reportError(error, undefined),
    })
    const holds = request.unhandled !== 'decline'
    this.#arrivals = new Arrivals(this, holds, {
      isAsked: (chat) => this.isAsked(chat),
      offersTools: () => this.#tools.isOffering,
      declineRequests: () => this.#tools.handleHeld(),
      onUnhandled: (unhandled) => this.#onUnhandled(unhandled),
      onError: (error, envelope) => this.reportError(error, envelope),
    })
    this.#tools = new Tools(this, this.requests, this.#spaceTools, {
      holds,
      onWaiting: () => this.#arrivals.onWaiting(),
      onError: (error, request) => this.#onRequestError(error, request),
    })
    this.on('capabilities', () => void this.emit('tools'))
    this.handlers.push(
      this.#workload,
      this.#control,
      this.#spaceTools,
      this.#elicitations,
      this.#tools,
      this.#log,
      this.#arrivals,
    )
  }

  /** Opens a client. Rejects with `ProtocolError` if the gateway refuses, with `ConnectionError` if it is unreachable. */
  static override async open(dial: Dial, request: DialRequest): Promise<SpaceClient> {
    const { safety } = request
    const client = new SpaceClient(
      dial,
      request,
      safety === false ? undefined : await OutboundSafety.open(safety),
    )
    await client.connect()
    return client
  }

  /** Offers a tool to the space. Calls are answered in every context, independently of this connection's subscription. */
  tool<Schema extends InputSchema>(
    name: string,
    definition: ToolDefinition<Schema>,
    handler: ToolHandler<Schema>,
  ): this
  tool(tool: OwnTool): this
  tool<Schema extends InputSchema>(
    ...parts:
      | [tool: OwnTool]
      | [name: string, definition: ToolDefinition<Schema>, handler: ToolHandler<Schema>]
  ): this {
    this.#tools.add(parts.length === 1 ? parts[0] : tool(...parts))
    return this
  }

  /**
   * The tools that this participant may call or propose. `choices`: patterns of `participant/tool`, such as `['files/read_*',
   * '!files/read_secret', 'me/*']`; default: all tools of participants of kind `mcp`. The event `tools` announces possible
   * changes. Within a run, use `tools` of the run instead, so that the calls belong to it.
   */
  tools(choices?: readonly string[]): Promise<readonly CallableTool[]> {
    return this.#spaceTools.callable(choices, (tool, args, options) => this.call(tool, args, options))
  }

  /** Calls a tool, named as `participant/tool`, and returns its result. The error of an unknown tool names the nearest one. */
  override async call(tool: string, args: object = {}, options: CallOptions = {}): Promise<ToolResult> {
    try {
      return await super.call(tool, args, options)
    } catch (error) {
      throw await this.#spaceTools.explainUnknown(tool, error)
    }
  }

  /** Handles MCP requests to this participant that do not call one of its tools. */
  serve(handler: Fallback): this {
    this.#tools.serve(handler)
    return this
  }

  /** Opens a reasoning run without a trigger. With a function, the run ends automatically, like `Turn.reason`. */
  reason(message?: string, options?: ReasonOptions): Promise<Reasoning>
  reason<Value>(message: string | undefined, think: Think<Value>, options?: ReasonOptions): Promise<Value>
  reason(message?: string, first?: ReasonOptions | Think<unknown>, second?: ReasonOptions): Promise<unknown> {
    return thinkIn(first, second, (options) =>
      ReasoningContext.open(this, { tools: this.#spaceTools }, message, options),
    )
  }

  /**
   * Answers questions: calls `handler` with a turn for each. If a turn fails or is aborted, its asker gets the reason ("I could
   * not answer: …"), its runs are cancelled with the reason, and other turns continue; `onError` gets failures, but not aborts.
   * Resolves when the client is closed.
   */
  answer(
    handler: (turn: Turn) => Promise<unknown>,
    options: TurnOptions & { readonly concurrency?: number } = {},
  ): Promise<void> {
    return this.#answer(handler, options)
  }

  /**
   * Iterates over the turns of this participant, one after another. Ends when the client is closed. An exception in the loop
   * ends it, and the asker is notified that there is no answer.
   */
  turns(options: TurnOptions = {}): AsyncIterableIterator<Turn> {
    return this.#turns(options).sequence()
  }

  /**
   * Answers turns with a language model: its reasoning becomes thoughts, it may call tools of other participants, and its text
   * is the answer. Prompts, reasoning and answers are stored locally in `.meup/transcripts/<participant>.db`: see
   * `AgentOptions.transcript`. Resolves when the client is closed; rejects in browsers and without the package `ai`.
   */
  async agent(options: AgentOptions): Promise<void> {
    const own = (options.tools ?? []).filter(isOwnTool)
    for (const each of own) this.#tools.add(each)
    await runModelAgent(this, this.#openModels(options, own), options, {
      answer: (handler, how) => this.#answer(handler, how),
      log: this.#log,
      http: this.#http,
      listOwn: () => this.#tools.list(),
      setDefaultHooks: (hooks) => this.#control.setDefaults(hooks),
    })
  }

  /**
   * Handles control requests with hooks: status, forget, compact, clear, restart, shutdown. `turns` and `answer` handle them
   * without hooks.
   */
  control(hooks: ControlHooks): this {
    this.#control.enable(hooks)
    return this
  }

  /**
   * Reads the steps that led to an envelope, across agents; the step of rank 1 explains most. `ref`: the envelope's id or seq.
   * Rejects with `ProtocolError` `not_found` if this participant may not read the envelope.
   */
  why(ref: string | number, query: WhyQuery = {}): Promise<WhyAnswer> {
    return new HttpClient(this.#request).why(ref, query)
  }

  /** Waits at most `withinMs` until running tool calls are answered, then closes the client. */
  async leave(withinMs = 2000): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, withinMs)
    })
    await Promise.race([this.#tools.settled(), late])
    clearTimeout(timer)
    this.close()
  }

  #answer(
    handler: (turn: ClientTurn) => Promise<unknown>,
    {
      concurrency = Number.POSITIVE_INFINITY,
      ...options
    }: OpenTurnOptions & { readonly concurrency?: number },
  ): Promise<void> {
    return this.#turns(options).each(handler, concurrency)
  }

  async #openModels(options: AgentOptions, own: readonly OwnTool[]): Promise<ModelAgent> {
    const onError = (error: unknown): void => resolveOptions(options, this).onError(error, undefined)
    const { openModels } = await import('#models')
    await Promise.all(own.map(({ input }) => input.jsonSchema))
    return openModels(options, { id: this.id, request: this.#request, onError })
  }

  #turns(options: OpenTurnOptions): Turns {
    this.#control.enable()
    this.#tools.answerListings()
    const parts = {
      deltas: this.#deltas,
      tools: this.#spaceTools,
      arrivals: this.#arrivals,
      log: this.#log,
    }
    return new Turns(this, options, this.#workload, parts)
  }

  #onUnhandled(unhandled: Unhandled): void {
    if (!this.emit('unhandled', unhandled)) console.warn(formatUnhandled(this.id, unhandled))
  }

  /** Reports an error, unless it follows from the closed connection, which the event `closed` reports. */
  #onRequestError(error: unknown, request: AnyEnvelope): void {
    if (!(error instanceof ConnectionError)) this.reportError(error, request)
  }
}
