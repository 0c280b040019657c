import { type AGUIEvent, EventType, type Interrupt, type RunFinishedOutcome } from '@ag-ui/core'
import {
  type AnswerEvent,
  type AskedQuestion,
  type CallEvent,
  cut,
  type DecisionEvent,
  type ExactText,
  type Guard,
  type HandOverEvent,
  type Outcome,
  Participants,
  type ProposalView,
  ProposalViews,
  proposerEndedText,
  quoteReason,
  quoteToolName,
  readResult,
  redact,
  SpaceView,
  type ThoughtEvent,
  type ToolDecision,
  type TurnEvent,
  TurnStream,
} from '@meup/folds'
import { type Envelope, Kind, stringifyExact } from '@meup/protocol'
import { maxAnswers } from './input.js'

/**
 * Event types for thoughts, of which a client chooses one: `reasoning` for AG-UI 1.0, `thinking` for older versions. Clients
 * reject a run with event types that they do not know.
 */
export const thoughtEvents = ['reasoning', 'thinking'] as const
export type ThoughtEvents = (typeof thoughtEvents)[number]

interface RunOptions extends RunName {
  readonly guard: Guard
  readonly question: AskedQuestion & { readonly agent: string }
  /** The participants of the space, as the log describes them. */
  readonly participants: Participants
  readonly thoughts: ThoughtEvents
  /** An earlier run has already sent the events up to this seq. */
  readonly after: number
  /** Messages and tool calls that the client already has: texts by id. */
  readonly known: ReadonlyMap<string, string>
  /** The current time in milliseconds since the epoch. */
  now(): number
  /** Whether the client may make the proposed call. */
  mayApprove(proposal: Envelope): boolean
  mayReject(proposal: Envelope): boolean
  /** The exact text that a user must see to approve a proposal; `undefined` if the proposal is not readable any more. */
  readExactText(proposal: string): ExactText | undefined
}

/** Maximum characters of a tool result for the client; a longer one is cut. */
const maxResultChars = 8192

/**
 * Converts one turn of an agent to the events of an AG-UI run. `apply` takes each readable envelope and each delta of the
 * answer, and returns the events for it. After the end of the run it returns no events.
 */
export class AgUiRun {
  readonly #options: RunOptions
  readonly #turn: TurnStream
  readonly #space: SpaceView<{ readonly participants: Participants; readonly proposals: ProposalViews }>
  /** Ids of the proposals that the turn has made: those still open when it pauses become interrupts. */
  readonly #proposed = new Set<string>()
  /** Proposals that the client may approve, by id; `mayReject`: whether it may reject them. */
  readonly #decidable = new Map<string, { readonly mayReject: boolean }>()
  /** The id of the text message that has not ended. */
  #message: string | undefined
  #isOver = false

