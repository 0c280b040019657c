import type { SessionUpdate, ToolCallContent, ToolCallStatus, ToolKind } from '@agentclientprotocol/sdk'
import type { AnyEnvelope } from '@meup/agent-sdk'
import {
  AskedTurn,
  cancelledText,
  cut,
  defaultGuard,
  getMessage,
  givenUpText,
  isObject,
  isWithheld,
  LiveAnswers,
  printable,
  type Question,
  readResult,
  remainingAnswer,
  type ToolDecision,
  type TurnOptions,
  type TurnRecord,
} from '@meup/folds'
import { correlations, Kind, namespaceOf } from '@meup/protocol'
import { chunk, readDiffs, readPlan, textContent, thoughtChunk } from './content.js'
import { describeCall, formatSettlement, readKind, type ToolKinds } from './tool-calls.js'

/** How a turn ended: `given up` by its agent, from which an answer may still come. */
export type TurnEnd = 'answered' | 'cancelled' | 'given up'

/** Characters of a tool result. */
const maxResultChars = 65_536

/**
 * One turn of an agent as session updates of ACP, live or from the log: apply the envelopes that this participant may read, in log
 * order and from the question on.
 */
export class TurnUpdates {
  readonly #question: Question
  readonly #turn: AskedTurn
  readonly #kinds: ToolKinds
  readonly #drafts = new LiveAnswers()
  readonly #answer: AnswerText
  /** What is shown of the calls, by their ids. */
  readonly #calls = new Map<string, ToolCallContent[]>()
  /** What they are, where they say so themselves. */
  readonly #ownKinds = new Map<string, ToolKind>()
  readonly #approved = new Set<string>()
  readonly #settled = new Set<string>()

  constructor(question: Question, options: TurnOptions, kinds: ToolKinds) {
    this.#question = question
    this.#turn = new AskedTurn(question, options)
    this.#kinds = kinds
    this.#answer = new AnswerText(question.id)
  }

