import { correlations, type Envelope, Kind, namespaceOf } from '@meup/protocol'
import { Bounded } from '../bounded.js'
import { defaultGuard } from '../default-guard.js'
import { getEnding } from '../ending.js'
import { programEndedText } from '../mcp/program-ended.js'
import { type Guard, guarded } from '../redact.js'
import { getAsked, isHandOver, LiveAnswers } from '../space/answers.js'
import { WaitingChats, type WaitingParticipants } from '../space/waiting.js'
import { getMessage, isWithheld } from '../text.js'
import { Assigner } from './assign.js'
import { cancelledText, givenUpText, handedOverText } from './ending-text.js'
import { FoldedTurn } from './fold-turn.js'
import { type Beginning, endingRoles, type Mark, Role } from './marks.js'
import type { ToolDecision } from './record.js'
import { type AnswerPart, WrittenAnswer } from './written-answer.js'

/** A chat that asks, and the participants whose answers count. */
export interface AskedQuestion {
  readonly id: string
  readonly from: string
  /** The asked agent; absent = everyone. */
  readonly agent?: string
}

/** The end of a turn. It may be provisional: see `state`. */
export interface TurnEnd {
  /**
   * The state at the end. `takenBack`: retracted by the asker. `cancelled` and `abandoned`: the agent has given up, but may
   * still resume or answer.
   */
  readonly state: 'completed' | 'takenBack' | 'cancelled' | 'abandoned'
  /** Why the agent gave up, as a sentence for people; `null` = it did not. */
  readonly givenUp: string | null
}

/** A call or a proposal of the turn. */
export interface TurnCall {
  /** Id of the call, unique in the turn even if the call reuses the id of a refused one. */
  readonly id: string
  /** The call as logged: mask its parameters before display. */
  readonly call: ToolDecision
  /** Whether the call is a proposal that is still undecided. */
  readonly isWaiting: boolean
}

/** A decision about a call before its result, or instead of one. Texts are masked. */
export type CallDecision =
  | { readonly state: 'approved'; readonly by: string; readonly requestId: string }
  | { readonly state: 'rejected'; readonly by: string; readonly reason: string; readonly message?: string }
  | { readonly state: 'withdrawn'; readonly reason: string; readonly message?: string }
  /** `refused`: the gateway refused the call. */
  | { readonly state: 'refused' | 'cancelled'; readonly reason: string }
  | { readonly state: 'expired' }
  /** The agent that the call was sent to has stopped. */
  | { readonly state: 'abandoned' }

interface Happened<Type extends string> {
  readonly type: Type
  /** The agent of the turn. */
  readonly agent: string
  readonly envelope: Envelope
}

/** A text in a run. `begun`: the agent has opened the run; `thought`: a later text in it, of any sender, or its end. */
export interface ThoughtEvent extends Happened<'begun' | 'thought'> {
  /** The text to show; `''` = nothing new, because it was already shown as part of an answer. */
  readonly text: string
}

/** A call, a proposal or a result. For a `result`, `envelope` is the response. */
export type CallEvent = Happened<'call' | 'proposal' | 'result'> & TurnCall
export type DecisionEvent = Happened<'decision'> & TurnCall & CallDecision
/** A part of the answer. `delta`: a further piece; `answer`: the answer is complete, with the part that was not shown yet. */
export type AnswerEvent = Happened<'delta' | 'answer'> & AnswerPart
export type EndEvent = Happened<'ended'> & TurnEnd
/** The agent handed the question over: from now on, the stream follows the turns of the new agents. */
export type HandOverEvent = Happened<'handedOver'> & { readonly to: readonly string[]; readonly text: string }

/** Events for a reader that follows a turn, in the order of the log. */
export type TurnEvent = ThoughtEvent | CallEvent | DecisionEvent | AnswerEvent | HandOverEvent | EndEvent

interface StreamOptions {
  /** Masks tool names and reasons; default: the rules of @meup/safety. */
  readonly guard?: Guard
  /** Messages of the answer that the reader has already shown, if this stream continues where an earlier one ended. */
  readonly written?: readonly string[]
  /**
   * Maximum messages of one answer: an agent that starts its answer over begins a new one. After the last, the answer is not
   * shown until it is complete.
   */
  readonly maxMessages?: number
  /** The space's participants. If given, and presence is applied too, the turn also ends with the asked agent's program. */
  readonly participants?: WaitingParticipants
}

