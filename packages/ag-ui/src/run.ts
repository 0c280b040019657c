import { type AGUIEvent, EventType, type Interrupt, type RunFinishedOutcome } from '@ag-ui/core'
import {
  AskedTurn,
  cancelledText,
  createProposalFoldWith,
  cut,
  type ExactText,
  type Guard,
  getMessage,
  givenUpText,
  guarded,
  isWithheld,
  LiveAnswers,
  type Outcome,
  type ProposalFold,
  type ProposalView,
  proposerEndedText,
  type Question,
  quoteReason,
  quoteToolName,
  readResult,
  redact,
  type ToolDecision,
  type TurnRecord,
} from '@meup/folds'
import { type Envelope, isThought, Kind } from '@meup/protocol'
import { AnswerMessage } from './answer-message.js'
import { maxAnswers } from './input.js'

interface RunOptions extends RunName {
  readonly space: string
  /** Id of the log. */
  readonly epoch: string
  readonly guard: Guard
  readonly question: Question
  /** Seq up to which an earlier run has sent events. */
  readonly after: number
  /** Messages and calls that the client has: their texts, by id. */
  readonly known: ReadonlyMap<string, string>
  /** Milliseconds since the epoch. */
  now(): number
  /** Whether the client may do what is proposed here. */
  mayApprove(proposal: Envelope): boolean
  mayReject(proposal: Envelope): boolean
  /** The text that the user must see to approve a proposal; `undefined` = the proposal can no longer be read. */
  readExactText(proposal: string): ExactText | undefined
}

/** Characters of a tool result. */
const maxResultChars = 8192

/**
 * One turn of an agent as the events of an AG-UI run. Apply the envelopes that its reader may read, in log order and from the
 * question on; each returns its events. No event follows the one that ends the run.
 */
export class Run {
  readonly #options: RunOptions
  readonly #turn: AskedTurn
  readonly #proposals: ProposalFold
  /** Proposals that the client may approve, and whether it may reject them. */
  readonly #decidable = new Map<string, { readonly mayReject: boolean }>()
  /** Calls that were sent, and calls whose result was. */
  readonly #called = new Set<string>()
  readonly #settled = new Set<string>()
  /** What is written of the answer, and as what it is sent. */
  readonly #drafts = new LiveAnswers()
  readonly #message: AnswerMessage
  #isOver = false

  constructor(options: RunOptions) {
    this.#options = options
    this.#turn = new AskedTurn(options.question, options)
    this.#proposals = createProposalFoldWith(options.guard, () => options.question.from)
    const { known, question } = options
    this.#message = new AnswerMessage({ known, question: question.id, agent: question.agent })
  }

  get isOver(): boolean {
    return this.#isOver
  }

