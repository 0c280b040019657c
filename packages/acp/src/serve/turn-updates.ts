import type { SessionUpdate, ToolCallContent, ToolCallStatus, ToolKind } from '@agentclientprotocol/sdk'
import type { AnyEnvelope } from '@meup/agent-sdk'
import {
  type AnswerEvent,
  type AskedQuestion,
  type CallEvent,
  cut,
  defaultGuard,
  isObject,
  readResult,
  type ThoughtEvent,
  type TurnCall,
  type TurnEnd,
  type TurnEvent,
  TurnStream,
} from '@meup/folds'
import { correlations, Kind } from '@meup/protocol'
import { chunk, readFileDiffs, readPlan, textContent, thoughtChunk } from './content.js'
import { describeCall, formatDecision, readKind, type ToolKinds } from './tool-calls.js'

const maxResultChars = 65_536

/** Converts one turn of an agent to ACP session updates. Its envelopes may be live or from the log. */
export class TurnUpdates {
  readonly #question: AskedQuestion & { readonly agent: string }
  readonly #turn: TurnStream
  readonly #kinds: ToolKinds
  /**
   * Content of each shown call, by call id. Each update of a call contains all of it, because it replaces the previous content.
   */
  readonly #contents = new Map<string, ToolCallContent[]>()
  /** ACP's kind of tool (`read`, `edit`, …) of the calls that state it in `_meta.kind`, by call id. */
  readonly #ownKinds = new Map<string, ToolKind>()
  /** Number of the answer's latest message. */
  #messages = 0

  constructor(question: AskedQuestion & { readonly agent: string }, kinds: ToolKinds) {
    this.#question = question
    this.#turn = new TurnStream(question)
    this.#kinds = kinds
  }

  /** The end of the turn; `undefined` while the turn is active. */
  get end(): TurnEnd | undefined {
    return this.#turn.end
  }

  /** Ids of the turn's undecided proposals. */
  get proposals(): string[] {
    return this.#turn.open.filter(({ isWaiting }) => isWaiting).map(({ id }) => id)
  }

  apply(envelope: AnyEnvelope): SessionUpdate[] {
    if (envelope.kind === Kind.chatAcknowledge) return this.#onAcknowledge(envelope)
    return this.#turn.apply(envelope).flatMap((event) => this.#show(event))
  }

  /** The final updates, when no further envelopes are applied: calls without a result fail; undecided proposals stay open. */
  close(): SessionUpdate[] {
    const { open, end } = this.#turn
    const givenUp = end?.givenUp ?? null
    const left = open.filter(({ isWaiting }) => !isWaiting)
    return [
      ...left.map((call) => this.#update(call, 'failed', 'there was no result when the turn ended')),
      ...(givenUp === null ? [] : this.#say({ message: this.#messages + 1, isNew: true, text: givenUp })),
    ]
  }

  #show(event: TurnEvent): SessionUpdate[] {
    switch (event.type) {
      case 'begun':
      case 'thought':
        return this.#think(event)
      case 'call':
      case 'proposal':
        return [this.#begin(event)]
      case 'decision': {
        const status = event.state === 'approved' ? 'in_progress' : 'failed'
        return [this.#update(event, status, formatDecision(event))]
      }
      case 'result':
        return [this.#finish(event)]
      case 'delta':
      case 'answer':
        return this.#say(event)
      case 'handedOver':
        return [thoughtChunk(event.text)]
      case 'ended':
        return []
    }
  }

  /** Shows an agent's acknowledgement, such as `queued`. */
  #onAcknowledge(envelope: AnyEnvelope): SessionUpdate[] {
    const { id, agent } = this.#question
    const { status } = envelope.payload as { readonly status?: unknown }
    const isOurs = envelope.from === agent && correlations(envelope).includes(id)
    return isOurs && typeof status === 'string' ? [thoughtChunk(`${agent}: ${status}`)] : []
  }

  /** Shows a thought; thoughts of other participants in the turn's runs have their names. */
  #think({ agent, envelope: { from, payload }, text }: ThoughtEvent): SessionUpdate[] {
    // Editors show one plan, so only the asked agent's plan is a plan; others become thoughts.
    const plan = from === agent ? readPlan(payload) : undefined
    if (plan !== undefined) return [{ sessionUpdate: 'plan', entries: plan }]
    return text === '' ? [] : [thoughtChunk(from === agent ? text : `${from}: ${text}`)]
  }

  #begin(event: CallEvent): SessionUpdate {
    const { id, envelope } = event
    const isProposal = event.type === 'proposal'
    const { source, toolName: tool, rationale, parameters } = event.call
    const isRefused = source.kind === Kind.systemDecision
    const { content, ...shown } = describeCall({
      ...{ id, tool, rationale, parameters },
      ...(isProposal && { proposer: source.from }),
      ...(!isRefused && { to: source.to }),
    })
    this.#contents.set(id, content)
    const kind = readKind(envelope.payload)
    if (kind !== undefined) this.#ownKinds.set(id, kind)
    const status = isProposal ? 'pending' : 'in_progress'
    return { sessionUpdate: 'tool_call', ...shown, kind: this.#getKind(event), status, content: [...content] }
  }

  #finish(event: CallEvent): SessionUpdate {
    const { payload } = event.envelope
    const { structuredContent, ...result } = isObject(payload.result) ? payload.result : {}
    const diffs = readFileDiffs(structuredContent)
    // If there are diffs, the structured content is omitted from the text, because it has the same changes as JSON.
    const { outcome, text } = readResult(diffs.length > 0 ? { ...payload, result } : payload, defaultGuard)
    const status = outcome === 'error' ? 'failed' : 'completed'
    return this.#update(event, status, cut(text, maxResultChars), diffs)
  }

  /** Creates an update of a call with all of its content, because in ACP an update's content replaces the previous content. */
  #update(
    call: TurnCall,
    status: ToolCallStatus,
    text: string,
    more: readonly ToolCallContent[] = [],
  ): SessionUpdate {
    const { id: toolCallId } = call
    const content = this.#contents.get(toolCallId) ?? []
    content.push(...more, ...(text === '' ? [] : [textContent(text)]))
    const kind = this.#getKind(call)
    return { sessionUpdate: 'tool_call_update', toolCallId, status, kind, content: [...content] }
  }

  #getKind({ id, call: { source, toolName } }: TurnCall): ToolKind {
    const [participant] = source.kind === Kind.systemDecision ? [] : (source.to ?? [])
    const known = participant === undefined ? 'other' : this.#kinds.get(participant, toolName)
    return this.#ownKinds.get(id) ?? known
  }

  /**
   * Shows text of the answer. In ACP, text before a tool call is a separate message, and so is text that does not continue the
   * previous one.
   */
  #say({ message, isNew, text }: Pick<AnswerEvent, 'message' | 'isNew' | 'text'>): SessionUpdate[] {
    if (text === '') return []
    this.#messages = message
    // Inserts an empty line for clients that ignore message ids and therefore join the messages.
    const gap = isNew && message > 1 ? '\n\n' : ''
    return [chunk('agent_message_chunk', `${gap}${text}`, `${this.#question.id}-${message}`)]
  }
}
