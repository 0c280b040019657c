import { correlations, type Envelope, Kind } from '@meup/protocol'
import { Bounded } from '../bounded.js'
import { Deadlines, type DeadlinesSnapshot } from '../deadlines.js'
import { guardedToolName, isNotification, parametersOf } from '../mcp/call.js'
import { type Guard, guarded, type Redacted, redact } from '../mcp/redact.js'
import { type Result, readResult } from '../mcp/result.js'
import { takenBack } from '../mcp/taken-back.js'
import { inlineJson } from '../render/inline-json.js'
import { type Source, sourceOf } from '../source.js'
import { head, rationaleOf } from '../text.js'
import { dispatch, type End, longestResult, moveOn, settle } from './decisions.js'
import type { Ledger } from './ledger.js'
import { answer } from './outcome.js'
import type { TurnRecord } from './record.js'
import { narrate } from './runs.js'
import { takeTurnsBack } from './speech.js'

/** A request or a proposal that may yet be answered. */
interface Call {
  readonly id: string
  readonly from: string
  readonly tool: string
  readonly isProposal: boolean
  readonly jsonRpcId: string | null
  /** The turn that its step belongs to. */
  readonly turn: string
  /** The decisions that its response ends, and their turns. */
  readonly settles: readonly { readonly turn: string; readonly id: string }[]
}

export interface CallsSnapshot {
  readonly calls: readonly (readonly [id: string, call: Call])[]
  readonly deadlines: DeadlinesSnapshot
}

/** Characters of a request's parameters where it stands for what was asked. */
const longestQuestion = 200

/** MCP requests and proposals, and what comes of them. */
export class Calls {
  readonly #ledger: Ledger
  readonly #guard: Guard
  readonly #calls = new Bounded<Call>(20_000)
  /** Of proposals that nobody has fulfilled. */
  readonly #deadlines = new Deadlines()

  constructor(ledger: Ledger, guard: Guard) {
    this.#ledger = ledger
    this.#guard = guard
  }