  constructor(options: RunOptions) {
    this.#options = options
    const { guard, question, participants } = options
    this.#turn = new TurnStream(question, { guard, participants, written: readWritten(options) })
    const proposals = new ProposalViews(guard, () => question.from)
    this.#space = new SpaceView({ participants: new Participants(), proposals })
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Whether the turn is answered, cancelled or given up at this point of the log. */
  get isTurnOver(): boolean {
    return this.#turn.end !== undefined
  }

  begin(): AGUIEvent[] {
    return [startedEvent(this.#options)]
  }

  apply(envelope: Envelope): AGUIEvent[] {
    if (this.#isOver) return []
    // The right to approve is checked before the turn is updated: masking a long proposal may use up the work that the gateway
    // does for one envelope, so that the check would fail.
    if (envelope.kind === Kind.mcpProposal && this.#options.mayApprove(envelope)) {
      this.#decidable.set(envelope.id, { mayReject: this.#options.mayReject(envelope) })
    }
    this.#space.apply(envelope)
    return this.#turn.apply(envelope).flatMap((event) => this.#show(event))
  }

  /**
   * Must be called once all logged envelopes are applied. Returns the events that end the run, if the turn is over or has
   * interrupts.
   */
  pause(): AGUIEvent[] {
    if (this.#isOver) return []
    const asked = this.#space.facts.proposals
      .open(this.#options.now())
      .filter(({ id, fulfilments }) => this.#proposed.has(id) && fulfilments.length === 0)
    const interrupts: Interrupt[] = []
    for (const proposal of asked) {
      if (interrupts.length === maxAnswers) break // The next run has the remaining interrupts.
      interrupts.push(...this.#interrupt(proposal))
    }
    if (interrupts.length > 0) return this.#finish({ type: 'interrupt', interrupts })
    const { state = '', givenUp = null } = this.#turn.end ?? {}
    return givenUp === null ? [] : this.fail(state, givenUp)
  }

  /**
   * The interrupt for a proposal; empty if the client may not decide it. A proposal that the interrupt does not show completely
   * can only be rejected.
   */
  #interrupt(proposal: ProposalView): Interrupt[] {
    const { id } = proposal
    const rights = this.#decidable.get(id)
    if (rights === undefined) return []
    const exact = this.#options.readExactText(id)
    if (exact !== undefined && (exact.isWhole || rights.mayReject)) return [interruptFor(proposal, exact)]
    this.#decidable.delete(id)
    return []
  }

  /** Ends the run with an error. The turn may continue. */
  fail(code: string, message: string): AGUIEvent[] {
    return this.#end(errorEvent(code, message))
  }

  #finish(outcome: RunFinishedOutcome): AGUIEvent[] {
    return this.#end(finishedEvent(this.#options, outcome))
  }

  #end(event: AGUIEvent): AGUIEvent[] {
    if (this.#isOver) return []
    this.#isOver = true
    return [...this.#close(), event]
  }

  #show(event: TurnEvent): AGUIEvent[] {
    switch (event.type) {
      case 'begun':
      case 'thought':
        return this.#aside(this.#think(event))
      case 'call':
      case 'proposal':
        return this.#aside(this.#call(event))
      case 'result':
      case 'decision':
        return this.#aside(this.#settle(event))
      case 'delta':
      case 'answer':
        return this.#write(event)
      case 'handedOver':
        return this.#aside(this.#think(event))
      case 'ended':
        if (event.givenUp !== null) return [] // The agent may resume: `pause` ends the run at the end of the log.
        return this.#finish({ type: event.state === 'completed' ? 'success' : 'cancelled' })
    }
  }

  /** Whether the client does not have this message or call yet. */
  #isNew({ seq = 0 }: { readonly seq?: number | undefined }, id: string): boolean {
    return seq > this.#options.after && !this.#options.known.has(id)
  }

  #think({ envelope, text }: ThoughtEvent | HandOverEvent): AGUIEvent[] {
    const { id, kind } = envelope
    const isSaid = text !== '' && kind !== Kind.reasoningConclusion
    if (!isSaid || !this.#isNew(envelope, id)) return []
    return this.#options.thoughts === 'thinking' ? thinkingEvents(text) : reasoningEvents(id, text)
  }

  #call({ type, id, call }: CallEvent): AGUIEvent[] {
    if (type === 'proposal') this.#proposed.add(id)
    if (!this.#isNew(call.source, id)) return []
    return callEvents({ ...call, id, parameters: redact(call.parameters, this.#options.guard).value })
  }

  #settle(event: CallEvent | DecisionEvent): AGUIEvent[] {
    const { id, call, envelope } = event
    if (call.outcome === null || !this.#isNew(envelope, resultId(id))) return []
    const why = event.type === 'decision' ? ('reason' in event ? event.reason : event.state) : undefined
    const text = why ?? readResult(envelope.payload, this.#options.guard).text
    return [resultEvent(id, call.outcome, cut(text, maxResultChars))]
  }

  /**
   * Events for text of the answer. Sent events cannot be retracted, so text that does not continue them starts a new message.
   * An answer without preceding deltas has the id of its envelope.
   */
  #write({ type, envelope, message, isNew, text }: AnswerEvent): AGUIEvent[] {
    const isWhole = type === 'answer' && isNew
    if (type === 'answer' && !this.#isNew(envelope, envelope.id)) return []
    if (text === '' && !isWhole) return []
    const id = isWhole ? envelope.id : answerId(this.#options.question.id, message)
    // Older clients reject an empty delta.
    return [...this.#open(id), ...(text === '' ? [] : [contentEvent(id, text)])]
  }

  /** Starts a message unless it is open. If the message has already ended, this starts it again under the same id. */
  #open(messageId: string): AGUIEvent[] {
    if (this.#message === messageId) return []
    const closing = this.#close()
    this.#message = messageId
    const { agent: name } = this.#options.question
    return [...closing, { type: EventType.TEXT_MESSAGE_START, messageId, role: 'assistant', name }]
  }

  #close(): AGUIEvent[] {
    const messageId = this.#message
    this.#message = undefined
    return messageId === undefined ? [] : [{ type: EventType.TEXT_MESSAGE_END, messageId }]
  }

  /** Ends the open message first: other events must not occur inside a message. */
  #aside(events: readonly AGUIEvent[]): AGUIEvent[] {
    return events.length === 0 ? [] : [...this.#close(), ...events]
  }
}

/** The id of the nth message of a streamed answer, from 1. */
const answerId = (question: string, message: number): string =>
  `${question}-answer${message === 1 ? '' : `-${message}`}`

/** The texts of the answer's messages that the client already has. */
function readWritten({ known, question }: Pick<RunOptions, 'known' | 'question'>): string[] {
  const texts: string[] = []
  for (;;) {
    const text = known.get(answerId(question.id, texts.length + 1))
    if (text === undefined) return texts
    texts.push(text)
  }
}

const contentEvent = (messageId: string, delta: string): AGUIEvent => ({
  type: EventType.TEXT_MESSAGE_CONTENT,
  messageId,
  delta,
})

/** Sends a thought as a complete reasoning message, so that no other event occurs inside it. */
const reasoningEvents = (messageId: string, delta: string): AGUIEvent[] => [
  { type: EventType.REASONING_START, messageId },
  { type: EventType.REASONING_MESSAGE_START, messageId, role: 'reasoning' },
  { type: EventType.REASONING_MESSAGE_CONTENT, messageId, delta },
  { type: EventType.REASONING_MESSAGE_END, messageId },
  { type: EventType.REASONING_END, messageId },
]

/** Sends a thought to older clients, with event types that AG-UI 1.0 has removed. */
const thinkingEvents = (delta: string): AGUIEvent[] =>
  [
    { type: 'THINKING_START' },
    { type: 'THINKING_TEXT_MESSAGE_START' },
    { type: 'THINKING_TEXT_MESSAGE_CONTENT', delta },
    { type: 'THINKING_TEXT_MESSAGE_END' },
    { type: 'THINKING_END' },
  ] as unknown as AGUIEvent[]

/** Events for a call or a proposal, with its rationale. */
function callEvents({ id, toolName, rationale, parameters }: ToolDecision): AGUIEvent[] {
  const metadata = rationale === null ? {} : { rationale }
  return [
    { type: EventType.TOOL_CALL_START, toolCallId: id, toolCallName: toolName, metadata },
    { type: EventType.TOOL_CALL_ARGS, toolCallId: id, delta: String(stringifyExact(parameters)) },
    { type: EventType.TOOL_CALL_END, toolCallId: id },
  ]
}

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
 * The interrupt that asks for a decision about a proposal. Its message contains the complete call, because every client shows
 * the message; `metadata` contains it again for clients that render it separately.
 */
function interruptFor(
  { id, source, tool, rationale, expiresAt, programEnded }: ProposalView,
  { text, isWhole }: ExactText,
): Interrupt {
  const shown = isWhole
    ? `All that is carried out, exactly:\n${text}`
    : `It is too long to be shown here, so it can only be rejected here. \`meup proposals show ${id}\` and the page of the space show all of it.`
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

/** The client's ids of a run. */
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

/** The events of a run without a question. */
export const emptyRunEvents = (name: RunName): AGUIEvent[] => [
  startedEvent(name),
  finishedEvent(name, { type: 'success' }),
]

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
