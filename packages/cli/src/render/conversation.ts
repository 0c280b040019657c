import {
  attemptText,
  Bounded,
  brief,
  createContextFold,
  createStatusLines,
  defaultGuard,
  guarded,
  onOneLine,
  payloadText,
  printable,
  readResult,
  reasonText,
  redact,
  type Style,
  shownToolName,
  thoughtText,
  withThoughtName,
} from '@meup/folds'
import {
  type AnyEnvelope,
  contextDepth,
  contextRoot,
  correlations,
  type DecisionPayload,
  isThought,
  Kind,
  namespaceOf,
  reservedNamespaces,
} from '@meup/protocol'
import { formatDuration } from '../config/notation.js'
import { formatCapabilities } from '../lib/capabilities.js'
import { print, printJson } from '../lib/output.js'

/** Calls whose responses may still come, and runs that answer somebody. */
const maxOpen = 1000

/** Prefixes continuation lines, so that none can be mistaken for a message of somebody else. */
const continuation = '│ '

/** Renders envelopes, in log order, as lines for people. */
export interface LineRenderer {
  /** Returns no lines for envelopes that people need not see. */
  lines(envelope: AnyEnvelope): string[]
}

/**
 * Renders envelopes as lines for people: the conversation at the margin, reasoning indented by its context. With a
 * `style`, as at a terminal, calls of a run that answers somebody are one status line each, `○ tool` and `● tool`: what
 * they were called with, and why, follows the answer.
 */
export class Conversation implements LineRenderer {
  readonly #tools = new Bounded<string>(maxOpen)
  readonly #contexts = createContextFold()
  readonly #answeringRuns = new Bounded<true>(maxOpen)
  readonly #status: ((envelope: AnyEnvelope) => string[]) | undefined

  constructor(style?: Style) {
    this.#status = style && createStatusLines(style)
  }

  lines(envelope: AnyEnvelope): string[] {
    const said = this.#said(envelope)
    if (this.#status === undefined) return said
    const { kind, context, id, correlationId } = envelope
    if (kind === Kind.reasoningStart && context === undefined) {
      if (correlationId !== undefined) this.#answeringRuns.set(id, true)
      return [...said, ...this.#status(envelope)]
    }
    const isOfAnswer = context !== undefined && this.#answeringRuns.get(contextRoot(context)) === true
    if (kind === Kind.mcpRequest && !isOfAnswer) return said
    const status = this.#status(envelope)
    return status.length === 0 ? said : status
  }

  #said(envelope: AnyEnvelope): string[] {
    const said = this.#text(envelope)
    const { isLate } = this.#contexts.apply(envelope)
    if (said === undefined) return []
    const text = isLate ? `${said} (late)` : said
    const indent = '  '.repeat(envelope.context === undefined ? 0 : contextDepth(envelope.context))
    const [first = '', ...rest] = printable(text).split('\n')
    return [`${indent}${first}`, ...rest.map((line) => `${indent}${continuation}${line}`)]
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
        if (envelope.payload.method.startsWith('notifications/')) return undefined
        return `${from} → ${this.#call(envelope, envelope.payload)}`
      case Kind.mcpProposal:
        // The id at the end is what decides on it: `meup proposals approve <id>`.
        return `${from} proposes ${this.#call(envelope, envelope.payload)} (${envelope.id})`
      case Kind.mcpReject:
      case Kind.mcpWithdraw: {
        const { reason, message } = envelope.payload
        const verb = envelope.kind === Kind.mcpReject ? 'rejects' : 'withdraws'
        return `${from} ✗ ${verb} ${this.#toolOf(envelope)}${safe(message ?? reason)}`
      }
      case Kind.mcpResponse:
        return `${from} ← ${this.#toolOf(envelope)}${outcomeOf(envelope.payload)}`
      case Kind.systemPresence:
        return `· ${envelope.payload.participant.id} ${presence[envelope.payload.event]}`
      case Kind.systemError:
        return `✗ ${envelope.payload.message} (${envelope.payload.code})`
    }
    const deed = describeTrustEvent(envelope)
    if (deed !== undefined) return `· ${deed}`
    const { kind, payload } = envelope as AnyEnvelope
    if (isThought(kind)) return thoughtLine(from, kind, { ...payload })
    if (reservedNamespaces.has(namespaceOf(kind))) return undefined
    const text = payloadText({ ...payload }, defaultGuard)
    return `${from} sends ${kind}${text && `: ${text}`}`
  }