  snapshot(): CallsSnapshot {
    return { calls: this.#calls.snapshot(), deadlines: this.#deadlines.snapshot() }
  }

  restore({ calls, deadlines }: CallsSnapshot): void {
    this.#calls.restore(calls)
    this.#deadlines.restore(deadlines)
  }

  /** What fulfils a proposal belongs to the proposer's turn, unless it has a place of its own. */
  request(envelope: Envelope): void {
    const { id, from, payload } = envelope
    if (isNotification(payload)) {
      this.#cancel(envelope)
      return
    }
    const tool = this.#toolIn(payload)
    const parameters = redact(parametersOf(payload), this.#guard)
    this.#ledger.offer(envelope, `${tool} ${inlineJson(parameters.value, longestQuestion)}`)
    const proposals = this.#answered(envelope).filter(({ isProposal }) => isProposal)
    for (const proposal of proposals) this.#deadlines.delete(proposal.id)
    const turn = this.#ledger.turnOf(envelope)
    const home = turn ?? this.#ledger.get(proposals[0]?.turn) ?? this.#ledger.beginJob(from, envelope)
    const isOwn = home.agent === from && (turn !== undefined || home.jobId === id)
    const settles = proposals.flatMap((proposal) => proposal.settles)
    if (isOwn) settles.push(this.#dispatch(home, envelope, parameters))
    this.#remember(envelope, { turn: home.id, settles, isProposal: false })
  }

  proposal(envelope: Envelope): void {
    const { id, from, payload } = envelope
    const turn = this.#ledger.turnOf(envelope) ?? this.#ledger.beginJob(from, envelope)
    const parameters = redact(parametersOf(payload), this.#guard)
    const settles = turn.agent === from ? [this.#dispatch(turn, envelope, parameters)] : []
    const content = `Awaiting human approval for ${this.#toolIn(payload)}`
    this.#ledger.addStep(turn, envelope, { phase: 'waiting_approval', content, linked_approval_request: id })
    this.#remember(envelope, { turn: turn.id, settles, isProposal: true })
    this.#deadlines.set(id, payload.expiresAt)
  }

  /** Settles what it answers, and is itself the answer of the responder's turn. */
  response(envelope: Envelope): void {
    const result = readResult(envelope.payload, this.#guard)
    for (const call of this.#answered(envelope)) {
      this.#settle(call, { ...result, source: sourceOf(envelope), isAnswer: true })
      const home = this.#ledger.get(call.turn) ?? this.#ledger.beginJob(call.from, envelope)
      this.#ledger.addStep(home, envelope, stepOf(call, result))
    }
    const turn = this.#ledger.turnAnswering(envelope)
    if (turn?.inputSource !== Kind.mcpRequest) return
    const state = result.outcome === 'error' ? 'error' : 'completed'
    answer(turn, { source: sourceOf(envelope), text: result.text }, state, this.#ledger.now)
    this.#ledger.touch(turn)
  }

  /** A proposal is rejected, or withdrawn. */
  refusal(envelope: Envelope): void {
    const reason = guarded(String(envelope.payload.reason), this.#guard)
    for (const call of this.#answered(envelope))
      if (call.isProposal) this.#refuse(call, reason, sourceOf(envelope))
  }

  /** Nobody may fulfil any more what has expired by now, in milliseconds. */
  expire(now: number): void {
    for (const id of this.#deadlines.due(now)) {
      const call = this.#calls.get(id)
      if (call !== undefined) this.#refuse(call, 'expired', null)
    }
  }

  #answered(envelope: Envelope): Call[] {
    return correlations(envelope).flatMap((id) => this.#calls.get(id) ?? [])
  }

  #dispatch(turn: TurnRecord, envelope: Envelope, { value: parameters, size }: Redacted) {
    const { id, parallelGroup: label, context, payload } = envelope
    const [source, toolName, rationale] = [sourceOf(envelope), this.#toolIn(payload), rationaleOf(envelope)]
    moveOn(turn, label)
    narrate(turn, context)
    dispatch(turn, { id, source, toolName, rationale, parameters, size, label })
    this.#ledger.touch(turn)
    return { turn: turn.id, id }
  }

  #remember(envelope: Envelope, call: Pick<Call, 'turn' | 'settles' | 'isProposal'>): void {
    const { id, from, payload } = envelope
    const jsonRpcId = payload.id === undefined || payload.id === null ? null : String(payload.id)
    this.#calls.set(id, { id, from, tool: this.#toolIn(payload), jsonRpcId, ...call })
  }

  #toolIn(payload: Envelope['payload']): string {
    return guardedToolName(payload, this.#guard)
  }

  #refuse(proposal: Call, text: string, source: Source | null): void {
    this.#settle(proposal, { source, outcome: 'rejected', text, isAnswer: false })
  }

  #settle({ settles }: Call, end: Omit<End, 'seq'>): void {
    const { seq } = this.#ledger
    for (const { turn: turnId, id } of settles) {
      const turn = this.#ledger.get(turnId)
      if (turn === undefined) continue
      this.#ledger.touch(turn)
      if (settle(turn, id, { seq, ...end })) this.#ledger.update(turn)
    }
  }

  #cancel(envelope: Envelope): void {
    const named = takenBack(envelope, this.#calls, (call) => call.from)
    if (named === undefined) return
    const { key, call, reason } = named
    this.#settle(call, { source: sourceOf(envelope), outcome: 'error', text: 'cancelled', isAnswer: false })
    takeTurnsBack(this.#ledger, [key], envelope.from, reason)
  }
}

function stepOf({ id, tool }: Call, { outcome, text }: Result) {
  const phase = outcome === 'error' ? 'error' : 'execute'
  return { phase, content: `${tool} -> ${head(text, longestResult)}`, linked_tool_call: id } as const
}
