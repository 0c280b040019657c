import {
  Bounded,
  brief,
  createContextFold,
  createStatusLines,
  Describer,
  type Description,
  defaultGuard,
  describe,
  getWhy,
  isNotification,
  onOneLine,
  printable,
  type Style,
  sentence,
  type Tone,
  withThoughtName,
} from '@meup/folds'
import { type AnyEnvelope, contextDepth, contextRoot, Kind } from '@meup/protocol'
import { print, printJson } from '../lib/output.js'

/** Runs that answer a message. */
const maxOpen = 1000
/** Limit of arguments, a result or a rationale on a line. */
const maxArgumentsChars = 120

/** Prefix of continuation lines, so that none looks like a message of another participant. */
const continuation = '│ '

/** Renders envelopes, in log order, as lines for people. */
export interface LineRenderer {
  /** Returns no lines for envelopes that people need not see. */
  lines(envelope: AnyEnvelope): string[]
}

/**
 * Renders envelopes as lines for people: the conversation at the margin, reasoning indented by its context. With a `style`, calls
 * in a run that answers a message are status lines, `○ tool` and `● tool`; their arguments and rationale follow the answer.
 */
export class Conversation implements LineRenderer {
  readonly #contexts = createContextFold()
  readonly #describer = new Describer(defaultGuard, (context) => this.#contexts.get(context)?.owner)
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
    const isShown = !isBackground(envelope)
    const said = isShown ? styleLine(envelope, this.#describer.describe({ ...envelope })) : ''
    const { isLate } = this.#contexts.apply(envelope)
    if (said === '') return []
    const text = isLate ? `${said} (late)` : said
    const indent = '  '.repeat(envelope.context === undefined ? 0 : contextDepth(envelope.context))
    const [first = '', ...rest] = printable(text).split('\n')
    return [`${indent}${first}`, ...rest.map((line) => `${indent}${continuation}${line}`)]
  }
}

const background: ReadonlySet<string> = new Set([
  Kind.chatAcknowledge,
  Kind.chatDelta,
  Kind.observeSubscribe,
  Kind.observeVisibility,
  Kind.participantStatus,
  Kind.participantRequestStatus,
  Kind.spaceInviteAck,
  Kind.systemWelcome,
  Kind.systemSpace,
])

/** Whether a conversation leaves an envelope out: receipts, measurements, progress, and what views show elsewhere. */
export const isBackground = ({ kind, payload }: AnyEnvelope): boolean =>
  background.has(kind) || (kind === Kind.mcpRequest && isNotification(payload))

const signs: Partial<Record<Tone, string>> = {
  start: '┄',
  end: '∎',
  stop: '✗',
  thought: '·',
  plan: '·',
  error: '·',
  call: '→',
  result: '←',
  refusal: '✗',
}

/** Kinds whose id decides on them or takes them back: `meup proposals approve <id>`, `meup caps revoke <id>`. */
const named: ReadonlySet<string> = new Set([Kind.mcpProposal, Kind.capabilityGrant, Kind.spaceInvite])

/** A description for a terminal, with signs for common verbs. `''` = a thought without a text. */
function styleLine(envelope: AnyEnvelope, description: Description): string {
  const { actor, object, tone } = description
  const why = getWhy({ ...envelope })
  const reason = why === '' ? '' : `  — ${brief(why, maxArgumentsChars)}`
  const isMcp = tone === 'call' || tone === 'result' || tone === 'proposal'
  const detail = isMcp ? brief(description.detail, maxArgumentsChars) : description.detail
  const head = `${actor} ${signs[tone]}`
  switch (tone) {
    case 'message':
      return `${actor}: ${detail}`
    case 'start':
      return `${head} ${detail || 'thinking'}`
    case 'end':
      return `${head} ${detail || 'done'}`
    case 'thought':
    case 'plan':
    case 'error':
      return detail === '' ? '' : `${head} ${withThoughtName(envelope.kind, detail)}`
    case 'call':
      return `${head} ${[envelope.to?.join(','), object].filter(Boolean).join('/')} ${detail}${reason}`
    case 'result':
      return `${head} ${object}: ${detail}`
    case 'stop':
    case 'refusal':
      return sentence({ ...description, actor: head })
    case 'event':
    case 'problem':
      return `· ${formatEvent(envelope, description)}`
    case 'proposal':
      return `${sentence({ ...description, detail })}${reason}${formatId(envelope)}`
    case 'other':
      return sentence(description)
  }
}

const formatId = ({ kind, id }: AnyEnvelope): string => (named.has(kind) ? ` (${id})` : '')
const formatEvent = (envelope: AnyEnvelope, description: Description): string =>
  `${onOneLine(sentence(description))}${formatId(envelope)}`

/** A decision about a participant, on one line. */
export const formatTrustEvent = (envelope: AnyEnvelope): string =>
  `${envelope.ts}  ${formatEvent(envelope, describe({ ...envelope }, defaultGuard))}`

/** Prints envelopes: NDJSON, or lines for people. */
export function createPrinter(json: boolean | undefined): (envelope: AnyEnvelope) => void {
  if (json) return (envelope) => void printJson(envelope)
  const conversation = new Conversation()
  return (envelope) => {
    for (const line of conversation.lines(envelope)) print(line)
  }
}
