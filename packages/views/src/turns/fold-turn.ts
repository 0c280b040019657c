import {
  correlations,
  type DecisionPayload,
  type Envelope,
  isContextAncestor,
  Kind,
  openedContext,
} from '@meup/protocol'
import { Deadlines } from '../deadlines.js'
import { guardedToolName, isNotification, parametersOf } from '../mcp/call.js'
import { defaultGuard } from '../mcp/guard.js'
import { type Guard, guarded, redact } from '../mcp/redact.js'
import { readResult } from '../mcp/result.js'
import { takenBack } from '../mcp/taken-back.js'
import { inlineJson } from '../render/inline-json.js'
import { type Quoted, type Source, sourceOf } from '../source.js'
import { isWithheld, messageOf, rationaleOf } from '../text.js'
import { type Beginning, Role } from './assign.js'
import { attemptOf, isRefusedCall } from './attempt.js'
import { type Dispatch, dispatch, type End, moveOn, settle } from './decisions.js'
import { answer, endRun, resume, takeBack } from './outcome.js'
import { endOf } from './reasoning.js'
import { type BatchEnd, isRunning, newTurn, type ToolDecision, type TurnRecord } from './record.js'
import { narrate, openRun, think } from './runs.js'

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
}

/** Characters of a request's parameters where it stands for what was asked. */
const longestQuestion = 200

/**
 * A turn or job, folded from its own envelopes alone: those that `Assigner` gave it, in log order, each with what it does
 * there. Told fewer of them, it is the turn of a log that has no others.
 */
export class FoldedTurn {
  readonly record: TurnRecord
  /** Seq of the last envelope that it was told of. */
  seq = 0
  readonly #guard: Guard
  readonly #calls = new Map<string, Call>()
  readonly #deadlines = new Deadlines()
  /** Contexts that are open in it, whoever opened them. */
  readonly #contexts = new Set<string>()
  #ts = ''
  #hasEnded = false

