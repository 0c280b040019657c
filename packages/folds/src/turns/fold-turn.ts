import {
  contextRoot,
  correlations,
  type DecisionPayload,
  type Envelope,
  Kind,
  openedContext,
} from '@meup/protocol'
import { Bounded } from '../bounded.js'
import { isInside } from '../contexts/context-view.js'
import { Deadlines } from '../deadlines.js'
import {
  findCancelledCall,
  getAttempt,
  getCancellation,
  getParameters,
  guardedToolName,
  isNotification,
  isRefusedCall,
} from '../mcp/calls.js'
import { measure, readResult } from '../mcp/result.js'
import { defaultGuard, type Guard, guarded, redact } from '../redact.js'
import { getSource, type Quoted, type Source } from '../source.js'
import { getMessage, getRationale, inlineJson, isWithheld } from '../text.js'
import { maxCalls } from './asked-calls.js'
import { Decisions, type Dispatch, type End } from './decisions.js'
import { type Beginning, Role } from './marks.js'
import {
  answer,
  endRun,
  endRuns,
  getEnding,
  narrate,
  openRun,
  resume,
  type TurnRecord,
  type TurnState,
  takeBack,
  think,
} from './record.js'

export interface TurnOptions {
  /** Name of the space. */
  readonly space: string
  /** Id of the log; the `session_id` of its turns. */
  readonly epoch: string
  /** What texts of MCP payloads pass on their way into the view; default: the rules of @meup/safety. */
  readonly guard?: Guard | undefined
}

/** A request or a proposal of the turn, and the decisions that its answer ends. */
interface Call {
  readonly from: string
  readonly isProposal: boolean
  readonly jsonRpcId: string | null
  readonly settles: readonly string[]
  readonly tool: string
}

/** Characters of a request's parameters where it stands for what was asked. */
const maxQuestionChars = 200

/**
 * A turn or job, folded from its own envelopes alone: those that `Assigner` gave it, in log order, each with what it does
 * there. Told fewer of them, it is the turn of a log that has no others.
 */
export class FoldedTurn {
  readonly record: TurnRecord
  /** Seq of the last envelope that it was told of. */
  seq = 0
  readonly #guard: Guard
  readonly #decisions = new Decisions()
  readonly #calls = new Bounded<Call>(maxCalls)
  readonly #deadlines = new Deadlines()
  /** Contexts that are open in it, also those that others have opened. */
  readonly #contexts = new Set<string>()
  /** Roots of free paths that its agent works in. */
  readonly #free = new Set<string>()
  #ts = ''
  #hasEnded = false

