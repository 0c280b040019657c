import {
  brief,
  createContextFold,
  Describer,
  type Description,
  defaultGuard,
  describe,
  detailsText,
  getAsked,
  getCallRationale,
  isFailure,
  isNotification,
  isObject,
  onOneLine,
  printable,
  sentence,
  type Tone,
  withThoughtName,
} from '@meup/folds'
import {
  type AnyEnvelope,
  type ChatPayload,
  contextDepth,
  getErasure,
  Kind,
  type PresencePayload,
} from '@meup/protocol'
import { print, printJson } from '../lib/output.js'
import { formatLocalTime } from '../lib/times.js'

/** Maximum characters of arguments, a result or a rationale. */
const maxArgumentsChars = 120

/** Prefix of continuation lines, so that none looks like another participant's message. */
const continuation = '│ '

/** Renders envelopes as lines of text, in log order. */
export interface LineRenderer {
  /** Returns no lines for envelopes that users need not see. */
  lines(envelope: AnyEnvelope): string[]
}

/** Renders messages at the margin, and reasoning indented by its context. */
export class Conversation implements LineRenderer {
  readonly #contexts = createContextFold()
  readonly #describer = new Describer(defaultGuard, (context) => this.#contexts.get(context)?.owner)
  readonly #render: ((text: string) => readonly string[]) | undefined

  /** `render` renders Markdown of printable text; its lines are printed unchanged. Without `render`, texts stay as written. */
  constructor(render?: (text: string) => readonly string[]) {
    this.#render = render
  }

  lines(envelope: AnyEnvelope): string[] {
    const described = this.#describer.describe(messageAlone(envelope))
    const said = isBackground(envelope) ? '' : this.#say(envelope, described)
    const { isLate } = this.#contexts.apply(envelope)
    if (said === '') return []
    const text = isLate ? `${said} (late)` : said
    const indent = '  '.repeat(envelope.context === undefined ? 0 : contextDepth(envelope.context))
    const [first = '', ...rest] = text.split('\n')
    return [`${indent}${first}`, ...rest.map((line) => `${indent}${continuation}${line}`)]
  }

  #say(envelope: AnyEnvelope, description: Description): string {
    if (this.#render === undefined || !isMarkdown(envelope, description.tone))
      return printable(styleLine(envelope, description))
    const { actor, detail } = description
    const drawn = this.#render(printable(detail)).join('\n')
    return styleLine(envelope, { ...description, actor: printable(actor), detail: drawn })
  }
}

/** Thoughts are Markdown unless their format says otherwise; messages only if their format says so. */
function isMarkdown({ payload }: AnyEnvelope, tone: Tone): boolean {
  const { format } = payload as { readonly format?: unknown }
  if (tone === 'message') return format === 'markdown'
  return (tone === 'thought' || tone === 'plan' || tone === 'end') && format !== 'plain'
}

const background: ReadonlySet<string> = new Set([
  Kind.chatAcknowledge,
  Kind.chatDelta,
  Kind.observeSubscribe,
  Kind.observeTyping,
  Kind.participantStatus,
  Kind.participantRequestStatus,
  Kind.spaceInviteAck,
  Kind.systemWelcome,
  Kind.systemSpace,
])

/** Whether a conversation omits an envelope: receipts, measurements, progress, and state shown elsewhere. */
export const isBackground = ({ kind, payload }: AnyEnvelope): boolean =>
  (background.has(kind) && getErasure({ kind, payload }) === undefined) ||
  (kind === Kind.mcpRequest && isNotification(payload)) ||
  (kind === Kind.systemPresence && isQuiet(payload))

/** Whether a presence only reports that a program has started or ended: users see this from other presences and from runs. */
const isQuiet = ({ event, program, session }: PresencePayload): boolean =>
  (program !== undefined && !isFailure(program)) ||
  (event === 'update' && session !== undefined && session.event !== 'replaced')

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

/** Kinds whose id users need for a command, such as `meup proposals approve <id>` or `meup caps revoke <id>`. */
const named: ReadonlySet<string> = new Set([Kind.mcpProposal, Kind.capabilityGrant, Kind.spaceInvite])