  /** `trigger`: the envelope that it answers, where the reader may read it and the log still has it. */
  constructor(beginning: Beginning, { space, epoch, guard = defaultGuard }: TurnOptions, trigger?: Envelope) {
    const { id, agent, number: turnNumber, jobId, inputSource, startedAt } = beginning
    const identity = { id, sessionId: epoch, threadId: `${space}/${agent}`, agent, turnNumber, jobId }
    this.#guard = guard
    const asked = trigger === undefined ? null : { source: sourceOf(trigger), text: this.#question(trigger) }
    this.record = newTurn({ ...identity, inputSource, startedAt, trigger: asked })
  }

  /** What the next envelope does, by the roles of its marks. Gives the end of a batch, where it ended one. */
  apply(envelope: Envelope, roles: number): BatchEnd<TurnRecord> | undefined {
    const { record } = this
    const { seq = 0, ts, kind, payload } = envelope
    this.seq = seq
    this.#ts = ts
    this.#hasEnded = false
    if (roles & Role.expire) this.#expire()
    if (kind === Kind.chat) this.#chat(envelope, roles)
    else if (kind === Kind.chatCancel) this.#takeBack(payload.reason, roles)
    else if (kind === Kind.mcpRequest && isNotification(payload)) this.#cancel(envelope, roles)
    else if (kind === Kind.mcpRequest || kind === Kind.mcpProposal) this.#call(envelope, roles)
    else if (kind === Kind.mcpResponse) this.#response(envelope, roles)
    else if (kind === Kind.mcpReject || kind === Kind.mcpWithdraw) this.#refusal(envelope, roles)
    else if (kind === Kind.reasoningStart) this.#start(envelope, roles)
    else if (kind === Kind.reasoningConclusion || kind === Kind.reasoningCancel) this.#close(envelope, roles)
    else if (kind === Kind.systemDecision) this.#decision(envelope, roles)
    else if (roles & Role.turn) this.#thought(envelope)
    if ((roles & ~(Role.call | Role.fulfil)) !== 0 && isIdle(record)) {
      record.state = 'completed'
      record.completedAt = ts
    }
    return this.#hasEnded ? { seq, turn: record, narrative: record.narrative } : undefined
  }

  #question(trigger: Envelope): string {
    const { kind, payload } = trigger
    if (kind !== Kind.mcpRequest) return messageOf(payload)
    const parameters = redact(parametersOf(payload), this.#guard)
    return `${this.#toolIn(payload)} ${inlineJson(parameters.value, longestQuestion)}`
  }

  #chat(envelope: Envelope, roles: number): void {
    const { record } = this
    if (!(roles & Role.answer)) return
    moveOn(record)
    if (record.inputSource === Kind.mcpRequest) return // It is answered by a response.
    const said = { source: sourceOf(envelope), text: messageOf(envelope.payload) }
    answer(record, said, 'completed', this.#ts)
  }

  #takeBack(reason: unknown, roles: number): void {
    if (!(roles & Role.takeBack) || !isRunning(this.record)) return
    takeBack(this.record, typeof reason === 'string' ? reason : null, this.#ts)
    this.#abandon(() => true)
  }

  /** Its asker takes a call back, or the trigger. */
  #cancel(envelope: Envelope, roles: number): void {
    const calls = { get: (id: string) => this.#calls.get(id), snapshot: () => [...this.#calls] }
    const named = takenBack(envelope, calls, ({ from }) => from)
    const cancelled = { outcome: 'error', text: 'cancelled', isAnswer: false } as const
    if (roles & Role.settle && named) this.#settle(named.call, { source: sourceOf(envelope), ...cancelled })
    const { params } = envelope.payload as { params?: { reason?: unknown } }
    this.#takeBack(params?.reason, roles)
  }

  /** A request or a proposal. What fulfils a proposal ends it as well. */
  #call(envelope: Envelope, roles: number): void {
    const { id, from, kind, parallelGroup: label, context, payload } = envelope
    const isProposal = kind === Kind.mcpProposal
    const fulfilled = isProposal ? [] : correlations(envelope).filter((each) => this.#isProposal(each))
    for (const each of fulfilled) this.#deadlines.delete(each)
    const settles = fulfilled.flatMap((each) => this.#calls.get(each)?.settles ?? [])
    if (roles & Role.dispatch) {
      const { value: parameters, size } = redact(parametersOf(payload), this.#guard)
      const toolName = this.#toolIn(payload)
      const [source, rationale] = [sourceOf(envelope), rationaleOf(envelope)]
      this.#dispatch({ id, source, toolName, rationale, parameters, size, label }, context)
      settles.push(id)
    }
    const jsonRpcId = payload.id === undefined || payload.id === null ? null : String(payload.id)
    this.#calls.set(id, { from, isProposal, jsonRpcId, settles })
    if (isProposal) this.#deadlines.set(id, payload.expiresAt)
  }

  /** Ends what it answers, and is itself the answer of the responder's turn. */
  #response(envelope: Envelope, roles: number): void {
    const { record } = this
    const result = readResult(envelope.payload, this.#guard)
    const source = sourceOf(envelope)
    if (roles & Role.settle)
      for (const call of this.#answered(envelope)) this.#settle(call, { ...result, source, isAnswer: true })
    if (!(roles & Role.answer)) return
    const state = result.outcome === 'error' ? 'error' : 'completed'
    answer(record, { source, text: result.text }, state, this.#ts)
  }

  #refusal(envelope: Envelope, roles: number): void {
    if (!(roles & Role.settle)) return
    const reason = guarded(String(envelope.payload.reason), this.#guard)
    for (const call of this.#answered(envelope))
      if (call.isProposal) this.#refuse(call, reason, sourceOf(envelope))
  }

  #start(envelope: Envelope, roles: number): void {
    const { record } = this
    const isOwn = record.agent === envelope.from
    if (roles & Role.turn && isOwn) moveOn(record)
    if (!(roles & Role.open)) return
    const context = openedContext(envelope)
    this.#contexts.add(context)
    if (!isOwn) return
    openRun(record, context, quote(envelope))
    resume(record)
  }

  #thought(envelope: Envelope): void {
    const { record } = this
    if (record.agent !== envelope.from) return
    moveOn(record)
    think(record, envelope.context, quote(envelope))
  }

  /** A conclusion or a cancel. What a cancelled context still waits for has ended with it. */
  #close(envelope: Envelope, roles: number): void {
    const { record } = this
    if (roles & Role.turn) moveOn(record)
    if (!(roles & Role.close)) return
    const { context = '' } = envelope
    const [state, reason] = endOf(envelope)
    const closed = [...this.#contexts].filter((each) => isInside(context, each))
    for (const each of closed.sort((one, other) => one.length - other.length)) {
      this.#contexts.delete(each)
      if (state !== 'completed') this.#abandon(({ source }) => isInside(each, source.context))
      const run = record.runs.find((run) => run.context === each)
      if (run !== undefined) endRun(record, run, state, reason, this.#ts)
    }
  }

  /** The gateway refused a call. */
  #decision(envelope: Envelope, roles: number): void {
    const { record } = this
    const attempt = attemptOf(envelope)
    const payload = envelope.payload as Partial<DecisionPayload>
    if (!(roles & Role.dispatch) || attempt === undefined || !isRefusedCall(payload)) return
    const { attemptedId, attemptedRationale, attemptedArguments } = payload
    const { value: parameters, size } = redact(attemptedArguments ?? {}, this.#guard)
    const id = attemptedId !== undefined && !isMade(record, attemptedId) ? attemptedId : envelope.id
    const toolName = String(payload.attemptedTool ?? payload.attemptedKind)
    const rationale = rationaleOf({ rationale: attemptedRationale })
    const source = sourceOf(envelope)
    this.#dispatch({ id, source, toolName, rationale, parameters, size }, attempt.context)
    this.#settleOne(id, { source, outcome: 'rejected', text: String(payload.message), isAnswer: false })
  }

  #dispatch(call: Dispatch, context: string | undefined): void {
    moveOn(this.record, call.label)
    narrate(this.record, context)
    dispatch(this.record, call)
  }

  #expire(): void {
    for (const id of this.#deadlines.due(Date.parse(this.#ts))) {
      const call = this.#calls.get(id)
      if (call !== undefined) this.#refuse(call, 'expired', null)
    }
  }

  #refuse(proposal: Call, text: string, source: Source | null): void {
    this.#settle(proposal, { source, outcome: 'rejected', text, isAnswer: false })
  }

  #settle({ settles }: Call, end: Omit<End, 'seq'>): void {
    for (const id of settles) this.#settleOne(id, end)
  }

  #settleOne(id: string, end: Omit<End, 'seq'>): void {
    if (settle(this.record, id, { seq: this.seq, ...end })) this.#hasEnded = true
  }

  /** Ends those of its calls that nobody waits for any more. */
  #abandon(isMeant: (call: ToolDecision) => boolean): void {
    const cancelled = { source: null, outcome: 'error', text: 'cancelled', isAnswer: false } as const
    for (const call of this.record.decisions)
      if (call.outcome === null && isMeant(call)) this.#settleOne(call.id, cancelled)
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

const isInside = (context: string, path: string | undefined): boolean =>
  path !== undefined && (path === context || isContextAncestor(context, path))

const quote = (envelope: Envelope): Quoted => ({
  source: sourceOf(envelope),
  text: isWithheld(envelope.payload) ? null : messageOf(envelope.payload),
})

/** An id may be refused because a call has it already. */
const isMade = ({ decisions }: TurnRecord, attemptedId: string): boolean =>
  decisions.some(({ id, source }) => id === attemptedId && source.kind !== Kind.systemDecision)

/** A job without a run is done when nothing more is to come of its envelope. */
const isIdle = ({ jobId, state, runs, decisions }: TurnRecord): boolean =>
  jobId !== null &&
  state === 'running' &&
  runs.length === 0 &&
  decisions.every(({ outcome }) => outcome !== null)
