import { createHash } from 'node:crypto'
import type { RequestPermissionResponse } from '@agentclientprotocol/sdk'
import type { Reasoning } from '@meup/agent-sdk'
import type { LiveText } from '@meup/agent-sdk/internal'
import { cut } from '@meup/folds'
import type { McpResponsePayload } from '@meup/protocol'
import { getErrorMessage, stringifyExact } from '@meup/protocol'
import { AgentCall } from './agent-call.js'
import type { AgentCallFields, AgentUpdate, CallStatus, Option, PermissionRequest } from './agent-updates.js'
import { type KnownAgent, nameTool } from './agents.js'
import { AnswerText } from './answer-text.js'
import {
  type Approvals,
  failed,
  isDenied,
  type PermissionDecision,
  type ReportedCall,
  withChoice,
} from './approvals.js'
import { type AcpBlock, toMarkdown } from './content-blocks.js'
import { agentText } from './errors.js'
import { LateText } from './late-text.js'
import { cancelled, findRejection, selectOption, toChoices } from './permission-options.js'
import { RunLog } from './run-log.js'
import { Settling } from './settling.js'
import { readToolUse, type SpaceToolArrivals } from './space-tools.js'

/** Maximum characters of a rationale, which is the text before the call, and of texts of the agent in reports and questions. */
const [maxReasonChars, maxToldChars] = [300, 2000]
/** Maximum rejected calls that the agent's next prompt mentions. */
const maxRejections = 20
/**
 * Milliseconds for an agent to ask for permission after it reported a call as begun; the second value is for agents that ask
 * late.
 */
const [askMs, askLateMs] = [1000, 5000]
/** Limits of one prompt: open calls, remembered calls, and kept characters of all calls. */
const [maxOpenCalls, maxCalls, maxCallChars] = [256, 1000, 16 * 1024 * 1024]

/**
 * Asks for a choice between the options. `failure`: the reason why no option was chosen. Resolves with `undefined` if the asker
 * cannot be asked.
 */
export type Choose = (
  question: string,
  options: readonly Option[],
  signal: AbortSignal,
) => Promise<Option | { readonly failure: string } | undefined>

export interface PromptParts {
  readonly run: Reasoning
  /** Streams the answer as deltas. */
  readonly live: LiveText
  readonly approvals: Approvals
  readonly arrivals: SpaceToolArrivals
  readonly agent: KnownAgent | undefined
  /** Maximum bytes of an answer in JSON encoding. */
  readonly maxAnswerBytes: number
  readonly maxResultBytes: number
  readonly choose: Choose
  /** Sends text that arrives after the answer as a further message. */
  readonly sendLate: (text: string) => Promise<unknown>
  /** Called if the agent ran a tool without permission and without the capability. Must not throw. */
  readonly onUnasked: (call: AgentCall) => void
  /** Called once if the agent exceeded a limit and must be stopped. */
  readonly onExcess: (what: string) => void
  /** Writes a line to the log of the program that runs the agent. */
  readonly log: (line: string) => void
}

/** `option`: the chosen option, if several options allow the call. */
type Answer = PermissionDecision & { readonly option?: string }

/** A tool call and its state in the space. */
interface Tracked {
  readonly call: AgentCall
  /**
   * `seen`: reported by the agent, but not decided. `logged`: allowed, and logged in the space. `refused`: must not run.
   * `space`: a call of a tool of another participant, which the space logs itself.
   */
  state: 'seen' | 'deciding' | 'logged' | 'refused' | 'space'
  /** A digest of the last permission request, and its decision. */
  asked?: { readonly digest: string; readonly answer: Promise<Answer> }
  /** Aborts the wait for a decision. */
  readonly over: AbortController
  readonly result: Promise<McpResponsePayload>
  readonly resolve: (result: McpResponsePayload) => void
  timer?: NodeJS.Timeout
}

/** Handles one prompt of an agent, from the question to the answer: thoughts, tool calls and text. */
export class AgentPrompt {
  readonly #parts: PromptParts
  readonly #calls = new Map<string, Tracked>()
  readonly #log: RunLog
  readonly #text: AnswerText
  /** The agent's text before its pending calls, which is used as their rationale. */
  #said = ''
  /** Number of kept characters of all calls. */
  #callChars = 0
  readonly #settling: Settling
  readonly #late: LateText
  /** The `messageId` of the last thought. */
  #thoughtId: string | undefined
  #hasThought = false
  #rejections: readonly string[] = []
  #excess: string | undefined
  #nested: Promise<AgentPrompt> | undefined
  #part: AgentPrompt | undefined
  #isCancelled = false
  #isOver = false