  /** `undefined` while it goes on. */
  get end(): TurnEnd | undefined {
    if (this.#turn.isTakenBack) return 'cancelled'
    const { answer, state } = this.#turn.record ?? { answer: null, state: 'running' }
    if (answer !== null) return 'answered'
    return state === 'cancelled' || state === 'abandoned' ? 'given up' : undefined
  }

  /** Proposals of the turn that nobody has decided. */
  get proposals(): string[] {
    return this.#open.filter((call) => this.#isWaiting(call)).map(({ id }) => id)
  }

  apply(envelope: AnyEnvelope): SessionUpdate[] {
    const { kind } = envelope
    if (kind === Kind.chatDelta) return this.#onDelta(envelope)
    if (kind === Kind.chatAcknowledge) return this.#onAcknowledge(envelope)
    const isOurs = this.#turn.apply({ ...envelope })
    const { record } = this.#turn
    if (!isOurs || record === undefined) return []
    return [...this.#onThought(envelope), ...this.#onCall(record, envelope), ...this.#onAnswer(envelope)]
  }

  /** The last updates, where no more of the turn is read. What waits for a decision goes on waiting. */
  close(): SessionUpdate[] {
    const left = this.#open.filter((call) => !this.#isWaiting(call))
    const given = givenUpText(this.#question.agent, this.#turn.reason)
    return [
      ...left.map((call) => this.#settle(call, 'failed', 'there was no result when the turn ended')),
      ...(this.end === 'given up' ? this.#answer.complete(given) : []),
    ]
  }

  get #open(): ToolDecision[] {
    const { decisions = [] } = this.#turn.record ?? {}
    return decisions.filter(({ id }) => this.#calls.has(id) && !this.#settled.has(id))
  }

  #isWaiting(call: ToolDecision): boolean {
    return isProposal(call) && !this.#approved.has(call.id)
  }

  #onDelta({ from, correlationId, ...delta }: AnyEnvelope): SessionUpdate[] {
    const { id, agent } = this.#question
    if (from !== agent || correlationId !== id) return []
    if (!this.#drafts.apply({ ...delta, from, correlationId })) return []
    return this.#drafts.list().flatMap(({ text }) => this.#answer.grow(printable(text)))
  }

  /** Such as `queued`. */
  #onAcknowledge(envelope: AnyEnvelope): SessionUpdate[] {
    const { id, agent } = this.#question
    const { status } = envelope.payload as { readonly status?: unknown }
    const isOurs = envelope.from === agent && correlations(envelope).includes(id)
    return isOurs && typeof status === 'string' ? [thoughtChunk(`${agent}: ${status}`)] : []
  }

  /** Also what others think in the runs of the turn, with their names. */
  #onThought({ kind, from, payload }: AnyEnvelope): SessionUpdate[] {
    if (namespaceOf(kind) !== namespaceOf(Kind.reasoningThought) || kind === Kind.reasoningCancel) return []
    // The editor has one plan: what others plan in the run is a thought of theirs.
    const plan = from === this.#question.agent ? readPlan({ ...payload }) : undefined
    if (plan !== undefined) return [{ sessionUpdate: 'plan', entries: plan }]
    const text = isWithheld({ ...payload }) ? '' : getMessage({ ...payload }).trim()
    if (text === '' || this.#answer.has(text)) return []
    return [thoughtChunk(from === this.#question.agent ? text : `${from}: ${text}`)]
  }

  #onCall({ decisions }: TurnRecord, envelope: AnyEnvelope): SessionUpdate[] {
    return decisions.flatMap((call) => {
      if (this.#settled.has(call.id)) return []
      const isNew = !this.#calls.has(call.id)
      return [
        ...(isNew ? [this.#begin(call, envelope)] : []),
        ...this.#onApproval(call, envelope),
        ...(call.outcome === null ? [] : [this.#finish(call, envelope)]),
      ]
    })
  }

  #begin(call: ToolDecision, { payload }: AnyEnvelope): SessionUpdate {
    const { id, source, toolName: tool, rationale, parameters } = call
    const isRefused = source.kind === Kind.systemDecision
    const { content, ...shown } = describeCall({
      ...{ id, tool, rationale, parameters },
      ...(isProposal(call) && { proposer: source.from }),
      ...(!isRefused && { to: source.to }),
    })
    this.#calls.set(id, content)
    const kind = readKind({ ...payload })
    if (kind !== undefined) this.#ownKinds.set(id, kind)
    const status = isProposal(call) ? 'pending' : 'in_progress'
    return { sessionUpdate: 'tool_call', ...shown, ...this.#kindOf(call), status, content: [...content] }
  }

  /** Somebody makes the proposed request, and so approves it. */
  #onApproval(call: ToolDecision, envelope: AnyEnvelope): SessionUpdate[] {
    const isApproval = envelope.kind === Kind.mcpRequest && correlations(envelope).includes(call.id)
    if (!isApproval) return []
    this.#approved.add(call.id)
    const approved = { state: 'approved', by: envelope.from, requestId: envelope.id } as const
    return [this.#update(call, 'in_progress', [textContent(formatSettlement(approved))])]
  }

  #finish(call: ToolDecision, { kind, from, payload }: AnyEnvelope): SessionUpdate {
    if (call.isAnswered) return this.#showResult(call, { ...payload })
    if (kind === Kind.mcpReject)
      return this.#settle(call, 'failed', formatSettlement({ state: 'rejected', by: from, ...payload }))
    if (kind === Kind.mcpWithdraw)
      return this.#settle(call, 'failed', formatSettlement({ state: 'withdrawn', ...payload }))
    if (kind === Kind.systemDecision) return this.#settle(call, 'failed', payload.message)
    if (call.cancelled !== null) return this.#settle(call, 'failed', cancelledText(call.cancelled))
    const isExpired = call.outcome === 'rejected'
    return this.#settle(call, 'failed', isExpired ? formatSettlement({ state: 'expired' }) : 'abandoned')
  }

  #showResult(call: ToolDecision, payload: Readonly<Record<string, unknown>>): SessionUpdate {
    const { structuredContent, ...result } = isObject(payload.result) ? payload.result : {}
    const diffs = readDiffs(structuredContent)
    // What is shown as changes is not shown as JSON as well.
    const { outcome, text } = readResult(diffs.length > 0 ? { ...payload, result } : payload, defaultGuard)
    const status = outcome === 'error' ? 'failed' : 'completed'
    return this.#settle(call, status, cut(text, maxResultChars), diffs)
  }

  #settle(
    call: ToolDecision,
    status: ToolCallStatus,
    text: string,
    more: ToolCallContent[] = [],
  ): SessionUpdate {
    this.#settled.add(call.id)
    return this.#update(call, status, [...more, ...(text === '' ? [] : [textContent(text)])])
  }

  /** An update replaces the content that was sent. */
  #update(call: ToolDecision, status: ToolCallStatus, more: readonly ToolCallContent[]): SessionUpdate {
    const content = this.#calls.get(call.id) ?? []
    content.push(...more)
    const toolCallId = call.id
    return {
      sessionUpdate: 'tool_call_update',
      ...{ toolCallId, status },
      ...this.#kindOf(call),
      content: [...content],
    }
  }

  #kindOf({ id, source, toolName }: ToolDecision): { kind: ToolKind } {
    const [participant] = source.kind === Kind.systemDecision ? [] : (source.to ?? [])
    const known = participant === undefined ? 'other' : this.#kinds.get(participant, toolName)
    return { kind: this.#ownKinds.get(id) ?? known }
  }

  #onAnswer({ kind, id }: AnyEnvelope): SessionUpdate[] {
    const answer = this.#turn.record?.answer
    const isHere = kind === Kind.chat && answer?.source.id === id
    return isHere ? this.#answer.complete(printable(answer.text ?? '')) : []
  }
}

const isProposal = ({ source }: ToolDecision): boolean => source.kind === Kind.mcpProposal

/** An answer that starts over more often is shown when it is there. */
const maxMessages = 16

/**
 * An answer as it is written, as chunks of messages. A client cannot be made to take anything back: text that the answer does not
 * begin with stays, as a message of its own, as what an agent says before it calls a tool does in ACP. No text is sent twice.
 */
export class AnswerText {
  readonly #question: string
  /** Texts of the messages; the last one may grow. */
  readonly #texts: string[] = []

  constructor(question: string) {
    this.#question = question
  }

  /** What is written so far has become this. */
  grow(text: string): SessionUpdate[] {
    const shown = this.#texts.at(-1) ?? ''
    if (shown.startsWith(text)) return []
    if (shown !== '' && text.startsWith(shown)) return this.#extend(text.slice(shown.length))
    return this.#texts.length < maxMessages ? this.#begin(text) : []
  }

  /** The answer is this. */
  complete(text: string): SessionUpdate[] {
    const shown = this.#texts.at(-1)
    const rest = shown === undefined ? undefined : remainingAnswer(text, shown)
    if (rest === undefined) return text === '' ? [] : this.#begin(text)
    return rest === '' ? [] : this.#extend(rest)
  }

  /** Whether this text was sent: a thought is, if it was written as an answer at first. */
  has(text: string): boolean {
    return this.#texts.some((sent) => sent.trim() === text)
  }

  #begin(text: string): SessionUpdate[] {
    // Clients without ids of messages join them.
    const gap = this.#texts.length === 0 ? '' : '\n\n'
    this.#texts.push(text)
    return [this.#chunk(`${gap}${text}`)]
  }

  #extend(text: string): SessionUpdate[] {
    this.#texts.push(`${this.#texts.pop() ?? ''}${text}`)
    return [this.#chunk(text)]
  }

  #chunk(text: string): SessionUpdate {
    return chunk('agent_message_chunk', text, `${this.#question}-${this.#texts.length}`)
  }
}
