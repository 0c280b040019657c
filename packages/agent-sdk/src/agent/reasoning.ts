import { cut } from '@meup/folds'
import {
  type AnyEnvelope,
  freshId,
  GATEWAY,
  getErrorMessage,
  joinContext,
  Kind,
  omitUndefined,
  type Phase,
  ProtocolError,
} from '@meup/protocol'
import type { BaseClient } from '../client/base-client.js'
import { abortedError, ConnectionError } from '../client/errors.js'
import { onAbort } from '../client/on-abort.js'
import { retryAfterPause } from '../client/retry.js'
import type { ToolResult } from '../client/tool-result.js'
import type { CallOptions, Draft } from '../client/types.js'
import type { CallableTool, SpaceTools } from './space-tools.js'

const leftOpen = 'left without a conclusion'
/** Maximum characters of the reason with which an unfinished run is cancelled. */
const maxReasonChars = 500

export interface ReasonOptions {
  /** Ids of earlier envelopes, or names of data, that the thought is based on. */
  readonly references?: readonly string[]
  /** `model`, `approach`, `confidence`, or any other fields. */
  readonly metadata?: object
}

export interface ThoughtOptions extends ReasonOptions {
  readonly phase?: Phase
  /** Id of the thought that this one answers. */
  readonly correlationId?: string
}

export interface ToolCall {
  /** Named as `participant/tool`. */
  readonly tool: string
  readonly args?: object
  /** The public reason for the call. */
  readonly why: string
}

/** The thought that reports changed tool definitions. */
export const changedText = (tools: readonly string[]): string =>
  `The definition of a tool has changed since I was offered it: ${tools.join(', ')}`

/** The trigger and audience of a run. */
interface Origin {
  /** Id of the envelope that the run is about; absent = autonomous work. */
  readonly trigger?: string
  /** Audience of the run, which is that of the question; absent = everyone. */
  readonly to?: readonly string[]
  readonly groups?: ParallelGroups
  readonly signal?: AbortSignal
  /** Called instead of cancelling a run that is disposed without a conclusion: the turn cancels it, and knows the reason. */
  readonly onLeft?: (run: ReasoningContext) => void
  readonly tools: SpaceTools
}

type ToolCallOptions = Omit<CallOptions, 'context' | 'parallelGroup'> & { readonly why: string }

/**
 * An open context: its audience sees its thoughts and tool calls [MEUP-2.2]. Conclude it; a context that is disposed without a
 * conclusion is cancelled with a reason. Sending waits while its participant is paused.
 */
export interface Reasoning extends AsyncDisposable {
  /** Path of this context. */
  readonly context: string
  /** Aborted when a participant cancels this run or its turn. Calls of the run are aborted too. */
  readonly signal: AbortSignal
  /** Whether this context was concluded or cancelled. */
  readonly isClosed: boolean
  thought(message: string, options?: ThoughtOptions): Promise<AnyEnvelope>
  /**
   * Opens a nested context; this one stays open. With a function, the nested context ends with the returned text or the thrown
   * error, like `Turn.reason`.
   */
  reason(message?: string, options?: ReasonOptions): Promise<Reasoning>
  reason<Value>(message: string | undefined, think: Think<Value>, options?: ReasonOptions): Promise<Value>
  /** Hides the thoughts of the whole run, including earlier ones, from all participants except their senders, until `show`. */
  hide(): Promise<AnyEnvelope>
  /** Shows the hidden thoughts to their audience again. The end of the run also does that. */
  show(): Promise<AnyEnvelope>
  /** Calls a tool within this context. Throws `ToolError` if the tool fails. */
  call(tool: string, args: object, options: ToolCallOptions): Promise<ToolResult>
  /**
   * The tools that this participant may call or propose within this context. `choices`: patterns of `participant/tool`, such as
   * `files/read_*`; default: all tools of participants of kind `mcp`. If the definition of an offered tool has changed, a
   * thought reports that.
   */
  tools(choices?: readonly string[]): Promise<readonly CallableTool[]>
  /** Calls several tools at once; results are in the order of the calls. */
  parallel<const Calls extends readonly ToolCall[]>(
    calls: Calls,
  ): Promise<{ [Index in keyof Calls]: ToolResult }>
  /** Closes this context with a result. */
  conclude(message?: string, options?: Pick<ReasonOptions, 'metadata'>): Promise<AnyEnvelope>
  /** Cancels this context, even after an interruption. Without the capability for that, concludes it with the reason. */
  cancel(reason: string): Promise<AnyEnvelope>
  /** Cancels this context unless it was concluded. If the connection is lost before that, the gateway cancels it. */
  [Symbol.asyncDispose](): Promise<void>
}