/** Formats the description of an envelope for a terminal, with symbols for common verbs. `''` for a thought without text. */
function styleLine(envelope: AnyEnvelope, description: Description): string {
  const { actor, object, tone } = description
  const why = getCallRationale(envelope)
  const reason = why === '' ? '' : `  — ${brief(why, maxArgumentsChars)}`
  const isMcp = tone === 'call' || tone === 'result' || tone === 'proposal'
  const detail = isMcp ? brief(description.detail, maxArgumentsChars) : description.detail
  const head = `${actor} ${signs[tone]}`
  switch (tone) {
    case 'message':
      return `${actor}${formatAddressees(envelope)}: ${detail}`
    case 'start':
      return `${head} ${isPrivate(envelope) ? '(private) ' : ''}${detail || 'thinking'}${formatAbout(envelope, detail)}`
    case 'end':
      return `${head} ${detail || 'done'}${formatAbout(envelope, detail)}`
    case 'thought':
    case 'plan':
    case 'error':
      if (detail === '') return ''
      return `${head} ${formatReply(description)}${withThoughtName(envelope.kind, detail)}${formatAbout(envelope, detail)}`
    case 'call':
      return `${head} ${[envelope.to?.join(','), object].filter(Boolean).join('/')} ${detail}${reason}`
    case 'result':
      return `${head} ${object}: ${detail}`
    case 'stop':
    case 'refusal':
      return actor === envelope.from
        ? sentence({ ...description, actor: head })
        : `${signs[tone]} ${sentence(description)}`
    case 'event':
    case 'problem':
      return `· ${formatEvent(envelope, description)}`
    case 'proposal':
      return `${sentence({ ...description, detail })}${reason}${formatId(envelope)}`
    case 'other':
      return sentence(description)
  }
}

/** Maximum characters of the addressees' names. */
const maxNamesChars = 60

/**
 * Removes from a chat the field `noAnswer`, by which its sender says that it could not answer, because this is printed
 * separately.
 */
export function messageAlone(envelope: AnyEnvelope): AnyEnvelope {
  if (envelope.kind !== Kind.chat) return envelope
  const { noAnswer: _, ...payload } = envelope.payload as ChatPayload & { noAnswer?: unknown }
  return { ...envelope, payload }
}

/** Whether only the addressees can read the envelope. */
export const isPrivate = ({ to }: Pick<AnyEnvelope, 'to'>): boolean => to !== undefined

/** The addressees of a message: ` → bot`, or ` → bot (private)` if only they can read it; `''` if there are none. */
function formatAddressees(envelope: AnyEnvelope): string {
  const names = getAsked(envelope)
  if (names.length === 0) return ''
  const mark = isPrivate(envelope) ? ' (private)' : ''
  return ` → ${brief(onOneLine(names.join(', ')), maxNamesChars)}${mark}`
}

const formatReply = ({ replyTo }: Description): string => (replyTo === undefined ? '' : `↳ ${replyTo}: `)

/** References and confidence, such as ` (references: m1, m2 · confidence: 0.7)`. */
function formatAbout({ payload }: AnyEnvelope, detail: string): string {
  const { references, metadata } = payload as { readonly references?: unknown; readonly metadata?: unknown }
  const confidence = isObject(metadata) ? metadata.confidence : undefined
  const about = onOneLine(detailsText({ references, metadata: { confidence } }))
  return about === '' || detail.includes(about) ? '' : ` (${brief(about, maxArgumentsChars)})`
}

const formatId = ({ kind, id }: AnyEnvelope): string => (named.has(kind) ? ` (${id})` : '')
const formatEvent = (envelope: AnyEnvelope, description: Description): string =>
  `${onOneLine(sentence(description))}${formatId(envelope)}`

/** Formats a decision about rights or participants on one line. */
export const formatTrustEvent = (envelope: AnyEnvelope): string =>
  `${envelope.ts}  ${formatEvent(envelope, describe(envelope, defaultGuard))}`

export interface MarkFlags {
  readonly time?: boolean
  readonly seq?: boolean
}

/** Prefixes the first line of each envelope with its time and seq, if requested. */
export function markLines(renderer: LineRenderer, { time, seq }: MarkFlags): LineRenderer {
  if (!time && !seq) return renderer
  return {
    lines(envelope) {
      const [first, ...rest] = renderer.lines(envelope)
      if (first === undefined) return []
      const at = time ? [formatLocalTime(Date.parse(envelope.ts))] : []
      const place = seq && envelope.seq !== undefined ? [`#${envelope.seq}`] : []
      return [[...at, ...place, first].join('  '), ...rest]
    },
  }
}

interface Printer {
  print(envelope: AnyEnvelope): void
  /** Records the calls and proposals of an earlier envelope, which later lines refer to, without printing it. */
  learn(envelope: AnyEnvelope): void
}

/** Prints envelopes as JSON, one per line, or as text. */
export function createPrinter(json: boolean | undefined, marks: MarkFlags = {}): Printer {
  if (json) return { print: (envelope) => void printJson(envelope), learn: () => {} }
  const conversation = markLines(new Conversation(), marks)
  return {
    print: (envelope) => conversation.lines(envelope).forEach(print),
    learn: (envelope) => void conversation.lines(envelope),
  }
}