/** Limits: number of agents that are followed if everyone is asked, and of open calls of each agent. */
const max = { agents: 64, calls: 1000 }

/**
 * Follows the work on one question. Apply the readable envelopes in log order, including deltas; each call returns the new
 * events. The log may begin after the question.
 */
export class TurnStream {
  readonly #question: AskedQuestion
  readonly #guard: Guard
  readonly #maxMessages: number
  readonly #assigner = new Assigner('')
  readonly #drafts = new LiveAnswers()
  readonly #turns = new Bounded<AgentTurn>(max.agents)
  /** Seqs of the question and of the chats that hand it over to other agents; 0 for a question that has not arrived. */
  readonly #asked = new Set([0])
  /** Ids of the question and of the chats that hand it over. */
  readonly #ids: Set<string>
  /** Agents whose answer counts; `undefined` = everyone. */
  #agents: readonly string[] | undefined
  readonly #waiting: WaitingChats | undefined

  constructor(question: AskedQuestion, options: StreamOptions = {}) {
    const { guard = defaultGuard, written = [], maxMessages = 16, participants } = options
    this.#question = question
    this.#guard = guard
    this.#maxMessages = maxMessages
    this.#ids = new Set([question.id])
    this.#agents = question.agent === undefined ? undefined : [question.agent]
    this.#assigner.expect(question)
    const isFollowed = ({ id }: Envelope): boolean => id === question.id
    this.#waiting = participants && new WaitingChats(participants, { isFollowed, maxChats: 1 })
    if (question.agent === undefined) return
    const turn = this.#turnOf(question.agent)
    for (const text of written) turn.written.grow(text, written.length)
  }

  /**
   * The end of the turn of the asked agent or, after it has handed the question over, of the new agent; `undefined` = not
   * ended, or not exactly one agent is asked.
   */
  get end(): TurnEnd | undefined {
    const [agent = '', another] = this.#agents ?? []
    return another === undefined ? this.#turns.get(agent)?.end : undefined
  }