  begin(): AGUIEvent[] {
    return [startedEvent(this.#options)]
  }

  apply(envelope: Envelope): AGUIEvent[] {
    if (this.#isOver) return []
    // Before the texts of a long proposal are redacted, which may cost all that an envelope may.
    if (envelope.kind === Kind.mcpProposal && this.#options.mayApprove(envelope)) {
      this.#decidable.set(envelope.id, { mayReject: this.#options.mayReject(envelope) })
    }
    this.#proposals.apply(envelope)
    const hasChanged = this.#turn.apply(envelope)
    if (this.#turn.isTakenBack) return this.#finish({ type: 'cancelled' })
    const turn = this.#turn.record
    if (turn === undefined || !hasChanged) return []
    const events = [...this.#thought(envelope), ...this.#calls(turn, envelope)]
    return [...(events.length > 0 ? this.#message.close() : []), ...events, ...this.#answer(turn)]
  }

  /** Takes a delta of the answer, which is not in the log. */
  write(delta: Envelope): AGUIEvent[] {
    const { question } = this.#options
    const isOurs = delta.from === question.agent && delta.correlationId === question.id
    if (this.#isOver || !isOurs || !this.#drafts.apply(delta)) return []
    const [draft] = this.#drafts.list()
    return draft === undefined ? [] : this.#message.grow(draft.text)
  }

  /** Call when the log has no more for now. Returns the end of the turn, or what it waits for. */
  pause(): AGUIEvent[] {
    const turn = this.#turn.record
    if (this.#isOver || turn === undefined) return []
    const { state, agent } = turn
    const { reason } = this.#turn
    if (state === 'cancelled' || state === 'abandoned') {
      return this.fail(state, givenUpText(agent, reason))
    }
    const ours = new Set(turn.decisions.map(({ id }) => id))
    const asked = this.#proposals
      .open(this.#options.now())
      .filter(({ id, fulfilments }) => ours.has(id) && fulfilments.length === 0)
    const interrupts: Interrupt[] = []
    for (const proposal of asked) {
      if (interrupts.length === maxAnswers) break // The next run has the others.
      interrupts.push(...this.#interrupt(proposal))
    }
    return interrupts.length === 0 ? [] : this.#finish({ type: 'interrupt', interrupts })
  }

  /** None if the client could not decide the proposal: others do. What it does not see whole it can only reject. */
  #interrupt(proposal: ProposalView): Interrupt[] {
    const { id } = proposal
    const rights = this.#decidable.get(id)
    if (rights === undefined) return []
    const exact = this.#options.readExactText(id)
    if (exact !== undefined && (exact.isWhole || rights.mayReject)) return [interruptFor(proposal, exact)]
    this.#decidable.delete(id)
    return []
  }

  /** Ends the run with an error; the turn may go on. */
  fail(code: string, message: string): AGUIEvent[] {
    if (this.#isOver) return []
    this.#isOver = true
    return [...this.#message.close(), errorEvent(code, message)]
  }

  #finish(outcome: RunFinishedOutcome): AGUIEvent[] {
    this.#isOver = true
    return [...this.#message.close(), finishedEvent(this.#options, outcome)]
  }

  /** Whether the client does not have it yet. */
  #isNew(seq: number, id: string): boolean {
    return seq > this.#options.after && !this.#options.known.has(id)
  }

  #thought({ id, kind, payload, seq = 0 }: Envelope): AGUIEvent[] {
    const isSaid = kind === Kind.reasoningStart || isThought(kind)
    const text = isSaid && !isWithheld(payload) ? getMessage(payload) : ''
    return text !== '' && this.#isNew(seq, id) && !this.#message.has(text) ? reasoningEvents(id, text) : []
  }

  #calls({ decisions }: TurnRecord, envelope: Envelope): AGUIEvent[] {
    return decisions.flatMap((decision) => [
      ...this.#dispatched(decision),
      ...this.#ended(decision, envelope),
    ])
  }

  #dispatched(decision: ToolDecision): AGUIEvent[] {
    const { id, source } = decision
    if (this.#called.has(id)) return []
    this.#called.add(id)
    const parameters = redact(decision.parameters, this.#options.guard).value
    return this.#isNew(source.seq, id) ? callEvents({ ...decision, parameters }) : []
  }

  /** Only the first end of a call is sent. */
  #ended({ id, outcome, cancelled, isAnswered }: ToolDecision, envelope: Envelope): AGUIEvent[] {
    if (outcome === null || this.#settled.has(id)) return []
    this.#settled.add(id)
    if (!this.#isNew(envelope.seq ?? 0, resultId(id))) return []
    const { guard } = this.#options
    const text = isAnswered
      ? readResult(envelope.payload, guard).text
      : cancelled === null
        ? whyNot(envelope, outcome === 'rejected', guard)
        : cancelledText(cancelled)
    return [resultEvent(id, outcome, cut(text, maxResultChars))]
  }

  #answer({ answer }: TurnRecord): AGUIEvent[] {
    if (answer === null) return []
    const { id, seq } = answer.source
    const said = this.#isNew(seq, id) ? this.#message.complete(id, answer.text ?? '') : []
    return [...said, ...this.#finish({ type: 'success' })]
  }
}

/** Why a call came to nothing with this envelope. */
function whyNot({ kind, payload }: Envelope, isRejected: boolean, guard: Guard): string {
  if (kind === Kind.systemDecision) return String(payload.message)
  if (kind === Kind.mcpReject || kind === Kind.mcpWithdraw) return guarded(String(payload.reason), guard)
  return isRejected ? 'expired' : 'abandoned'
}

/** A thought as a reasoning span of its own, so that no other event falls inside one. */
const reasoningEvents = (messageId: string, delta: string): AGUIEvent[] => [
  { type: EventType.REASONING_START, messageId },
  { type: EventType.REASONING_MESSAGE_START, messageId, role: 'reasoning' },
  { type: EventType.REASONING_MESSAGE_CONTENT, messageId, delta },
  { type: EventType.REASONING_MESSAGE_END, messageId },
  { type: EventType.REASONING_END, messageId },
]

/** A call or a proposal of one, and why it is made. */
function callEvents({ id, toolName, rationale, parameters }: ToolDecision): AGUIEvent[] {
  const metadata = rationale === null ? {} : { rationale }
  return [
    { type: EventType.TOOL_CALL_START, toolCallId: id, toolCallName: toolName, metadata },
    { type: EventType.TOOL_CALL_ARGS, toolCallId: id, delta: JSON.stringify(parameters) },
    { type: EventType.TOOL_CALL_END, toolCallId: id },
  ]
}

/** Of the message that the result of a call becomes. */
const resultId = (call: string): string => `${call}-result`

const resultEvent = (call: string, outcome: Outcome, content: string): AGUIEvent => ({
  type: EventType.TOOL_CALL_RESULT,
  messageId: resultId(call),
  toolCallId: call,
  role: 'tool',
  content,
  metadata: { outcome },
})

/**
 * The interrupt that asks for the decision about a proposal. Its message has all that is approved, since that is what every client
 * shows; `metadata` has the same for clients with a place of their own for it.
 */
function interruptFor(
  { id, source, tool, rationale, expiresAt, programEnded }: ProposalView,
  { text, isWhole }: ExactText,
): Interrupt {
  const shown = isWhole
    ? `All that is carried out, exactly:\n${text}`
    : `It is too long to be shown here, and can only be rejected here. \`meup proposals show ${id}\` and the page of the space show all of it.`
  return {
    id,
    reason: 'tool_call',
    message: [
      `${source.from} asks to call ${quoteToolName(tool)}.`,
      ...(programEnded ? [`${proposerEndedText(source.from)}.`] : []),
      `Why: ${quoteReason(rationale)}`,
      shown,
    ].join('\n'),
    toolCallId: id,
    responseSchema: {
      type: 'object',
      properties: {
        approved: { type: 'boolean', ...(!isWhole && { enum: [false] }) },
        reason: { type: 'string' },
      },
      required: ['approved'],
    },
    ...(expiresAt !== null && { expiresAt }),
    metadata: { isWhole, ...(isWhole && { exact: text }) },
  }
}

/** The ids that the client gave a run. */
interface RunName {
  readonly threadId: string
  readonly runId: string
}

const startedEvent = ({ threadId, runId }: RunName): AGUIEvent => ({
  type: EventType.RUN_STARTED,
  threadId,
  runId,
  protocolVersion: '1.0',
})

const finishedEvent = ({ threadId, runId }: RunName, outcome: RunFinishedOutcome): AGUIEvent => ({
  type: EventType.RUN_FINISHED,
  threadId,
  runId,
  outcome,
})

const errorEvent = (code: string, message: string): AGUIEvent => ({
  type: EventType.RUN_ERROR,
  code,
  message,
})