  /** `trigger`: the envelope that it answers, where the reader may read it and the log still has it. */
  constructor(beginning: Beginning, { space, epoch, guard = defaultGuard }: TurnOptions, trigger?: Envelope) {
    const { id, agent, number: turnNumber, jobId, inputSource, startedAt } = beginning
    const identity = { id, sessionId: epoch, threadId: `${space}/${agent}`, agent, turnNumber, jobId }
    this.#guard = guard
    const asked = trigger === undefined ? null : { source: getSource(trigger), text: this.#question(trigger) }
    this.record = {
      ...identity,
      inputSource,
      startedAt,
      trigger: asked,
      answer: null,
      state: 'running',
      isTakenBack: false,
      completedAt: null,
      narrative: null,
      decisions: this.#decisions.list,
      runs: [],
    }
  }

  /** What the next envelope does, by the roles of its marks. Whether it ended a batch of calls: `reasoningEvent` tells of that. */
  apply(envelope: Envelope, roles: number): boolean {
    const { seq = 0, ts, kind, payload } = envelope
    this.seq = seq
    this.#ts = ts
    this.#hasEnded = false
    if (roles & Role.expire) this.#expire(ts)
    if (roles & Role.free) this.#takeUp(envelope)
    if (kind === Kind.chat) this.#chat(envelope, roles)
    else if (kind === Kind.chatCancel) this.#takeBack(roles, payload.reason)
    else if (kind === Kind.mcpRequest && isNotification(payload)) this.#cancel(envelope, roles)
    else if (kind === Kind.mcpRequest || kind === Kind.mcpProposal) this.#call(envelope, roles)
    else if (kind === Kind.mcpResponse) this.#response(envelope, roles)
    else if (kind === Kind.mcpReject || kind === Kind.mcpWithdraw) this.#refusal(envelope, roles)
    else if (kind === Kind.reasoningStart) this.#start(envelope, roles)
    else if (kind === Kind.reasoningConclusion || kind === Kind.reasoningCancel) this.#close(envelope, roles)
    else if (kind === Kind.systemDecision) this.#decision(envelope, roles)
    else if (roles & Role.turn) this.#thought(envelope)
    if ((roles & ~(Role.call | Role.fulfil | Role.speak)) !== 0) this.#rest()
    return this.#hasEnded
  }

  /** What comes next did not come right after what it was told of last: runs may have called tools meanwhile. */
  skip(): void {
    this.#decisions.moveOn()
    for (const run of this.record.runs) run.hasCalled = true
  }

  /** The tool of a request or a proposal that it was told of, as it may be shown. */
  findTool(id: string): string | undefined {
    return this.#calls.get(id)?.tool
  }

  /** Whether time may end something in it. */
  get mayExpire(): boolean {
    return this.#decisions.arePending
  }

  /** It is this time, by which its proposals may have expired; nothing else is told of that. */
  expire(ts: string): void {
    if (!this.#decisions.arePending) return
    this.#expire(ts)
    this.#rest()
  }

  /** A job of which nothing more is to come is done. */
  #rest(): void {
    if (!this.#isIdle) return
    this.record.state = 'completed'
    this.record.completedAt = this.#ts
  }

  #question(trigger: Envelope): string {
    const { kind, payload } = trigger
    if (kind !== Kind.mcpRequest) return getMessage(payload)
    const parameters = redact(getParameters(payload), this.#guard)
    return `${this.#toolIn(payload)} ${inlineJson(parameters.value, maxQuestionChars)}`
  }

  #chat(envelope: Envelope, roles: number): void {
    const { record } = this
    if (!(roles & Role.answer)) return
    this.#decisions.moveOn()
    if (record.inputSource === Kind.mcpRequest) return // It is answered by a response.
    const said = { source: getSource(envelope), text: getMessage(envelope.payload) }
    this.#answer(said, 'completed')
  }

  /** What the agent does in free paths ends with its answer. */
  #answer(said: Quoted, state: TurnState): void {
    answer(this.record, said, state, this.#ts)
    for (const root of this.#free) this.#endRun(root, 'completed')
  }

  /** In a free path the agent works as in a run, which its answer or its conclusion ends. */
  #takeUp(envelope: Envelope): void {
    const { context = '' } = (envelope.kind === Kind.systemDecision && getAttempt(envelope)) || envelope
    const root = contextRoot(context)
    openRun(this.record, root, { source: getSource(envelope), text: '' })
    this.#free.add(root)
  }

  #takeBack(roles: number, reason: unknown): void {
    if (!(roles & Role.takeBack) || !this.#isRunning) return
    takeBack(this.record, this.#ts)
    this.#abandon(this.#unanswered('cancelled', reason))
  }

  /** Its asker takes a call back, or the trigger. */
  #cancel(envelope: Envelope, roles: number): void {
    const named = findCancelledCall(envelope, this.#calls, ({ from }) => from)
    if (roles & Role.settle && named) this.#settle(named.call, this.#unanswered('cancelled', named.reason))
    this.#takeBack(roles, getCancellation(envelope.payload)?.reason)
  }

  /** A request or a proposal. What fulfils a proposal ends it as well. */
  #call(envelope: Envelope, roles: number): void {
    const { id, from, kind, parallelGroup: label, context, payload } = envelope
    const isProposal = kind === Kind.mcpProposal
    const fulfilled = isProposal ? [] : correlations(envelope).filter((each) => this.#isProposal(each))
    for (const each of fulfilled) this.#deadlines.delete(each)
    const settles = fulfilled.flatMap((each) => this.#calls.get(each)?.settles ?? [])
    const toolName = this.#toolIn(payload)
    if (roles & Role.dispatch) {
      const parameters = getParameters(payload)
      const [source, rationale] = [getSource(envelope), getRationale(envelope)]
      this.#dispatch({ id, source, toolName, rationale, parameters, label }, context)
      settles.push(id)
    }
    const jsonRpcId = payload.id === undefined || payload.id === null ? null : String(payload.id)
    this.#calls.set(id, { from, isProposal, jsonRpcId, settles, tool: toolName })
    if (isProposal) this.#deadlines.set(id, payload.expiresAt)
  }

  /** Ends what it answers, and is itself the answer of the responder's turn. */
  #response(envelope: Envelope, roles: number): void {
    const { outcome, size } = measure(envelope.payload)
    if (roles & Role.settle)
      for (const call of this.#answered(envelope)) this.#settle(call, { outcome, size, isAnswer: true })
    if (!(roles & Role.answer)) return
    const { text } = readResult(envelope.payload, this.#guard)
    const source = getSource(envelope)
    this.#answer({ source, text }, outcome === 'error' ? 'error' : 'completed')
  }

  #refusal(envelope: Envelope, roles: number): void {
    if (!(roles & Role.settle)) return
    for (const call of this.#answered(envelope)) if (call.isProposal) this.#settle(call, rejected)
  }

  #start(envelope: Envelope, roles: number): void {
    const { record } = this
    const isOwn = record.agent === envelope.from
    if (roles & Role.turn && isOwn) this.#decisions.moveOn()
    if (!(roles & Role.open)) {
      const isFree = this.#free.has(contextRoot(envelope.context ?? ''))
      if (isOwn && isFree) think(record, envelope.context, quote(envelope))
      return
    }
    const context = openedContext(envelope)
    this.#contexts.add(context)
    if (!isOwn) return
    openRun(record, context, quote(envelope))
    resume(record)
  }

  #thought(envelope: Envelope): void {
    const { record } = this
    if (record.agent !== envelope.from) return
    this.#decisions.moveOn()
    think(record, envelope.context, quote(envelope))
  }

  /** A conclusion or a cancel. What a cancelled context still waits for has ended with it. */
  #close(envelope: Envelope, roles: number): void {
    if (roles & Role.turn) this.#decisions.moveOn()
    if (!(roles & Role.close)) return
    const { context = '' } = envelope
    const [state, reason] = getEnding(envelope)
    const end = this.#unanswered(state, reason)
    const closed = [...this.#contexts].filter((each) => isInside(context, each))
    for (const each of closed.sort((one, other) => one.length - other.length)) this.#end(each, state, end)
    if (this.#free.has(contextRoot(context))) this.#end(contextRoot(context), state, end)
    else if (closed.length === 0 && roles & Role.last) this.#endUnknown(context, state, end)
  }

  /** A run has ended whose start it was not told of: that was pruned, or may not be read. */
  #endUnknown(context: string, state: TurnState, end: End): void {
    if (state !== 'completed') this.#abandon(end, context)
    endRuns(this.record, state, this.#ts)
    this.#leave(state, end)
  }

  #end(context: string, state: TurnState, end: End): void {
    this.#contexts.delete(context)
    if (state !== 'completed') this.#abandon(end, context)
    this.#endRun(context, state)
    this.#leave(state, end)
  }

  #endRun(context: string, state: TurnState): void {
    const run = this.record.runs.find((each) => each.context === context)
    if (run?.isOpen) endRun(this.record, run, state, this.#ts)
  }

  /** With its last run the turn has ended as well: so have its calls outside of them. */
  #leave(state: TurnState, end: End): void {
    if (state !== 'completed' && this.record.state === state) this.#abandon(end)
  }

  /** How a call ends that nobody waits for any more [MEUP-11.17]. */
  #unanswered(state: TurnState, reason: unknown): End {
    if (state !== 'cancelled') return { outcome: 'error', isAnswer: false }
    const cancelled = typeof reason === 'string' ? guarded(reason, this.#guard) : ''
    return { outcome: 'rejected', cancelled, isAnswer: false }
  }

  /** The gateway refused a call. */
  #decision(envelope: Envelope, roles: number): void {
    const attempt = getAttempt(envelope)
    const payload = envelope.payload as Partial<DecisionPayload>
    if (!(roles & Role.dispatch) || attempt === undefined || !isRefusedCall(payload)) return
    const { attemptedId, attemptedRationale, attemptedArguments } = payload
    // An id may be refused because a call has it already.
    const isFree = attemptedId !== undefined && !this.#decisions.has(attemptedId, isRefusal)
    const id = isFree ? attemptedId : envelope.id
    const parameters = attemptedArguments ?? {}
    const toolName = String(payload.attemptedTool ?? payload.attemptedKind)
    const rationale = getRationale({ rationale: attemptedRationale })
    const source = getSource(envelope)
    this.#dispatch({ id, source, toolName, rationale, parameters }, attempt.context)
    this.#settleOne(id, rejected)
  }