  /** Lists the calls and proposals that have not ended. */
  get open(): TurnCall[] {
    return [...this.#turns.values()].flatMap(({ open }) => [...open.values()])
  }

  apply(envelope: Envelope): TurnEvent[] {
    const { id, from } = this.#question
    if (envelope.kind === Kind.chatDelta) return this.#onDelta(envelope)
    this.#drafts.apply(envelope)
    if (envelope.id === id) this.#asked.add(envelope.seq ?? 0)
    const { begun, marks } = this.#assigner.assign(envelope)
    for (const beginning of begun) {
      const isOurs = this.#asked.has(beginning.trigger ?? -1) && this.#isFollowed(beginning.agent)
      if (isOurs) this.#turnOf(beginning.agent).begin(beginning)
    }
    this.#onHandOver(envelope)
    const isTakenBack =
      envelope.kind === Kind.chatCancel && envelope.from === from && correlations(envelope).includes(id)
    const events = [...this.#turns.values()].flatMap((turn) => turn.apply(envelope, marks, isTakenBack))
    const lost = this.#waiting?.apply(envelope) ?? []
    return [...events, ...lost.flatMap(({ agent }) => this.#turnOf(agent).endProgram(envelope))]
  }

  #isFollowed(agent: string): boolean {
    return this.#agents?.includes(agent) ?? true
  }

  /** Follows the new agents, if an asked agent hands the question over. */
  #onHandOver(envelope: Envelope): void {
    const { id, seq = 0, from, kind } = envelope
    const isOurs = kind === Kind.chat && isHandOver(envelope) && this.#isFollowed(from)
    if (!isOurs || !correlations(envelope).some((each) => this.#ids.has(each))) return
    this.#ids.add(id)
    this.#asked.add(seq)
    const asked = getAsked(envelope).filter((agent) => agent !== from)
    const { written } = this.#turnOf(from)
    for (const agent of asked) this.#turns.set(agent, new AgentTurn(agent, this.#guard, written))
    this.#agents = this.#agents && [...this.#agents.filter((agent) => agent !== from), ...asked]
  }

  #onDelta(envelope: Envelope): TurnEvent[] {
    const { from, correlationId } = envelope
    const isOurs =
      this.#ids.has(String(correlationId)) && this.#isFollowed(from) && from !== this.#question.from
    if (!isOurs || !this.#drafts.apply(envelope)) return []
    const draft = this.#drafts.list().find((each) => each.from === from)
    const part = draft && this.#turnOf(from).written.grow(draft.text, this.#maxMessages)
    return part === undefined ? [] : [{ type: 'delta', agent: from, envelope, ...part }]
  }

  #turnOf(agent: string): AgentTurn {
    const turn = this.#turns.get(agent) ?? new AgentTurn(agent, this.#guard)
    this.#turns.set(agent, turn)
    return turn
  }
}

/** One agent's turn about the question. */
class AgentTurn {
  readonly written: WrittenAnswer
  readonly open = new Bounded<TurnCall>(max.calls)
  end: TurnEnd | undefined
  /** How the turn ended when the agent's program ended. Counts only while the log gives the turn no other end. */
  #programEnd: TurnEnd | undefined
  /** Whether the agent has handed the question over to others. */
  #hasHandedOver = false
  readonly #agent: string
  readonly #guard: Guard
  #turn: FoldedTurn | undefined
  /** The number of the turn in the space, from `Assigner`. */
  #number = 0
  /** The number of the last call in the turn for which there was an event. */
  #last = -1

  /** `written`: the answer as far as it was shown, if another agent began it and then handed the question over. */
  constructor(agent: string, guard: Guard, written = new WrittenAnswer()) {
    this.written = written
    this.#agent = agent
    this.#guard = guard
  }

  begin(beginning: Beginning): void {
    if (this.#turn !== undefined) return
    this.#number = beginning.turn
    this.#turn = new FoldedTurn(beginning, { space: '', epoch: '', guard: this.#guard })
  }

  apply(envelope: Envelope, marks: readonly Mark[], isTakenBack: boolean): TurnEvent[] {
    const here = marks.filter(({ beginning }) => beginning.turn === this.#number)
    const roles = here.reduce((all, mark) => all | mark.roles, 0)
    if (roles === 0) return isTakenBack ? this.#onEnd(envelope, true) : []
    this.#turn?.apply(envelope, roles)
    return [
      ...this.#onReasoning(envelope, roles),
      ...(roles & callRoles ? this.#onCalls(envelope, roles) : []),
      ...this.#onAnswer(envelope),
      ...this.#onEnd(envelope, isTakenBack),
    ]
  }

  /** Ends the turn unless it has ended: no program of the agent will continue it. */
  endProgram(envelope: Envelope): TurnEvent[] {
    if (this.end !== undefined) return []
    this.#programEnd = { state: 'abandoned', givenUp: programEndedText(this.#agent) }
    this.end = this.#programEnd
    return [{ type: 'ended', agent: this.#agent, envelope, ...this.end }]
  }

  #onReasoning(envelope: Envelope, roles: number): TurnEvent[] {
    const { kind, from, payload } = envelope
    if (namespaceOf(kind) !== namespaceOf(Kind.reasoningThought)) return []
    const isShown = kind !== Kind.reasoningCancel && !isWithheld(payload)
    const text = isShown ? getMessage(payload).trim() : ''
    const isBegun = kind === Kind.reasoningStart && from === this.#agent && (roles & Role.open) !== 0
    const type = isBegun ? 'begun' : 'thought'
    return [{ type, agent: this.#agent, envelope, text: this.written.has(text) ? '' : text }]
  }

  #onCalls(envelope: Envelope, roles: number): TurnEvent[] {
    const where = { agent: this.#agent, envelope }
    const events = this.#findNew().map((call): TurnEvent => {
      this.open.set(call.id, call)
      return { type: call.isWaiting ? 'proposal' : 'call', ...where, ...call }
    })
    for (const id of roles & Role.fulfil ? correlations(envelope) : []) {
      const open = this.open.get(id)
      if (open === undefined || !isProposal(open.call)) continue
      this.open.set(id, { ...open, isWaiting: false })
      const approved = { state: 'approved', by: envelope.from, requestId: envelope.id } as const
      events.push({ type: 'decision', ...where, ...open, ...approved })
    }
    for (const open of roles & endingRoles ? [...this.open.values()] : []) {
      const { id, call } = open
      if (call.outcome === null) continue
      this.open.delete(id)
      if (call.isAnswered) events.push({ type: 'result', ...where, ...open })
      else events.push({ type: 'decision', ...where, ...open, ...this.#decide(call, envelope) })
    }
    return events
  }

  /** Lists the calls that were added since this method was last called. */
  #findNew(): TurnCall[] {
    const { decisions = [] } = this.#turn?.record ?? {}
    const first = decisions.findLastIndex(({ number }) => number <= this.#last) + 1
    this.#last = decisions.at(-1)?.number ?? this.#last
    return decisions.slice(first).map((call) => {
      const { kind, id } = call.source
      return { id: kind === Kind.systemDecision ? id : call.id, call, isWaiting: isProposal(call) }
    })
  }

  /**
   * The reason why a call ended without a result. `envelope` may be about another call: a proposal may have expired by its
   * time.
   */
  #decide({ id, source, outcome, cancelled }: ToolDecision, envelope: Envelope): CallDecision {
    const { kind, from: by, payload } = envelope
    const text = (said: unknown): string => guarded(String(said), this.#guard)
    const { reason, message } = payload
    if (source.id === envelope.id) return { state: 'refused', reason: String(message) }
    if (correlations(envelope).includes(id)) {
      const why = { reason: text(reason), ...(message !== undefined && { message: text(message) }) }
      if (kind === Kind.mcpReject) return { state: 'rejected', by, ...why }
      if (kind === Kind.mcpWithdraw) return { state: 'withdrawn', ...why }
    }
    if (cancelled !== null) return { state: 'cancelled', reason: cancelledText(cancelled) }
    const gone = withdrawals[kind]
    if (gone !== undefined) return { state: 'withdrawn', reason: gone }
    return { state: outcome === 'rejected' ? 'expired' : 'abandoned' }
  }

  #onAnswer(envelope: Envelope): TurnEvent[] {
    const { answer = null } = this.#turn?.record ?? {}
    if (answer?.source.id !== envelope.id) return []
    if (isHandOver(envelope)) {
      this.#hasHandedOver = true
      const [agent, to] = [this.#agent, getAsked(envelope)]
      return [{ type: 'handedOver', agent, envelope, to, text: handedOverText(agent, to) }]
    }
    return [{ type: 'answer', agent: this.#agent, envelope, ...this.written.complete(answer.text ?? '') }]
  }

  #onEnd(envelope: Envelope, isTakenBack: boolean): TurnEvent[] {
    const before = this.end
    this.end = this.#readEnd(envelope, isTakenBack)
    if (this.end === undefined || this.end.state === before?.state) return []
    return [{ type: 'ended', agent: this.#agent, envelope, ...this.end }]
  }

  /** Reads the end of the turn; `undefined` if it is open, or open again because the agent has resumed it. */
  #readEnd(envelope: Envelope, isTakenBack: boolean): TurnEnd | undefined {
    const before = this.end
    if (before?.givenUp === null || this.#hasHandedOver) return before
    const { answer = null, state } = this.#turn?.record ?? {}
    if (answer !== null) return { state: 'completed', givenUp: null }
    if (isTakenBack) return { state: 'takenBack', givenUp: null }
    if (state !== 'cancelled' && state !== 'abandoned') return this.#programEnd
    return before ?? { state, givenUp: givenUpText(this.#agent, getEnding(envelope)[1]) }
  }
}

/** Roles of envelopes that begin, approve or end calls. */
const callRoles = endingRoles | Role.dispatch | Role.fulfil

/** Texts for the gateway's reasons of closing a proposal. */
const withdrawals: Readonly<Record<string, string>> = {
  [Kind.spaceKick]: 'kicked',
  [Kind.systemSpace]: 'erased',
}

const isProposal = ({ source }: ToolDecision): boolean => source.kind === Kind.mcpProposal
