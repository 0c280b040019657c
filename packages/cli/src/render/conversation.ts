import {
  brief,
  createContextFold,
  defaultGuard,
  guarded,
  payloadText,
  printable,
  readResult,
  reasonText,
  redact,
  shownToolName,
  thoughtText,
  withThoughtName,
} from '@meup/folds'
import {
  type AnyEnvelope,
  contextDepth,
  correlations,
  isThought,
  Kind,
  namespaceOf,
  reservedNamespaces,
} from '@meup/protocol'
import { deedOf } from '../trust/trust-text.js'

/** Requests whose responses may still come. */
const remembered = 1000

/** Before each further line of a text: none is to pass for one that somebody else has said. */
const more = '│ '

/** Whatever makes lines for people of envelopes, told in their order. */
export interface Lines {
  /** No line for what people need not see. */
  lines(envelope: AnyEnvelope): string[]
}

/** Renders envelopes as lines for people: the conversation at the margin, reasoning indented by its context. */
export class Conversation implements Lines {
  readonly #tools = new Map<string, string>()
  readonly #contexts = createContextFold()

  lines(envelope: AnyEnvelope): string[] {
    const said = this.#text(envelope)
    const { isLate } = this.#contexts.apply(envelope)
    if (said === undefined) return []
    const text = isLate ? `${said} (late)` : said
    const indent = '  '.repeat(envelope.context === undefined ? 0 : contextDepth(envelope.context))
    const [first = '', ...rest] = printable(text).split('\n')
    return [`${indent}${first}`, ...rest.map((line) => `${indent}${more}${line}`)]
  }

  #text(envelope: AnyEnvelope): string | undefined {
    const { from } = envelope
    switch (envelope.kind) {
      case Kind.chat:
        return `${from}: ${payloadText({ ...envelope.payload })}`
      case Kind.chatCancel:
        return `${from} takes a message back${because(envelope.payload.reason)}`
      case Kind.reasoningStart:
        return `${from} ┄ ${payloadText({ ...envelope.payload }) || 'thinking'}`
      case Kind.reasoningConclusion:
        return `${from} ∎ ${payloadText({ ...envelope.payload }) || 'done'}`
      case Kind.reasoningCancel:
        return `${from} ✗ cancelled${because(envelope.payload.reason)}`
      case Kind.mcpRequest:
        return this.#request(envelope.id, from, envelope.to, envelope.rationale, envelope.payload)
      case Kind.mcpProposal:
        return this.#proposal(envelope.id, from, envelope.to, envelope.rationale, envelope.payload)
      case Kind.mcpReject: {
        const { reason, message } = envelope.payload
        return `${from} ✗ rejects ${this.#toolOf(envelope)}${safe(message ?? reason)}`
      }
      case Kind.mcpWithdraw: {
        const { reason, message } = envelope.payload
        return `${from} ✗ withdraws ${this.#toolOf(envelope)}${safe(message ?? reason)}`
      }
      case Kind.mcpResponse:
        return `${from} ← ${this.#toolOf(envelope)}${outcomeOf(envelope.payload)}`
      case Kind.systemPresence:
        return `· ${envelope.payload.participant.id} ${presence[envelope.payload.event]}`
      case Kind.systemError:
        return `✗ ${envelope.payload.message} (${envelope.payload.code})`
    }
    const deed = deedOf(envelope)
    if (deed !== undefined) return `· ${deed}`
    const { kind, payload } = envelope as AnyEnvelope
    if (isThought(kind)) return thoughtLine(from, kind, { ...payload })
    if (reservedNamespaces.has(namespaceOf(kind))) return undefined
    const text = payloadText({ ...payload }, defaultGuard)
    return `${from} sends ${kind}${text && `: ${text}`}`
  }

  #request(
    id: string,
    from: string,
    to: readonly string[] | undefined,
    rationale: string | undefined,
    payload: Call,
  ) {
    if (payload.method.startsWith('notifications/')) return undefined
    return `${from} → ${this.#named(id, to, payload)} ${callArguments(payload)}${why(payload, rationale)}`
  }

  /** The id at the end is what decides on it: `meup proposals approve <id>`. */
  #proposal(
    id: string,
    from: string,
    to: readonly string[] | undefined,
    rationale: string | undefined,
    payload: Call,
  ) {
    return `${from} proposes ${this.#named(id, to, payload)} ${callArguments(payload)}${why(payload, rationale)} (${id})`
  }

  /** `participant/tool`; remembered for what answers it. */
  #named(id: string, to: readonly string[] | undefined, { method, params }: Call): string {
    const tool = shownToolName({ method, ...(params && { params }) })
    const name = [to?.join(','), tool].filter(Boolean).join('/')
    this.#tools.set(id, name)
    if (this.#tools.size > remembered) this.#tools.delete(this.#tools.keys().next().value ?? '')
    return name
  }

  #toolOf(envelope: AnyEnvelope): string {
    const tool = correlations(envelope)
      .map((id) => this.#tools.get(id))
      .find((name) => name !== undefined)
    return tool === undefined ? '' : `${tool.slice(tool.indexOf('/') + 1)}: `
  }
}

interface Call {
  readonly method: string
  readonly params?: Record<string, unknown>
}

const presence = { join: 'is here', leave: 'left', update: 'changed' } as const

const because = (reason: string | undefined): string => (reason ? `: ${reason}` : '')
const why = (payload: Call, rationale: string | undefined): string =>
  rationale || payload.method === 'tools/call' ? `  — ${brief(reasonText(rationale || null), 120)}` : ''

function thoughtLine(from: string, kind: string, payload: Readonly<Record<string, unknown>>) {
  const text = thoughtText(payload)
  return text === '' ? undefined : `${from} · ${withThoughtName(kind, text)}`
}

/** Without the usual secrets, as in the views; the gateway leaves what tools are told and say as it is [MEUP-6.9]. */
const safe = (text: string): string => guarded(text, defaultGuard)

const callArguments = ({ params }: Call): string =>
  brief(JSON.stringify(redact(params?.arguments ?? {}, defaultGuard).value), 120)

function outcomeOf(payload: Record<string, unknown>): string {
  const { outcome, text, size } = readResult(payload, defaultGuard)
  if (outcome === 'error') return `error: ${brief(text, 120)}`
  if (size === null) return 'done'
  return `${size.count.toLocaleString('en')} ${size.unit === 'chars' ? 'characters' : size.unit}`
}