  #dispatch(call: Dispatch, context: string | undefined): void {
    this.#decisions.moveOn(call.label)
    narrate(this.record, context)
    this.#decisions.dispatch(call)
  }

  #expire(ts: string): void {
    for (const id of this.#deadlines.due(Date.parse(ts))) {
      const call = this.#calls.get(id)
      if (call !== undefined) this.#settle(call, rejected)
    }
  }

  #settle({ settles }: Call, end: End): void {
    for (const id of settles) this.#settleOne(id, end)
  }

  #settleOne(id: string, end: End): void {
    if (this.#decisions.settle(id, end)) this.#hasEnded = true
  }

  /** Ends those of its calls that nobody waits for any more; `context`: only those in it or below it. */
  #abandon(end: End, context?: string): void {
    for (const { id, outcome, source } of this.record.decisions) {
      const isMeant = context === undefined || isInside(context, source.context)
      if (outcome === null && isMeant) this.#settleOne(id, end)
    }
  }

  get #isRunning(): boolean {
    const { state, runs } = this.record
    return state === 'running' || runs.some(({ isOpen }) => isOpen) || this.#decisions.arePending
  }

  /** A job without a run is done when nothing more is to come of its envelope. */
  get #isIdle(): boolean {
    const { jobId, state, runs } = this.record
    return jobId !== null && state === 'running' && runs.length === 0 && !this.#decisions.arePending
  }

  #answered(envelope: Envelope): Call[] {
    return correlations(envelope).flatMap((id) => this.#calls.get(id) ?? [])
  }

  #isProposal(id: string): boolean {
    return this.#calls.get(id)?.isProposal === true
  }

  #toolIn(payload: Envelope['payload']): string {
    return guardedToolName(payload, this.#guard)
  }
}

const rejected = { outcome: 'rejected', isAnswer: false } as const

const isRefusal = ({ kind }: Source): boolean => kind === Kind.systemDecision

const quote = (envelope: Envelope): Quoted => ({
  source: getSource(envelope),
  text: isWithheld(envelope.payload) ? null : getMessage(envelope.payload),
})