  constructor(parts: PromptParts) {
    this.#parts = parts
    this.#text = new AnswerText(parts.maxAnswerBytes)
    const onExcess = (what: string): void => this.#exceed(what)
    this.#log = new RunLog({ run: parts.run, log: parts.log, onExcess })
    this.#late = new LateText({ maxBytes: parts.maxAnswerBytes, send: parts.sendLate, log: parts.log })
    this.#settling = new Settling(() => ({
      isEmpty: this.#text.isEmpty,
      hasOpenCalls: this.#hasOpenCalls,
      isCancelled: this.#isCancelled,
    }))
  }

  /** Reasons of rejected calls, which the next prompt mentions. */
  get rejections(): readonly string[] {
    return this.#rejections
  }

  /** The exceeded limit that stopped the prompt. */
  get excess(): string | undefined {
    return this.#excess
  }

  /** Whether an allowed tool call has not ended. */
  get hasRunning(): boolean {
    const isRunning = ({ state, call }: Tracked): boolean => state === 'logged' && !call.isOver
    return this.#part?.hasRunning === true || [...this.#calls.values()].some(isRunning)
  }

  /** Whether the agent sent any thought, text or call. */
  get hasOutput(): boolean {
    return this.#hasThought || !this.#text.isEmpty || this.#calls.size > 0
  }

  /** Whether any call may be running; refused calls are not counted. */
  get #hasOpenCalls(): boolean {
    const isOpen = ({ state, call }: Tracked): boolean =>
      !call.isOver && (state === 'logged' || (state === 'seen' && call.hasBegun))
    return [...this.#calls.values()].some(isOpen)
  }

  /**
   * Handles an update of the agent, including updates after its answer. `isNested`: the update comes from the session of a
   * sub-agent.
   */
  onUpdate(update: AgentUpdate, isNested = false): void {
    this.#settling.onUpdate()
    switch (update.type) {
      case 'thought':
        this.#think(update.text, update.messageId)
        return
      case 'text':
        if (isNested || !this.#takesText(update.text, update.messageId))
          this.#think(update.text, update.messageId)
        return
      case 'plan':
        if (!isNested && this.#excess === undefined) this.#log.plan(update.entries)
        return
      case 'call':
        this.#onCall(update.fields)
        return
    }
  }

  /** Answers a permission request with the decision of the space. */
  async onPermission({ call: fields, options }: PermissionRequest): Promise<RequestPermissionResponse> {
    const tracked = this.#track(fields, true)
    if (tracked === undefined) return cancelled
    clearTimeout(tracked.timer)
    const once = toChoices(options)
    const [first] = once
    if (first === undefined) {
      const offered = cut(options.map(({ kind }) => kind).join(', '), maxReasonChars) || 'nothing'
      this.#log.report(`${tracked.call.name} cannot be allowed once: the agent offers ${offered}`)
      tracked.state = 'refused'
      return cancelled
    }
    const answer = await this.#decide(tracked, once)
    if (answer.state === 'allowed') return selectOption(answer.option ?? first.id)
    const reject = answer.state === 'rejected' ? findRejection(options, answer.message) : undefined
    return reject === undefined ? cancelled : selectOption(reject.id)
  }

  /** Creates a prompt with its own run, for a sub-agent whose parent prompt is unknown. It ends when this prompt ends. */
  nest(message: string): Promise<AgentPrompt> {
    this.#nested ??= this.#parts.run.reason(message).then((run) => {
      const nested = new AgentPrompt({ ...this.#parts, run })
      if (this.#isCancelled || this.#isOver) nested.cancel()
      this.#part = nested
      return nested
    })
    return this.#nested
  }

  /** Logs a problem as a thought in this run, and as a line in the log of the program that runs the agent. */
  report(text: string): void {
    this.#log.report(text)
  }

  /** Cancels open permission requests. */
  cancel(): void {
    this.#isCancelled = true
    for (const { over } of this.#calls.values()) over.abort()
    this.#settling.onUpdate()
    this.#part?.cancel()
  }

  /** Must be called when the agent has answered the prompt. Resolves when it sends no more updates. */
  settle(): Promise<void> {
    return this.#settling.wait()
  }

  /** Sends late text at once, because the next prompt begins, or the agent ends. */
  flushLate(): void {
    this.#late.flush()
  }

  /**
   * Ends the prompt, and returns the text of the answer, which may be empty. `ending`: the reason why open calls have no
   * result.
   */
  async finish(ending: string): Promise<string> {
    this.#isOver = true
    for (const tracked of this.#calls.values()) {
      clearTimeout(tracked.timer)
      tracked.over.abort()
      if (tracked.state === 'seen' && tracked.call.hasBegun) await this.#logUnasked(tracked)
      this.#end(tracked, ending)
    }
    await this.#endNested(ending)
    await this.#log.close()
    return this.#text.toString()
  }

  async #endNested(ending: string): Promise<void> {
    try {
      const nested = await this.#nested
      if (nested === undefined) return
      await nested.finish(ending)
      this.#rejections = [...this.#rejections, ...nested.rejections].slice(-maxRejections)
      await nested.#parts.run.conclude()
    } catch (error) {
      this.#log.onError(error)
    }
  }

  /** Logs a part of a thought. A new `messageId` starts a new paragraph. */
  #think(text: string, messageId: string | undefined): void {
    if (this.#excess !== undefined) return
    const isNext = this.#hasThought && messageId !== undefined && messageId !== this.#thoughtId
    this.#thoughtId = messageId ?? this.#thoughtId
    this.#hasThought = true
    this.#log.push(isNext ? `\n\n${text}` : text)
  }

  /** Adds text to the answer or the late text. Returns `false` if the text must become a thought. */
  #takesText(text: string, messageId: string | undefined): boolean {
    if (this.#excess !== undefined) return true
    if (this.#isOver) return !this.#isCancelled && this.#late.push(text, messageId)
    const taken = this.#text.add(text, messageId)
    this.#parts.live.push(taken)
    if (this.#text.isFull) this.#exceed(`it wrote more than ${this.#text.length} characters`)
    return true
  }

  #exceed(what: string): void {
    if (this.#excess !== undefined) return
    this.#excess = what
    this.#parts.onExcess(what)
  }

  #onCall(fields: AgentCallFields): void {
    const tracked = this.#track(fields)
    if (tracked === undefined) return
    const { call } = tracked
    if (tracked.state === 'deciding' && call.isOver) tracked.over.abort()
    if (tracked.state === 'logged' && call.isOver) {
      // If the call used a space tool, removes the record of its arrival at the tool server, so that no later call matches the
      // record.
      this.#parts.arrivals.take(call)
      this.#end(tracked, this.#isCancelled ? 'after cancel' : undefined)
    }
    // A refused call that completes has run without permission.
    const hasRun = tracked.state === 'refused' ? call.isCompleted && !this.#isCancelled : call.isOver
    const isUnlogged = tracked.state === 'seen' || tracked.state === 'refused'
    if (isUnlogged && hasRun) this.#onUnlogged(tracked)
    else if (tracked.state === 'seen' && call.hasBegun)
      tracked.timer ??= setTimeout(() => this.#onUnlogged(tracked), this.#getAskMs(call))
    if (![...this.#calls.values()].some(({ call }) => !call.isOver)) this.#said = ''
  }

  /**
   * Milliseconds until a begun call counts as run without a permission request. Longer for a call of a space tool, because it
   * may arrive at the tool server after the agent has reported it.
   */
  #getAskMs(call: AgentCall): number {
    return this.#parts.agent?.asksLate || readToolUse(call) !== undefined ? askLateMs : askMs
  }

  /** Finds or creates the state of a call. Returns `undefined` if there are too many calls. */
  #track(fields: AgentCallFields, isAsked = false): Tracked | undefined {
    const { id, status } = fields
    const known = this.#calls.get(id)
    // An agent may reuse the id of an ended call for a new call.
    const isNext = known?.call.isOver === true && (isAsked || (status !== undefined && !isFinal(status)))
    const tracked = known === undefined || isNext ? this.#begin(fields) : known
    if (tracked === undefined) return undefined
    const { call } = tracked
    this.#callChars -= call.chars
    call.update(fields)
    this.#callChars += call.chars
    if (this.#callChars > maxCallChars) this.#exceed(`it made calls of more than ${maxCallChars} characters`)
    return tracked
  }

  #begin(fields: AgentCallFields): Tracked | undefined {
    if (this.#excess !== undefined) return undefined
    const open = [...this.#calls.values()].filter(({ call }) => !call.isOver)
    if (open.length >= maxOpenCalls) {
      this.#exceed(`it had more than ${maxOpenCalls} calls open`)
      return undefined
    }
    this.#forgetOldest()
    if (!this.#text.isEmpty) {
      this.#said = this.#text.toString()
      this.#text.clear()
      this.#parts.live.restart()
      this.#log.say(this.#said)
    }
    let resolve = (_: McpResponsePayload): void => {}
    const result = new Promise<McpResponsePayload>((resolveResult) => {
      resolve = resolveResult
    })
    const tracked: Tracked = {
      call: new AgentCall(fields.id, nameTool(fields, this.#parts.agent)),
      state: 'seen',
      over: new AbortController(),
      result,
      resolve,
    }
    // The permission requests of a call that begins after the prompt has ended are cancelled at once.
    if (this.#isCancelled || this.#isOver) tracked.over.abort()
    this.#calls.set(fields.id, tracked)
    return tracked
  }

  #forgetOldest(): void {
    if (this.#calls.size < maxCalls) return
    const [oldest] = [...this.#calls].find(([, { call }]) => call.isOver) ?? []
    if (oldest !== undefined) this.#calls.delete(oldest)
  }

  /** Resolves the call's result, and drops its data. */
  #end({ call, resolve }: Tracked, ending: string | undefined): void {
    resolve(call.getResult(ending, this.#parts.maxResultBytes))
    this.#callChars -= call.chars
    call.release()
    this.#callChars += call.chars
  }

  /** Decides about a call; an identical repeated request gets the same decision. */
  #decide(tracked: Tracked, once: readonly Option[]): Promise<Answer> {
    const { call, asked } = tracked
    const digest = createHash('sha256')
      .update(stringifyExact([call.arguments, once]))
      .digest('hex')
    if (asked?.digest === digest) return asked.answer
    const answer = this.#askSpace(tracked, once).catch((error: unknown): Answer => {
      tracked.state = 'refused'
      if (!this.#parts.run.signal.aborted)
        this.#log.report(`${call.name} could not be decided: ${getErrorMessage(error)}`)
      return { state: 'cancelled' }
    })
    tracked.asked = { digest, answer }
    return answer
  }

  /** Asks the space for a decision. `once`: the options that allow the call; several options require a choice. */
  async #askSpace(tracked: Tracked, once: readonly Option[]): Promise<Answer> {
    tracked.state = 'deciding'
    const { call, over } = tracked
    const own = this.#createOwn(tracked)
    await this.#log.flush()
    const decision =
      once.length > 1
        ? await this.#chooseAndDecide(own, call.title, once, over.signal)
        : await this.#parts.approvals.decide(own, over.signal)
    tracked.state = decision.state === 'allowed' ? 'logged' : 'refused'
    if (decision.state === 'rejected') {
      const isDecided = decision.reason.startsWith('rejected by')
      const what = `${call.name} was ${isDecided ? '' : 'not allowed: '}${decision.reason}`
      this.#rejections = [...this.#rejections, what].slice(-maxRejections)
      if (!isDecided) this.#log.report(what)
    }
    return decision
  }

  /**
   * Asks for a choice, then for a decision about the call with the chosen option: the participant that chooses may lack the
   * right to allow the call.
   */
  async #chooseAndDecide(
    own: ReportedCall,
    title: string,
    options: readonly Option[],
    signal: AbortSignal,
  ): Promise<Answer> {
    const chosen = await this.#parts.choose(cut(`${own.name}: ${title}`, maxToldChars), options, signal)
    if (signal.aborted) return { state: 'cancelled' }
    if (chosen === undefined) return this.#parts.approvals.choose(own, options, signal)
    if ('failure' in chosen) {
      const names = cut(options.map(({ name }) => name).join(', '), maxToldChars)
      return { state: 'rejected', reason: agentText('no_choice', { names, reason: chosen.failure }) }
    }
    const call = { ...own, arguments: withChoice(own.arguments, chosen.name) }
    return { ...(await this.#parts.approvals.decide(call, signal)), option: chosen.id }
  }

  #onUnlogged(tracked: Tracked): void {
    this.#logUnasked(tracked).catch((error: unknown) => this.#log.onError(error))
  }

  /** Logs a call that ran without a permission request. */
  async #logUnasked(tracked: Tracked): Promise<void> {
    const { call } = tracked
    clearTimeout(tracked.timer)
    if (this.#parts.arrivals.take(call)) {
      tracked.state = 'space'
      return
    }
    tracked.state = 'logged'
    const own = this.#createOwn(tracked)
    const { content } = call.getResult().result as { content: readonly AcpBlock[] }
    const what = `${call.name} ${cut(stringifyExact(call.arguments), maxToldChars)}`
    const came = content.map((block) => cut(toMarkdown(block), maxToldChars)).join('\n')
    const isRun = !call.failedUnrun
    if (call.isOver) this.#end(tracked, undefined)
    if (!isRun) return this.#log.report(`failed before it ran: ${what}\n${came}`.trim())
    await this.#log.flush()
    try {
      await this.#parts.approvals.record(own)
    } catch (error) {
      if (!isDenied(error)) return this.#log.onError(error)
      tracked.resolve(failed('this call was not allowed'))
      this.#log.report(`ran without asking, and without a capability: ${what}\n${came}`.trim())
      this.#parts.onUnasked(call)
    }
  }

  #createOwn({ call, result }: Tracked): ReportedCall {
    const rationale = cut(this.#said, maxReasonChars)
    return {
      ...{ name: call.name, arguments: call.arguments, meta: call.meta, result },
      context: this.#parts.run.context,
      ...(rationale !== '' && { rationale }),
    }
  }
}

const isFinal = (status: CallStatus): boolean => status === 'completed' || status === 'failed'
