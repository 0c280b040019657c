import { contextRoot, type DecisionPayload, type Envelope, Kind, openedContext } from '@meup/protocol'
import { isInside } from '../contexts/context-view.js'
import { defaultGuard } from '../default-guard.js'
import { getAnswerState, getEnding } from '../ending.js'
import { getAttempt, getCancellation, getParameters, guardedToolName, isRefusedCall } from '../mcp/calls.js'
import { measureOutcome, readResult } from '../mcp/result.js'
import { type Guard, guarded, redact } from '../redact.js'
import { getSource, type Quoted, type Source } from '../source.js'
import { type Call, type CallChange, Calls, isProposal, RecentCalls } from '../space/calls.js'
import { getMessage, getRationale, inlineJson, isWithheld } from '../text.js'
import { maxCalls } from './asked-calls.js'
import { type CallEnd, type Dispatch, TurnDecisions } from './decisions.js'
import { type Beginning, Role } from './marks.js'
import {
  addRun,
  answer,
  endRun,
  endRuns,
  narrate,
  resumeTurn,
  type TurnRecord,
  type TurnState,
  takeBack,
  think,
} from './record.js'

export interface FoldTurnOptions {
  readonly space: string
  /** Epoch of the log; the `session_id` of its turns. */
  readonly epoch: string
  /** Masks texts of MCP payloads in the view; default: the rules of @meup/safety. */
  readonly guard?: Guard | undefined
}

/** A request or a proposal of the turn. */
interface CallInTurn {
  readonly tool: string
  /** The request; `undefined` if the log does not say which right let the call pass. */
  readonly request: Envelope | undefined
  /** Whether the call counts as a decision of the turn. False if another participant reused the id of a refused call. */
  readonly isDispatched: boolean
  /** `true` if a request has fulfilled the proposal, so that the answer to the request ends the proposal. */
  readonly isFulfilled?: true
}

/** Maximum characters of the parameters of a request that triggers a turn. */
const maxQuestionChars = 200

/**
 * A turn or job, folded from the envelopes that `Assigner` marked for it, in log order. With the envelopes that one reader may
 * read, it is the turn as if the log had no others.
 */
