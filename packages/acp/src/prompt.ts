import type {
  PermissionOption,
  PermissionOptionKind,
  Plan,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk'
import { type LiveText, type Reasoning, ThoughtStream } from '@meup/agent-sdk'
import { cut } from '@meup/folds'
import type { McpResponsePayload } from '@meup/protocol'
import { AgentCall } from './agent-call.js'
import { type KnownAgent, nameTool } from './agents.js'
import { type Approvals, type Decision, failed, isDenied, type OwnCall } from './approvals.js'
import type { SpaceToolUses } from './space-tools.js'

/** Characters of a reason that is taken from what was said, and of what is said of a call that was not allowed. */
const [maxReasonChars, maxToldChars] = [300, 2000]
/** Milliseconds in which an agent that has begun a call may still ask whether it may; some ask late. */
const [askMs, askLateMs] = [1000, 5000]
/** Milliseconds in which what comes after the answer is gathered into one thought. */
const lateMs = 500

export interface PromptParts {
  readonly run: Reasoning
  /** The answer as it is written. */
  readonly live: LiveText
  readonly approvals: Approvals
  readonly spaceTools: SpaceToolUses
  readonly agent: KnownAgent | undefined
  /** It ran a tool that it may not, and did not ask. */
  readonly onUnasked: (call: AgentCall) => void
  /** A line for the operator. */
  readonly log: (line: string) => void
}

/** A call, and how far the space has come with it. */
interface Tracked {
  readonly call: AgentCall
  /** `space`: it is made through the space, and logged there. `refused`: it was to be left undone. */
  state: 'seen' | 'deciding' | 'logged' | 'refused' | 'space'
  /** What was asked for last, and what came of it. */
  asked?: { readonly arguments: string; readonly decision: Promise<Decision> }
  /** Ends the wait for a decision. */
  readonly over: AbortController
  readonly result: Promise<McpResponsePayload>
  readonly end: (result: McpResponsePayload) => void
  timer?: NodeJS.Timeout
}

/** One prompt of an agent, from the question to the answer: its thoughts, its calls, its text. */
export class Prompt {
  readonly #parts: PromptParts
  readonly #calls = new Map<string, Tracked>()
  readonly #thoughts: ThoughtStream
  /** Thoughts come in the order in which they were thought, and before the calls that follow them. */
  #ordered = Promise.resolve()
  #text = ''
  /** What it wrote before the calls that are being made. */
  #said = ''
  #plan = ''
  readonly #rejections: string[] = []
  #isCancelled = false
  #isOver = false
  #late: NodeJS.Timeout | undefined

  constructor(parts: PromptParts) {
    this.#parts = parts
    const after = (ms: number, task: () => void): (() => void) => {
      const timer = setTimeout(task, ms)
      return () => clearTimeout(timer)
    }
    this.#thoughts = new ThoughtStream(
      (text) => this.#think(text),
      after,
      (error) => this.#onError(error),
    )
  }

  /** Why calls were rejected, for the next prompt. */
  get rejections(): readonly string[] {
    return this.#rejections
  }

  /** Whether a tool still runs, as far as the agent says. */
  get hasRunning(): boolean {
    return [...this.#calls.values()].some(({ state, call }) => state === 'logged' && !call.isOver)
  }

  /** Takes what the agent says, also what comes after its answer. */
  onUpdate(update: SessionUpdate): void {
    switch (update.sessionUpdate) {
      case 'agent_thought_chunk':
        if (update.content.type === 'text') this.#pushThought(update.content.text)
        return
      case 'agent_message_chunk':
        if (update.content.type === 'text') this.#write(update.content.text)
        return
      case 'plan':
        this.#onPlan(update)
        return
      case 'tool_call':
      case 'tool_call_update':
        this.#onCall(update)
        return
    }
  }

  /** Answers whether a tool may run: as the space decides. */
  async onPermission(request: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const { options, toolCall } = request
    const tracked = this.#track(toolCall)
    clearTimeout(tracked.timer)
    const once = pick(options, 'allow_once')
    if (once === undefined) {
      const offered = options.map(({ kind }) => kind).join(', ') || 'nothing'
      this.#report(`${tracked.call.name} cannot be allowed once: the agent offers ${offered}`)
      tracked.state = 'refused'
      return cancelled
    }
    if (tracked.state === 'space') return select(once)
    const decision = await this.#decide(tracked)
    if (decision.state === 'allowed') return select(once)
    const reject = pick(options, 'reject_once')
    return decision.state === 'rejected' && reject !== undefined ? select(reject) : cancelled
  }

  /** Nothing is decided any more. */
  cancel(): void {
    this.#isCancelled = true
    for (const { over } of this.#calls.values()) over.abort()
  }

  /** The prompt has ended. Returns the text of its answer, which may be none. `ending`: why calls have no result. */
  async finish(ending: string): Promise<string> {
    this.#isOver = true
    for (const tracked of this.#calls.values()) {
      clearTimeout(tracked.timer)
      tracked.over.abort()
      if (tracked.state === 'seen' && tracked.call.hasBegun) await this.#logUnasked(tracked)
      tracked.end(tracked.call.getResult(ending))
    }
    await this.#flush()
    return this.#text.trim()
  }

  #write(text: string): void {
    if (this.#isOver) this.#pushThought(text)
    else {
      this.#text += text
      this.#parts.live.push(text)
    }
  }

  /** What comes after the answer has no end that would show that it is whole. */
  #pushThought(text: string): void {
    this.#thoughts.push(text)
    if (!this.#isOver || this.#late !== undefined) return
    this.#late = setTimeout(() => {
      this.#late = undefined
      void this.#flush()
    }, lateMs)
    this.#late.unref()
  }

  #onPlan({ entries }: Plan): void {
    const marks = { completed: '☑', in_progress: '◐', pending: '☐' }
    const plan = entries.map(({ content, status }) => ({ content, status }))
    const text = plan.map(({ content, status }) => `${marks[status] ?? '☐'} ${content}`).join('\n')
    if (text === this.#plan) return
    this.#plan = text
    this.#inOrder(async () => {
      await this.#thoughts.end()
      await this.#parts.run.thought(text, { phase: 'plan', metadata: { plan } })
    })
  }

  #onCall(fields: ToolCallUpdate): void {
    const tracked = this.#track(fields)
    const { call } = tracked
    if (tracked.state === 'deciding' && call.isOver) tracked.over.abort()
    if (tracked.state === 'logged' && call.isOver)
      tracked.end(call.getResult(this.#isCancelled ? 'after cancel' : undefined))
    if (tracked.state === 'space' && call.isOver) this.#onSpaceCallOver(tracked)
    // Where a call was to be left undone, its end shows whether it was.
    const hasRun = tracked.state === 'refused' ? call.isCompleted && !this.#isCancelled : call.isOver
    const isUnlogged = tracked.state === 'seen' || tracked.state === 'refused'
    if (isUnlogged && hasRun) void this.#logUnasked(tracked)
    else if (tracked.state === 'seen' && call.hasBegun)
      tracked.timer ??= setTimeout(
        () => void this.#logUnasked(tracked),
        this.#parts.agent?.asksLate ? askLateMs : askMs,
      )
    if (![...this.#calls.values()].some(({ call }) => !call.isOver)) this.#said = ''
  }

  #track(fields: ToolCallUpdate): Tracked {
    const { toolCallId: id } = fields
    const known = this.#calls.get(id)
    // An agent may use an id again once its call is over.
    const isNext = known?.call.isOver === true && fields.status !== undefined && !isFinal(fields.status)
    const tracked = known === undefined || isNext ? this.#begin(fields) : known
    tracked.call.update(fields)
    return tracked
  }

  #begin(fields: ToolCallUpdate): Tracked {
    const { agent, spaceTools } = this.#parts
    if (this.#text.trim() !== '') {
      const text = this.#text.trim()
      this.#said = text
      this.#text = ''
      this.#parts.live.restart()
      this.#inOrder(async () => {
        await this.#thoughts.end()
        await this.#think(text)
      })
    }
    let end = (_: McpResponsePayload): void => {}
    const result = new Promise<McpResponsePayload>((resolve) => {
      end = resolve
    })
    const tracked: Tracked = {
      call: new AgentCall(fields.toolCallId, nameTool(fields, agent)),
      state: spaceTools.isSpaceTool(fields) ? 'space' : 'seen',
      over: new AbortController(),
      result,
      end,
    }
    if (this.#isCancelled) tracked.over.abort()
    this.#calls.set(fields.toolCallId, tracked)
    return tracked
  }

  /** The same question has the same answer. */
  #decide(tracked: Tracked): Promise<Decision> {
    const { call, asked } = tracked
    const args = JSON.stringify(call.arguments)
    if (asked?.arguments === args) return asked.decision
    const decision = this.#askSpace(tracked)
    tracked.asked = { arguments: args, decision }
    return decision
  }

  async #askSpace(tracked: Tracked): Promise<Decision> {
    tracked.state = 'deciding'
    const own = this.#createOwn(tracked)
    await this.#flush()
    const decision = await this.#parts.approvals.decide(own, tracked.over.signal)
    tracked.state = decision.state === 'allowed' ? 'logged' : 'refused'
    if (decision.state === 'rejected') {
      this.#rejections.push(`${tracked.call.name} was ${decision.reason}`)
      if (!decision.reason.startsWith('rejected by')) this.#report(`${tracked.call.name}: ${decision.reason}`)
    }
    return decision
  }

  /** What was run without a question is logged as it stands. */
  async #logUnasked(tracked: Tracked): Promise<void> {
    const { call } = tracked
    clearTimeout(tracked.timer)
    tracked.state = 'logged'
    if (call.isOver) tracked.end(call.getResult())
    const own = this.#createOwn(tracked)
    await this.#flush()
    try {
      await this.#parts.approvals.record(own)
    } catch (error) {
      if (!isDenied(error)) return this.#onError(error)
      tracked.end(failed('this call was not allowed'))
      const { content } = call.getResult().result as { content: readonly { text: string }[] }
      const what = `${call.name} ${cut(JSON.stringify(call.arguments), maxToldChars)}`
      const came = content.map(({ text }) => cut(text, maxToldChars)).join('\n')
      this.#report(`ran without asking, and without the capability for it: ${what}\n${came}`.trim())
      this.#parts.onUnasked(call)
    }
  }

  /** The space's own log has it, if it was made. */
  #onSpaceCallOver(tracked: Tracked): void {
    if (this.#parts.spaceTools.hasArrived(tracked.call)) return
    tracked.state = 'seen'
  }

  #createOwn({ call, result }: Tracked): OwnCall {
    const rationale = cut(this.#said, maxReasonChars)
    return {
      ...{ name: call.name, arguments: call.arguments, meta: call.meta, result },
      context: this.#parts.run.context,
      ...(rationale !== '' && { rationale }),
    }
  }

  /** Something that everybody is to know. */
  #report(text: string): void {
    this.#parts.log(text)
    this.#inOrder(() => this.#parts.run.thought(text, { phase: 'error' }))
  }

  /** All that was thought before. */
  #flush(): Promise<void> {
    this.#inOrder(() => this.#thoughts.end())
    return this.#ordered
  }

  #inOrder(task: () => Promise<unknown>): void {
    this.#ordered = this.#ordered.then(task).then(
      () => {},
      (error: unknown) => this.#onError(error),
    )
  }

  #think(text: string): Promise<unknown> {
    return this.#parts.run.thought(text)
  }

  #onError(error: unknown): void {
    if (!this.#parts.run.signal.aborted) this.#parts.log(`a part of the log is missing: ${String(error)}`)
  }
}

const cancelled: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } }

const pick = (
  options: readonly PermissionOption[],
  kind: PermissionOptionKind,
): PermissionOption | undefined => options.find((option) => option.kind === kind)

const select = ({ optionId }: PermissionOption): RequestPermissionResponse => ({
  outcome: { outcome: 'selected', optionId },
})

const isFinal = (status: string | null): boolean => status === 'completed' || status === 'failed'
