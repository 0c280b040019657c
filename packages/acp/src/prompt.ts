import { createHash } from 'node:crypto'
import type { RequestPermissionResponse } from '@agentclientprotocol/sdk'
import type { Reasoning } from '@meup/agent-sdk'
import type { LiveText } from '@meup/agent-sdk/internal'
import { cut } from '@meup/folds'
import type { McpResponsePayload } from '@meup/protocol'
import { stringifyExact } from '@meup/protocol'
import { AgentCall } from './agent-call.js'
import type { AgentUpdate, CallFields, CallStatus, Option, PermissionRequest } from './agent-updates.js'
import { type KnownAgent, nameTool } from './agents.js'
import { AnswerText } from './answer-text.js'
import {
  type Approvals,
  type Decision,
  failed,
  getMessage,
  isDenied,
  type OwnCall,
  withChoice,
} from './approvals.js'
import { type Block, toMarkdown } from './content-blocks.js'
import { LateText } from './late-text.js'
import { cancelled, findRejection, select, toChoices } from './permission-options.js'
import { RunLog } from './run-log.js'
import { Settling } from './settling.js'
import { readToolUse, type SpaceToolArrivals } from './space-tools.js'

/** Characters of a reason that is taken from what was said, and of what is said of a call that was not allowed. */
const [maxReasonChars, maxToldChars] = [300, 2000]
/** Reasons that the agent reads in its next prompt: the last ones. */
const maxRejections = 20
/** Milliseconds in which an agent that has begun a call may still ask whether it may; some ask late. */
const [askMs, askLateMs] = [1000, 5000]
/** Calls that are not over, those that are remembered, and characters that are kept of all. */
const [maxOpenCalls, maxCalls, maxCallChars] = [256, 1000, 16 * 1024 * 1024]

/** Has the asker choose one of the options. `failure`: why they did not; `undefined`: they cannot be asked. */
export type Choose = (
  question: string,
  options: readonly Option[],
  signal: AbortSignal,
) => Promise<Option | { readonly failure: string } | undefined>

export interface PromptParts {
  readonly run: Reasoning
  /** The answer as it is written. */
  readonly live: LiveText
  readonly approvals: Approvals
  readonly arrivals: SpaceToolArrivals
  readonly agent: KnownAgent | undefined
  /** Bytes of an answer, as JSON. */
  readonly maxAnswerBytes: number
  readonly maxResultBytes: number
  readonly choose: Choose
  /** Sends what it wrote behind its answer, as a further message of its turn. */
  readonly sendLate: (text: string) => Promise<unknown>
  /** It ran a tool that it may not, and did not ask. Never rejects. */
  readonly onUnasked: (call: AgentCall) => void
  /** It said more than is taken: it is to be stopped. Called once. */
  readonly onExcess: (what: string) => void
  /** A line for the operator. */
  readonly log: (line: string) => void
}

/** `option`: the one that was chosen, of several ways to allow it. */
type Answer = Decision & { readonly option?: string }

/** A call, and how far the space has come with it. */
interface Tracked {
  readonly call: AgentCall
  /** `space`: it came through the space, and is logged there. `refused`: it was to be left undone. */
  state: 'seen' | 'deciding' | 'logged' | 'refused' | 'space'
  /** What was asked for last, and what came of it. */
  asked?: { readonly digest: string; readonly answer: Promise<Answer> }
  /** Ends the wait for a decision. */
  readonly over: AbortController
  readonly result: Promise<McpResponsePayload>
  readonly resolve: (result: McpResponsePayload) => void
  timer?: NodeJS.Timeout
}

/** One prompt of an agent, from the question to the answer: its thoughts, its calls, its text. */
export class Prompt {
  readonly #parts: PromptParts
  readonly #calls = new Map<string, Tracked>()
  readonly #log: RunLog
  readonly #text: AnswerText
  /** What it wrote before the calls that are being made. */
  #said = ''
  /** Characters that are kept of calls. */
  #callChars = 0
  readonly #settling: Settling
  readonly #late: LateText
  /** Id of the last thought. */
  #thoughtId: string | undefined
  #hasThought = false
  #rejections: readonly string[] = []
  #excess: string | undefined
  #nested: Promise<Prompt> | undefined
  #part: Prompt | undefined
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