export class ReasoningContext implements Reasoning {
  readonly context: string
  readonly #space: BaseClient
  readonly #groups: ParallelGroups
  readonly #onLeft: Origin['onLeft']
  readonly #tools: SpaceTools
  readonly #audience: Pick<Draft, 'to'>
  readonly #abort = new AbortController()
  readonly #removeListeners: () => void
  #isClosed = false
  #lastFailure: string | undefined

  private constructor(
    space: BaseClient,
    context: string,
    { groups = new ParallelGroups(), signal: parent, onLeft, tools, to }: Origin,
  ) {
    this.#audience = to === undefined ? {} : { to }
    this.#space = space
    this.context = context
    this.#groups = groups
    this.#onLeft = onLeft
    this.#tools = tools
    const follow = (): void => this.#abort.abort(parent?.reason)
    const receive = (envelope: AnyEnvelope): void => this.#onCancel(envelope)
    if (parent?.aborted) follow()
    const endFollowing = onAbort(parent, follow)
    space.on('envelope', receive)
    this.#removeListeners = () => {
      endFollowing()
      space.off('envelope', receive)
    }
  }

  /** Opens a run. Resolves when its start is in the log. */
  static open(
    space: BaseClient,
    origin: Origin,
    message?: string,
    options: ReasonOptions = {},
  ): Promise<ReasoningContext> {
    const { trigger } = origin
    const id = freshId()
    const fields = trigger === undefined ? { id } : { id, correlationId: trigger }
    return new ReasoningContext(space, id, origin).#start(fields, message, options)
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  thought(message: string, options: ThoughtOptions = {}): Promise<AnyEnvelope> {
    const { correlationId, ...rest } = options
    const correlation = correlationId === undefined ? {} : { correlationId }
    return this.#send(Kind.reasoningThought, { message, ...rest }, correlation)
  }

  reason(message?: string, options?: ReasonOptions): Promise<Reasoning>
  reason<Value>(message: string | undefined, think: Think<Value>, options?: ReasonOptions): Promise<Value>
  reason(message?: string, first?: ReasonOptions | Think<unknown>, second?: ReasonOptions): Promise<unknown> {
    return thinkIn(first, second, (options = {}) => {
      const id = freshId()
      const origin = {
        ...this.#audience,
        groups: this.#groups,
        signal: this.signal,
        tools: this.#tools,
        ...(this.#onLeft && { onLeft: this.#onLeft }),
      }
      const nested = new ReasoningContext(this.#space, joinContext(this.context, id), origin)
      return nested.#start({ id, context: this.context }, message, options)
    })
  }

  hide(): Promise<AnyEnvelope> {
    return this.#setVisibility(false)
  }

  show(): Promise<AnyEnvelope> {
    return this.#setVisibility(true)
  }

  call(tool: string, args: object, options: ToolCallOptions): Promise<ToolResult> {
    return this.#call(tool, args, options)
  }

  async tools(choices?: readonly string[]): Promise<readonly CallableTool[]> {
    const tools = await this.#tools.callable(choices, (tool, args, options) =>
      this.#call(tool, args, options),
    )
    const changed = this.#tools.noteOffered(tools)
    if (changed.length > 0) await this.thought(changedText(changed)).catch(this.#tools.onError)
    return tools
  }

  parallel<const Calls extends readonly ToolCall[]>(
    calls: Calls,
  ): Promise<{ [Index in keyof Calls]: ToolResult }> {
    const group = calls.length > 1 ? { parallelGroup: this.#groups.next() } : {}
    const results = calls.map(({ tool, args = {}, why }) => this.#call(tool, args, { why, ...group }))
    return Promise.all(results) as Promise<{ [Index in keyof Calls]: ToolResult }>
  }

  conclude(message?: string, options: Pick<ReasonOptions, 'metadata'> = {}): Promise<AnyEnvelope> {
    return this.#close(Kind.reasoningConclusion, { ...omitUndefined({ message }), ...options })
  }

  cancel(reason: string): Promise<AnyEnvelope> {
    return this.#end(() =>
      endContext(
        { sendPaced: (draft) => this.#space.sendWhenAllowed({ ...draft, ...this.#audience }) },
        this.context,
        reason,
      ),
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return
    if (this.#onLeft) this.#onLeft(this)
    else await this.leave()
  }

  /** Cancels the context unless it has ended. `why`: the error that ended the work, if known. */
  async leave(why?: string): Promise<void> {
    if (this.#isClosed) return
    const cause = this.signal.aborted ? String(this.signal.reason) : this.#lastFailure
    const reason = why ?? (cause === undefined ? leftOpen : `${leftOpen}: ${cause}`)
    try {
      await this.cancel(cut(reason, maxReasonChars))
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
    }
  }

  async #call(tool: string, args: object, options: CallOptions = {}): Promise<ToolResult> {
    const signal = options.signal === undefined ? this.signal : AbortSignal.any([options.signal, this.signal])
    try {
      const call = { ...options, signal, context: this.context }
      return await retryAfterPause(this.#space, () => this.#space.call(tool, args, call), signal)
    } catch (error) {
      this.#lastFailure = `${tool}: ${getErrorMessage(error)}`
      throw error
    }
  }

  /** Sends the start of the context. The listener was registered before, because an interruption may follow immediately. */
  async #start(
    fields: Omit<Draft, 'kind'>,
    message: string | undefined,
    options: ReasonOptions,
  ): Promise<this> {
    const payload = { ...omitUndefined({ message }), ...options }
    try {
      if (this.signal.aborted) throw abortedError(this.signal)
      const start = { ...fields, ...this.#audience, kind: Kind.reasoningStart, payload }
      await this.#space.sendWhenAllowed(start, this.signal)
    } catch (error) {
      this.#removeListeners()
      throw error
    }
    return this
  }

  #close(kind: string, payload: object): Promise<AnyEnvelope> {
    return this.#end(() => this.#send(kind, payload))
  }

  /** Closes the context. If that is refused, it stays open and can be closed again. */
  async #end(close: () => Promise<AnyEnvelope>): Promise<AnyEnvelope> {
    this.#isClosed = true
    try {
      const echo = await close()
      this.#removeListeners()
      return echo
    } catch (error) {
      this.#isClosed = false
      this.#lastFailure = getErrorMessage(error)
      throw error
    }
  }

  #setVisibility(visible: boolean): Promise<AnyEnvelope> {
    return retryAfterPause(this.#space, () => this.#space.setVisibility(this.context, visible), this.signal)
  }

  #send(kind: string, payload: object, fields: object = {}): Promise<AnyEnvelope> {
    const draft = { ...fields, ...this.#audience, kind, context: this.context, payload }
    if (this.signal.aborted) return Promise.reject(abortedError(this.signal))
    return this.#space.sendWhenAllowed(draft, this.signal)
  }

  /**
   * Handles a cancellation. One by another participant is a request to stop; one by the gateway or this participant has already
   * closed the run.
   */
  #onCancel(envelope: AnyEnvelope): void {
    if (envelope.kind !== Kind.reasoningCancel || envelope.context !== this.context) return
    const { from, payload } = envelope
    if (from !== this.#space.id && from !== GATEWAY) {
      this.#abort.abort(`interrupted by ${from}${payload.reason ? `: ${payload.reason}` : ''}`)
    } else if (!this.#isClosed) {
      this.#isClosed = true
      this.#removeListeners()
      this.#abort.abort(payload.reason ?? 'cancelled')
    }
  }
}

/** A function that works in a run opened for it. */
export type Think<Value> = (run: Reasoning) => Promise<Value> | Value

/** Opens a run. With a function, the run ends with the returned text or the thrown error. */
export async function thinkIn(
  first: ReasonOptions | Think<unknown> | undefined,
  second: ReasonOptions | undefined,
  open: (options?: ReasonOptions) => Promise<ReasoningContext>,
): Promise<unknown> {
  if (typeof first !== 'function') return open(first)
  const run = await open(second)
  try {
    const value = await first(run)
    if (!run.isClosed) await run.conclude(typeof value === 'string' ? value : undefined)
    return value
  } catch (error) {
    // A failure to cancel must not replace the original error.
    await run.leave(run.signal.aborted ? undefined : getErrorMessage(error)).catch(() => {})
    throw error
  }
}

/** Numbers the groups of calls that a turn makes in parallel: 0, 1, 2, … across its contexts [MEUP-1.1]. */
export class ParallelGroups {
  #next = 0

  next(): number {
    return this.#next++
  }
}

/** Cancels a context with a reason. A participant that lacks the capability concludes it instead, marked as cancelled. */
export async function endContext(
  client: Pick<BaseClient, 'sendPaced'>,
  context: string,
  reason: string,
): Promise<AnyEnvelope> {
  try {
    return await client.sendPaced({ kind: Kind.reasoningCancel, context, payload: { reason } })
  } catch (error) {
    if (!(error instanceof ProtocolError) || error.code !== 'capability_violation') throw error
    const payload = { message: reason, metadata: { cancelled: true } }
    return client.sendPaced({ kind: Kind.reasoningConclusion, context, payload })
  }
}