export class FoldedTurn {
  readonly record: TurnRecord
  /** Seq of the last applied envelope. */
  seq = 0
  readonly #guard: Guard
  readonly #decisions = new TurnDecisions()
  readonly #calls = new Calls<CallInTurn>({
    store: new RecentCalls(maxCalls),
    reduce: (change, envelope) => this.#onCall(change, envelope),
  })
  /** Open contexts of the turn, including those of other participants. */
  readonly #contexts = new Set<string>()
  /** Roots of the free paths (contexts that no run has opened) in which the agent works on this turn. */
  readonly #free = new Set<string>()
  /** Roles of the envelope that is being applied. */
  #roles = 0
  #ts = ''
  #hasEnded = false

  /** `trigger`: the envelope that the turn answers; absent if it was pruned or is unreadable. */
  constructor(
    beginning: Beginning,
    { space, epoch, guard = defaultGuard }: FoldTurnOptions,
    trigger?: Envelope,
  ) {
    const { id, agent, number: turnNumber, jobId, inputSource, startedAt } = beginning
    this.#guard = guard
    const asked = trigger === undefined ? null : { source: getSource(trigger), text: this.#question(trigger) }
    this.record = {
      id,
      sessionId: epoch,
      threadId: `${space}/${agent}`,
      agent,
      turnNumber,
      jobId,
      inputSource,
      startedAt,
      trigger: asked,
      answer: null,
      state: 'running',
      error: null,
      isTakenBack: false,
      completedAt: null,
      narrative: null,
      decisions: this.#decisions.list,
      runs: [],
    }
  }

  /**
   * Applies an envelope with the roles that `Assigner` marked. Returns whether it ended a batch of parallel calls: then call
   * `reasoningEvent`.
   */
  apply(envelope: Envelope, roles: number): boolean {
    const { seq = 0, ts, kind, payload } = envelope
    this.seq = seq
    this.#roles = roles
    this.#ts = ts
    this.#hasEnded = false
    if (roles & Role.free) this.#takeUp(envelope)
    this.#calls.apply(envelope)
    if (kind === Kind.chat) this.#chat(envelope, roles)
    else if (kind === Kind.chatCancel) this.#takeBack(roles, payload.reason)
    else if (kind === Kind.mcpRequest) this.#takeBack(roles, getCancellation(payload)?.reason)
    else if (kind === Kind.mcpResponse) this.#response(envelope, roles)
    else if (kind === Kind.reasoningStart) this.#start(envelope, roles)
    else if (kind === Kind.reasoningConclusion || kind === Kind.reasoningCancel) this.#close(envelope, roles)
    else if (kind === Kind.systemDecision) this.#decision(envelope, roles)
    else if (roles & Role.turn) this.#thought(envelope)
    if ((roles & ~(Role.call | Role.fulfil | Role.speak)) !== 0) this.#rest()
    return this.#hasEnded
  }

  /**
   * Call it if envelopes of the turn are omitted before the next one. They may have contained calls, so batches of parallel
   * calls are closed to later ones, and later thoughts do not count as narrative.
   */
  skip(): void {
    this.#decisions.moveOn()
    for (const run of this.record.runs) run.hasCalled = true
  }

  /** Finds a call or proposal of the turn by its id. */
  findCall(id: string): CallInTurn | undefined {
    return this.#calls.get(id)?.data
  }

  /** Whether the turn has a proposal that may expire. */
  get mayExpire(): boolean {
    return this.#decisions.arePending
  }

  /** Expires proposals by the time `ts`, if no envelope of the turn has done so. */
  expire(ts: string): void {
    if (!this.#decisions.arePending) return
    this.#calls.expire(ts)
    this.#rest()
  }

  /** Completes a job that has no runs once its calls have ended. */
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
    if (!(roles & Role.answer)) {
      // A chat of the agent in a free path counts as a thought.
      const { from, context = '' } = envelope
      if (from === record.agent && this.#free.has(contextRoot(context)))
        think(record, context, quote(envelope))
      return
    }
    this.#decisions.moveOn()
    if (record.inputSource === Kind.mcpRequest) return // Only a response answers a request.
    const said = { source: getSource(envelope), text: getMessage(envelope.payload) }
    this.#answer(said, getAnswerState(envelope.payload))
  }

  /** Records the answer, and ends the agent's work in free paths (contexts that no run has opened). */
  #answer(said: Quoted, state: TurnState): void {
    if (state === 'error' && this.record.answer === null) this.record.error = said.text
    answer(this.record, said, state, this.#ts)
    for (const root of this.#free) this.#endRun(root, 'completed')
  }

  /** Begins a run for work in a free path. The answer or a conclusion ends it. */
  #takeUp(envelope: Envelope): void {
    const { context = '' } = (envelope.kind === Kind.systemDecision && getAttempt(envelope)) || envelope
    const root = contextRoot(context)
    addRun(this.record, root, { source: getSource(envelope), text: '' })
    this.#free.add(root)
  }

  #takeBack(roles: number, reason: unknown): void {
    if (!(roles & Role.takeBack) || !this.#isRunning) return
    takeBack(this.record, this.#ts)
    this.#abandon(this.#unanswered('cancelled', reason))
  }

  #onCall(change: CallChange<CallInTurn>, envelope: Envelope): CallInTurn {
    const { call } = change
    switch (change.what) {
      case 'asked':
        return this.#call(call, envelope)
      case 'fulfilled':
        return { ...call.data, isFulfilled: true }
      case 'answered':
        this.#settle(call, { ...measureOutcome(envelope.payload), isAnswer: true })
        break
      case 'cancelled':
        this.#settle(call, this.#unanswered('cancelled', change.reason))
        break
      case 'rejected':
      case 'withdrawn':
        this.#settleCall(call, rejected)
        break
      case 'expired':
        if (!call.data.isFulfilled) this.#settleCall(call, rejected)
    }
    return call.data
  }

  #call(call: Call<unknown>, envelope: Envelope): CallInTurn {
    const { id } = call
    const { parallelGroup: label, context, payload } = envelope
    const toolName = this.#toolIn(payload)
    const request = envelope.allowedBy === undefined ? undefined : envelope
    if (request !== undefined && !isProposal(call))
      for (const each of this.#findProposals(call))
        if (each.data.isDispatched) this.#decisions.accept(each.id, request)
    const isDispatched = (this.#roles & Role.dispatch) !== 0
    if (isDispatched) {
      const parameters = getParameters(payload)
      const [source, rationale] = [getSource(envelope), getRationale(envelope)]
      this.#dispatch({ id, source, toolName, rationale, parameters, request, label }, context)
    }
    return { tool: toolName, request, isDispatched }
  }

  /** Handles a response. In the turn of the responder, the response is the answer. */
  #response(envelope: Envelope, roles: number): void {
    if (!(roles & Role.answer)) return
    const { outcome, text } = readResult(envelope.payload, this.#guard)
    this.#answer({ source: getSource(envelope), text }, outcome === 'error' ? 'error' : 'completed')
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
    addRun(record, context, quote(envelope))
    resumeTurn(record)
  }

  #thought(envelope: Envelope): void {
    const { record } = this
    if (record.agent !== envelope.from) return
    this.#decisions.moveOn()
    think(record, envelope.context, quote(envelope))
  }

  /** Handles a conclusion or a cancel. A cancel also ends the open calls of the context. */
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

  /** Ends a run whose start was pruned or is unreadable. */
  #endUnknown(context: string, state: TurnState, end: CallEnd): void {
    if (state !== 'completed') this.#abandon(end, context)
    endRuns(this.record, state, this.#ts)
    this.#leave(state, end)
  }

  #end(context: string, state: TurnState, end: CallEnd): void {
    this.#contexts.delete(context)
    if (state !== 'completed') this.#abandon(end, context)
    this.#endRun(context, state)
    this.#leave(state, end)
  }

  #endRun(context: string, state: TurnState): void {
    const run = this.record.runs.find((each) => each.context === context)
    if (run?.isOpen) endRun(this.record, run, state, this.#ts)
  }

  /** Ends the calls that are still open, if the end of the last run has ended the turn without completing it. */
  #leave(state: TurnState, end: CallEnd): void {
    if (state !== 'completed' && this.record.state === state) this.#abandon(end)
  }

  /** The end of a call that is not answered because its context or turn has ended [MEUP-11.17]. */
  #unanswered(state: TurnState, reason: unknown): CallEnd {
    if (state !== 'cancelled') return { outcome: 'error', isAnswer: false }
    const cancelled = typeof reason === 'string' ? guarded(reason, this.#guard) : ''
    return { outcome: 'rejected', cancelled, isAnswer: false }
  }

  /** Adds a call that the gateway refused. */
  #decision(envelope: Envelope, roles: number): void {
    const attempt = getAttempt(envelope)
    const payload = envelope.payload as Partial<DecisionPayload>
    if (!(roles & Role.dispatch) || attempt === undefined || !isRefusedCall(payload)) return
    const { attemptedId, attemptedRationale, attemptedArguments } = payload
    // The reason of the refusal may be that the id is already in use: then identify the call by the decision.
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

  /** Ends a request, and the proposals that it fulfils. */
  #settle(call: Call<CallInTurn>, end: CallEnd): void {
    for (const proposal of this.#findProposals(call)) this.#settleCall(proposal, end)
    this.#settleCall(call, end)
  }

  #settleCall({ id, data }: Call<CallInTurn>, end: CallEnd): void {
    if (data.isDispatched) this.#settleOne(id, end)
  }

  #settleOne(id: string, end: CallEnd): void {
    if (this.#decisions.settle(id, end)) this.#hasEnded = true
  }

  /** Ends the open calls; `context`: only those in the context and its nested ones. */
  #abandon(end: CallEnd, context?: string): void {
    for (const { id, outcome, source } of this.record.decisions) {
      const isMeant = context === undefined || isInside(context, source.context)
      if (outcome === null && isMeant) this.#settleOne(id, end)
    }
  }

  get #isRunning(): boolean {
    const { state, runs } = this.record
    return state === 'running' || runs.some(({ isOpen }) => isOpen) || this.#decisions.arePending
  }

  /** Whether a running job has no runs and no calls that are pending. */
  get #isIdle(): boolean {
    const { jobId, state, runs } = this.record
    return jobId !== null && state === 'running' && runs.length === 0 && !this.#decisions.arePending
  }

  #findProposals({ about }: Call<unknown>): Call<CallInTurn>[] {
    return about.flatMap((id) => this.#calls.get(id) ?? []).filter(isProposal)
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