  /** Why calls were rejected, for the next prompt. */
  get rejections(): readonly string[] {
    return this.#rejections
  }

  /** Why it was stopped, if it said more than is taken. */
  get excess(): string | undefined {
    return this.#excess
  }

  /** Whether a tool still runs, as far as the agent says. */
  get hasRunning(): boolean {
    const isRunning = ({ state, call }: Tracked): boolean => state === 'logged' && !call.isOver
    return this.#part?.hasRunning === true || [...this.#calls.values()].some(isRunning)
  }

  /** Whether it has said or done anything. */
  get hasOutput(): boolean {
    return this.#hasThought || !this.#text.isEmpty || this.#calls.size > 0
  }

  /** Whether a call goes on that was not refused. */
  get #hasOpenCalls(): boolean {
    const isOpen = ({ state, call }: Tracked): boolean =>
      !call.isOver && (state === 'logged' || (state === 'seen' && call.hasBegun))
    return [...this.#calls.values()].some(isOpen)
  }

  /** Takes what the agent says, also what comes after its answer. `isNested`: another session says it, such as a sub-agent's. */
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

  /** Answers whether a tool may run: as the space decides, whatever the call says of itself. */
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
    if (answer.state === 'allowed') return select(answer.option ?? first.id)
    const reject = answer.state === 'rejected' ? findRejection(options, answer.message) : undefined
    return reject === undefined ? cancelled : select(reject.id)
  }

  /** A part in a run of its own: for a sub-agent of which it is not known which prompt it works for. Ends with this prompt. */
  nest(message: string): Promise<Prompt> {
    this.#nested ??= this.#parts.run.reason(message).then((run) => {
      const nested = new Prompt({ ...this.#parts, run })
      if (this.#isCancelled || this.#isOver) nested.cancel()
      this.#part = nested
      return nested
    })
    return this.#nested
  }

  /** Something of this run that everybody is to know. */
  report(text: string): void {
    this.#log.report(text)
  }

  /** Nothing is decided any more. */
  cancel(): void {
    this.#isCancelled = true
    for (const { over } of this.#calls.values()) over.abort()
    this.#settling.onUpdate()
    this.#part?.cancel()
  }

  /** The agent says that it is done. Resolves once it is quiet. */
  settle(): Promise<void> {
    return this.#settling.wait()
  }

  /** The agent goes on with the next prompt, or ends: what it has said of this one is all. */
  flushLate(): void {
    this.#late.flush()
  }

  /** The prompt has ended. Returns the text of its answer, which may be none. `ending`: why calls have no result. */
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

  /** A thought with another id is another paragraph. */
  #think(text: string, messageId: string | undefined): void {
    if (this.#excess !== undefined) return
    const isNext = this.#hasThought && messageId !== undefined && messageId !== this.#thoughtId
    this.#thoughtId = messageId ?? this.#thoughtId
    this.#hasThought = true
    this.#log.push(isNext ? `\n\n${text}` : text)
  }

  /** `false`: it is no part of an answer. */
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

  #onCall(fields: CallFields): void {
    const tracked = this.#track(fields)
    if (tracked === undefined) return
    const { call } = tracked
    if (tracked.state === 'deciding' && call.isOver) tracked.over.abort()
    if (tracked.state === 'logged' && call.isOver) {
      // It may have asked, and then have called a tool of the space: that call shows no other one.
      this.#parts.arrivals.take(call)
      this.#end(tracked, this.#isCancelled ? 'after cancel' : undefined)
    }
    // Where a call was to be left undone, its end shows whether it was.
    const hasRun = tracked.state === 'refused' ? call.isCompleted && !this.#isCancelled : call.isOver
    const isUnlogged = tracked.state === 'seen' || tracked.state === 'refused'
    if (isUnlogged && hasRun) this.#onUnlogged(tracked)
    else if (tracked.state === 'seen' && call.hasBegun)
      tracked.timer ??= setTimeout(() => this.#onUnlogged(tracked), this.#getAskMs(call))
    if (![...this.#calls.values()].some(({ call }) => !call.isOver)) this.#said = ''
  }

  /** A call of a tool of the space may take a while to come. */
  #getAskMs(call: AgentCall): number {
    return this.#parts.agent?.asksLate || readToolUse(call) !== undefined ? askLateMs : askMs
  }

  /** `undefined`: it has more calls than are taken. */
  #track(fields: CallFields, isAsked = false): Tracked | undefined {
    const { id, status } = fields
    const known = this.#calls.get(id)
    // An agent may use an id again once its call is over.
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

  #begin(fields: CallFields): Tracked | undefined {
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
    // A permission of a prompt that has ended is not decided.
    if (this.#isCancelled || this.#isOver) tracked.over.abort()
    this.#calls.set(fields.id, tracked)
    return tracked
  }

  #forgetOldest(): void {
    if (this.#calls.size < maxCalls) return
    const [oldest] = [...this.#calls].find(([, { call }]) => call.isOver) ?? []
    if (oldest !== undefined) this.#calls.delete(oldest)
  }

  /** The call has its result, and nothing more is kept of it. */
  #end({ call, resolve }: Tracked, ending: string | undefined): void {
    resolve(call.getResult(ending, this.#parts.maxResultBytes))
    this.#callChars -= call.chars
    call.release()
    this.#callChars += call.chars
  }

  /** The same question has the same answer. */
  #decide(tracked: Tracked, once: readonly Option[]): Promise<Answer> {
    const { call, asked } = tracked
    const digest = createHash('sha256')
      .update(stringifyExact([call.arguments, once]))
      .digest('hex')
    if (asked?.digest === digest) return asked.answer
    const answer = this.#askSpace(tracked, once).catch((error: unknown): Answer => {
      tracked.state = 'refused'
      if (!this.#parts.run.signal.aborted)
        this.#log.report(`${call.name} could not be decided: ${getMessage(error)}`)
      return { state: 'cancelled' }
    })
    tracked.asked = { digest, answer }
    return answer
  }

  /** `once`: ways to allow it. Several are a choice that nobody has made yet. */
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
      this.#rejections = [...this.#rejections, `${call.name} was ${decision.reason}`].slice(-maxRejections)
      if (!decision.reason.startsWith('rejected by')) this.#log.report(`${call.name}: ${decision.reason}`)
    }
    return decision
  }

  /** The chosen option is part of the decision: the participant that chooses may lack the right to allow the call. */
  async #chooseAndDecide(
    own: OwnCall,
    title: string,
    options: readonly Option[],
    signal: AbortSignal,
  ): Promise<Answer> {
    const chosen = await this.#parts.choose(cut(`${own.name}: ${title}`, maxToldChars), options, signal)
    if (signal.aborted) return { state: 'cancelled' }
    if (chosen === undefined) return this.#parts.approvals.choose(own, options, signal)
    if ('failure' in chosen) {
      const names = cut(options.map(({ name }) => name).join(', '), maxToldChars)
      return { state: 'rejected', reason: `a choice between ${names}, which nobody made: ${chosen.failure}` }
    }
    const call = { ...own, arguments: withChoice(own.arguments, chosen.name) }
    return { ...(await this.#parts.approvals.decide(call, signal)), option: chosen.id }
  }

  #onUnlogged(tracked: Tracked): void {
    this.#logUnasked(tracked).catch((error: unknown) => this.#log.onError(error))
  }

  /** What was run without a question is logged as it stands. */
  async #logUnasked(tracked: Tracked): Promise<void> {
    const { call } = tracked
    clearTimeout(tracked.timer)
    if (this.#parts.arrivals.take(call)) {
      tracked.state = 'space'
      return
    }
    tracked.state = 'logged'
    const own = this.#createOwn(tracked)
    const { content } = call.getResult().result as { content: readonly Block[] }
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
      this.#log.report(`ran without asking, and without the capability for it: ${what}\n${came}`.trim())
      this.#parts.onUnasked(call)
    }
  }

  #createOwn({ call, result }: Tracked): OwnCall {
    const rationale = cut(this.#said, maxReasonChars)
    return {
      ...{ name: call.name, arguments: call.arguments, meta: call.meta, result },
      context: this.#parts.run.context,
      ...(rationale !== '' && { rationale }),
    }
  }
}

const isFinal = (status: CallStatus): boolean => status === 'completed' || status === 'failed'