  /** What is called, with which arguments, and why. */
  #call({ id, to, rationale }: AnyEnvelope, payload: Call): string {
    return `${this.#named(id, to, payload)} ${callArguments(payload)}${formatRationale(payload, rationale)}`
  }

  /** `participant/tool`, remembered for its response. */
  #named(id: string, to: readonly string[] | undefined, { method, params }: Call): string {
    const tool = shownToolName({ method, ...(params && { params }) })
    const name = [to?.join(','), tool].filter(Boolean).join('/')
    this.#tools.set(id, name)
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
const formatRationale = (payload: Call, rationale: string | undefined): string =>
  rationale || payload.method === 'tools/call' ? `  — ${brief(reasonText(rationale || null), 120)}` : ''

function thoughtLine(from: string, kind: string, payload: Readonly<Record<string, unknown>>) {
  const text = thoughtText(payload)
  return text === '' ? undefined : `${from} · ${withThoughtName(kind, text)}`
}

/** Redacts secrets: the gateway delivers tool calls and results unchanged [MEUP-6.9]. */
const safe = (text: string): string => guarded(text, defaultGuard)

const callArguments = ({ params }: Call): string =>
  brief(JSON.stringify(redact(params?.arguments ?? {}, defaultGuard).value), 120)

function outcomeOf(payload: Record<string, unknown>): string {
  const { outcome, text, size } = readResult(payload, defaultGuard)
  if (outcome === 'error') return `error: ${brief(text, 120)}`
  if (size === null) return 'done'
  return `${size.count.toLocaleString('en')} ${size.unit === 'chars' ? 'characters' : size.unit}`
}

/** Something that was decided about a participant, on one line. */
export const formatTrustEvent = (envelope: AnyEnvelope): string =>
  `${envelope.ts}  ${onOneLine(describeTrustEvent(envelope) ?? `${envelope.from} ${envelope.kind}`)}`

/** Describes a decision about a participant. `undefined` for other kinds. */
function describeTrustEvent(envelope: AnyEnvelope): string | undefined {
  const { from, to = [] } = envelope
  switch (envelope.kind) {
    case Kind.systemDecision:
      return `${to.join(', ')}: ${decisionText(envelope.payload)}`
    case Kind.capabilityGrant: {
      const { recipient, capabilities, expiresAt, reason } = envelope.payload
      return `${from} granted ${recipient} ${formatCapabilities(capabilities)}${formatUntil(expiresAt)}${formatReason(reason)} (${envelope.id})`
    }
    case Kind.capabilityRevoke: {
      const { recipient, grantId, capabilities = [], reason } = envelope.payload
      return `${from} revoked ${grantId ?? formatCapabilities(capabilities)} of ${recipient}${formatReason(reason)}`
    }
    case Kind.capabilityGrantAck:
      return `${from} ${envelope.payload.status} ${[envelope.correlationId ?? []].flat().join(', ')}`
    case Kind.spaceInvite: {
      const { participantId, capabilities, expiresAt, reason } = envelope.payload
      return `${from} invited ${participantId} with ${formatCapabilities(capabilities)}${formatUntil(expiresAt)}${formatReason(reason)} (${envelope.id})`
    }
    case Kind.spaceKick: {
      const { participantId, reason, untilTs } = envelope.payload
      return `${from} kicked ${participantId}${formatUntil(untilTs)}${formatReason(reason)}`
    }
    case Kind.participantPause: {
      const { reason, timeoutSeconds } = envelope.payload
      const span = timeoutSeconds === undefined ? '' : ` for ${formatDuration(timeoutSeconds * 1000)}`
      return `${from} paused ${to.join(', ')}${span}${formatReason(reason)}`
    }
    case Kind.participantResume:
      return `${from} resumed ${to.join(', ')}${formatReason(envelope.payload.reason)}`
  }
  return undefined
}

function decisionText(payload: DecisionPayload): string {
  const { decision, message, reasonCode, attemptedKind, attemptedTool, count } = payload
  const attempt = attemptText(payload)
  const what = [attemptedKind, attemptedTool, decision === 'review' ? 'passed for review' : decision]
  const times = count > 1 ? ` ×${count}` : ''
  return `${what.filter(Boolean).join(' ')}: ${brief(message, 300)} (${reasonCode})${times}${attempt && ` · ${attempt}`}`
}

const formatUntil = (time: string | undefined): string => (time === undefined ? '' : ` until ${time}`)
const formatReason = (reason: string | undefined): string => (reason ? ` — ${brief(reason, 200)}` : '')

/** Prints envelopes: NDJSON, or lines for people. */
export function createPrinter(json: boolean | undefined): (envelope: AnyEnvelope) => void {
  if (json) return (envelope) => void printJson(envelope)
  const conversation = new Conversation()
  return (envelope) => {
    for (const line of conversation.lines(envelope)) print(line)
  }
}
