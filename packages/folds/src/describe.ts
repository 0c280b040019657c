import {
  type Capability,
  correlations,
  type Envelope,
  type EnvelopeOf,
  GATEWAY,
  getErasure,
  isKnownKind,
  isThought,
  Kind,
  type McpRefusalPayload,
  type PresencePayload,
  stringifyExact,
} from '@meup/protocol'
import { Bounded } from './bounded.js'
import { summaryText } from './contexts/thought-summaries.js'
import { getParameters, guardedToolName, isElicitation, isNotification, isToolCall } from './mcp/calls.js'
import { getStopWords, programEndedWords } from './mcp/program-ended.js'
import { type Result, readResult } from './mcp/result.js'
import { isFailure, programEventText } from './participant-text.js'
import { detailsText, payloadText, thoughtName, thoughtText, withoutThoughtName } from './payload-text.js'
import { type Guard, guarded, redact } from './redact.js'
import { attemptText, outcomeText } from './render/outcome.js'
import { getAsked } from './space/answers.js'
import type { ProposalView } from './space/proposals.js'
import { brief, formatDuration, inlineJson, isBlank, onOneLine, reasonText } from './text.js'

/** The category of an envelope, by which each surface (terminal, page, export) chooses a symbol, a colour or a place for it. */
export type Tone =
  | 'message'
  | 'start'
  | 'end'
  | 'stop'
  | 'thought'
  | 'plan'
  /** A thought that reports an error. */
  | 'error'
  | 'call'
  | 'result'
  | 'proposal'
  | 'refusal'
  /** An event of a participant or the space. */
  | 'event'
  /** A refusal of the gateway. */
  | 'problem'
  /** An envelope of any other kind. */
  | 'other'

/** An envelope as parts of a sentence: `ana` `kicked` `eve` `spam`. Texts are as logged: pass them through `printable`. */
export interface Description {
  readonly actor: string
  /** `''` for decisions of the gateway: `ana: chat denied: …`. */
  readonly verb: string
  /** The tool, the participant, or the name of the thought or message. */
  readonly object: string
  /** The text, the arguments or the result of a call, or the reason. */
  readonly detail: string
  readonly tone: Tone
  /** Author of the thought that this thought answers. */
  readonly replyTo?: string
}

/** Facts from earlier envelopes that the description depends on. */
interface Known {
  /** The called tool, if the envelope is an answer to a call. */
  readonly tool?: string | undefined
  /** The owner of the context that the envelope is in. */
  readonly owner?: string | undefined
  /** Author of the thought that the envelope answers. */
  readonly replyTo?: string | undefined
}

/** A description as a tuple. Default of `tone`: `event`; of `actor`: the sender. */
type Words = readonly [
  verb: string,
  object?: string,
  detail?: string | undefined,
  tone?: Tone,
  actor?: string,
]
type Describe<K extends Kind> = (envelope: EnvelopeOf<K>, guard: Guard, known: Known) => Words

/** Maximum characters of a reason, and of a message of the gateway. */
const [maxReasonChars, maxMessageChars] = [200, 300]

const names = (ids: readonly string[] = []): string => ids.join(', ')
const shorten = (reason = ''): string => brief(reason, maxReasonChars)
const until = (time: string | undefined): string => (time === undefined ? '' : ` until ${time}`)
const getText = (payload: object, guard?: Guard): string => payloadText({ ...payload }, guard)

/** Describes a request that an agent changes its own state: `asks bot to …`. */
const asks =
  (what: string) =>
  ({ to, payload }: Pick<Envelope, 'to' | 'payload'>, guard: Guard): Words => [
    'asks',
    `${names(to)} ${what}`,
    getText(payload, guard),
  ]

/** Describes the envelopes of each kind. */
const words: { readonly [K in Kind]: Describe<K> } = {
  [Kind.chat]: (envelope) => {
    const { payload } = envelope
    const object = payload.handOver ? `this over to ${names(getAsked(envelope))}` : ''
    return [payload.handOver ? 'hands' : 'says', object, getText(payload), 'message']
  },
  [Kind.chatAcknowledge]: () => ['takes note of', 'a message'],
  [Kind.chatCancel]: ({ payload }) => ['takes a message back', '', payload.reason, 'other'],
  [Kind.chatDelta]: ({ payload }) => ['writes', '', payload.text, 'message'],
  [Kind.observeTyping]: () => ['writes a message'],
  [Kind.mcpRequest]: (envelope, guard) => {
    const { params } = envelope.payload
    if (isElicitation(envelope.payload) && typeof params?.message === 'string')
      return ['asks', names(envelope.to), guarded(params.message, guard), 'call']
    const [verb, tone] = isNotification(envelope.payload)
      ? (['sends', 'other'] as const)
      : (['calls', 'call'] as const)
    return [verb, getTool(envelope, guard), getArguments(envelope, guard), tone]
  },
  [Kind.mcpResponse]: ({ payload }, guard, { tool = 'a tool' }) => {
    const result = readResult(payload, guard)
    return [result.outcome === 'error' ? 'fails' : 'answers', tool, resultText(result), 'result']
  },
  [Kind.mcpProposal]: (envelope, guard) =>
    proposal(getTool(envelope, guard), envelope.to, getArguments(envelope, guard)),
  [Kind.mcpWithdraw]: ({ payload }, guard, known) => refusal('withdraws', payload, guard, known),
  [Kind.mcpReject]: ({ payload }, guard, known) => refusal('rejects', payload, guard, known),
  [Kind.reasoningStart]: ({ payload }) => ['begins to think', '', getText(payload), 'start'],
  [Kind.reasoningThought]: (envelope) => thought(envelope),
  [Kind.reasoningConclusion]: ({ payload }) => ['concludes', '', getText(payload), 'end'],
  // A cancel by another participant is only a request to the owner, and closes nothing [MEUP-2.4].
  [Kind.reasoningCancel]: (envelope, _, { owner = envelope.from }) => {
    const { from, payload } = envelope
    const { reason } = payload
    const words = getStopWords(envelope)
    if (words !== undefined) return ['stopped', '', words, 'stop', owner]
    return owner === from || from === GATEWAY
      ? ['stops thinking', '', reason, 'stop']
      : ['asks', `${owner} to stop`, reason, 'other']
  },
  [Kind.observeSubscribe]: ({ payload }) => ['subscribes', '', inlineJson(payload, maxReasonChars)],
  [Kind.observeVisibility]: ({ from, payload: { reasoningVisible } }, _, { owner }) => {
    const whose = owner === undefined ? 'a run' : owner === from ? 'its run' : owner
    return reasoningVisible
      ? ['shows', `the thoughts of ${whose} to everyone again`]
      : ['hides', `the thoughts of ${whose} from everyone`]
  },
  [Kind.observeSummary]: ({ from, payload }, _, { owner = from }) => [
    'has had',
    summaryText(payload),
    '',
    'thought',
    owner,
  ],
  [Kind.capabilityGrant]: ({ payload: { recipient, capabilities, expiresAt, reason } }) => [
    'granted',
    `${recipient} ${formatCapabilities(capabilities)}${until(expiresAt)}`,
    shorten(reason),
  ],
  [Kind.capabilityRevoke]: ({ payload: { recipient, grantId, capabilities = [], reason } }) => [
    'revoked',
    `${grantId ?? formatCapabilities(capabilities)} of ${recipient}`,
    shorten(reason),
  ],
  [Kind.capabilityGrantAck]: (envelope) => [envelope.payload.status, names(correlations(envelope))],
  [Kind.spaceInvite]: ({ payload: { participantId, capabilities, expiresAt, reason } }) => [
    'invited',
    `${participantId} with ${formatCapabilities(capabilities)}${until(expiresAt)}`,
    shorten(reason),
  ],
  // Only the inviter gets the token, so the token is not shown.
  [Kind.spaceInviteAck]: ({ payload }) => ['admits', payload.participantId],
  [Kind.spaceKick]: ({ payload: { participantId, reason, untilTs } }) => [
    'kicked',
    `${participantId}${until(untilTs)}`,
    shorten(reason),
  ],
  [Kind.participantPause]: ({ to, payload: { reason, timeoutSeconds } }) => {
    const time = timeoutSeconds === undefined ? '' : ` for ${formatDuration(timeoutSeconds * 1000)}`
    return ['paused', `${names(to)}${time}`, shorten(reason)]
  },
  [Kind.participantResume]: ({ to, payload }) => ['resumed', names(to), shorten(payload.reason)],
  [Kind.participantStatus]: ({ payload }) => ['tells', 'its status', getText(payload)],
  [Kind.participantRequestStatus]: asks('for a status'),
  [Kind.participantForget]: asks('to forget'),
  [Kind.participantCompact]: asks('to compact its memory'),
  [Kind.participantCompactDone]: ({ payload }, guard) => [
    'has compacted',
    'its memory',
    getText(payload, guard),
  ],
  [Kind.participantClear]: asks('to clear its memory'),
  [Kind.participantRestart]: asks('to restart'),
  [Kind.participantShutdown]: asks('to end'),
  [Kind.systemWelcome]: ({ payload }) => ['welcomes', payload.you.id],
  [Kind.systemTick]: () => ['is', 'here'],
  [Kind.systemError]: ({ payload }) => [
    'refuses',
    'an envelope',
    `${payload.message} (${payload.code})`,
    'problem',
  ],
  [Kind.systemPresence]: ({ payload: { event, participant, program, ended, session } }) => {
    const { id } = participant
    if (session !== undefined && event === 'update')
      return [sessionText(session), '', '', isContested({ session }) ? 'problem' : 'event', id]
    if (ended !== undefined) return [endedText(ended), '', '', 'event', id]
    if (program === undefined) return [presence[event], '', '', 'event', id]
    return [programEventText(id, program), '', '', isFailure(program) ? 'problem' : 'event', id]
  },
  // The decision concerns its first addressee; further ones may only read it.
  [Kind.systemDecision]: ({ to, payload }) => {
    const { decision, message, reasonCode, attemptedKind, attemptedTool, missing, count } = payload
    const isReview = decision === 'review'
    const what = [attemptedKind, attemptedTool, isReview ? 'passed for review' : decision]
    const times = count > 1 ? ` ×${count}` : ''
    const attempt = attemptText(payload)
    // The message addresses the sender; for other readers, the missing capability is the reason.
    const cause = missing === undefined ? message : `it lacks ${formatCapability(missing)}`
    const why = `${brief(cause, maxMessageChars)} (${reasonCode})${times}${attempt && ` · ${attempt}`}`
    return ['', what.filter(Boolean).join(' '), why, isReview ? 'event' : 'problem', names(to?.slice(0, 1))]
  },
  [Kind.systemSpace]: (envelope) => {
    const { by, seq, reason } = getErasure(envelope) ?? {}
    if (by !== undefined) return ['erased', `the envelope ${seq}`, shorten(reason), 'event', by]
    return [`was ${envelope.payload.event}`, '', '', 'event', 'the space']
  },
}

const endedText = ({ what, id }: NonNullable<PresencePayload['ended']>): string => {
  if (what === 'pause') return 'is no longer paused'
  return what === 'grant'
    ? `no longer has what ${id} granted`
    : `no longer waits: its proposal ${id} has expired`
}

const sessionText = ({ event, count }: NonNullable<PresencePayload['session']>): string => {
  if (event === 'begun') return 'begins a program'
  if (event === 'ended') return `stopped: ${programEndedWords}`
  return `is replaced by another program${count === undefined ? '' : ` (${count}× within a minute)`}`
}

/** Whether several programs keep replacing each other as one participant, which is probably a mistake. */
export const isContested = ({ session }: Pick<PresencePayload, 'session'>): boolean =>
  session?.count !== undefined

const presence = { join: 'is here', leave: 'left', update: 'has other capabilities' } as const

/**
 * Describes an envelope of any kind. Every surface uses these words in its own style. `guard` masks MCP payloads and unknown
 * kinds, which the gateway relays unchanged [MEUP-6.9].
 */
export function describe(envelope: Envelope, guard: Guard, known: Known = {}): Description {
  const { replyTo } = known
  const description = toDescription(envelope.from, getWords(envelope, guard, known))
  return replyTo === undefined ? description : { ...description, replyTo }
}

function getWords(envelope: Envelope, guard: Guard, known: Known): Words {
  const { kind, payload } = envelope
  // The cast is safe: the gateway has validated the payload of a known kind.
  if (isKnownKind(kind))
    return (words[kind] as (...args: [Envelope, Guard, Known]) => Words)(envelope, guard, known)
  if (isThought(kind)) return thought(envelope)
  const text = payloadText(payload, guard) || detailsText(redact(payload, guard).value as typeof payload)
  return ['sends', kind, text, 'other']
}

function toDescription(
  from: string,
  [verb, object = '', detail = '', tone = 'event', actor = from]: Words,
): Description {
  return { actor, verb, object, detail, tone }
}

/** A description as a sentence: `ana asks bot to stop: enough`. */
export function sentence({ actor, verb: deed, object, detail, tone, replyTo }: Description): string {
  const verb = replyTo === undefined ? deed : `replies to ${replyTo}`
  const link = tone === 'proposal' ? ' ' : tone === 'event' && verb !== '' ? ' — ' : ': '
  const said = detail === '' ? '' : `${link}${detail}`
  if (verb === '') return `${actor}: ${object}${said}`
  if (tone === 'result') return `${object} of ${actor} ${verb}${said}`
  const isNamedThought = object !== '' && (tone === 'thought' || tone === 'plan' || tone === 'error')
  return `${[actor, isNamedThought ? `${verb},` : verb, object].filter(Boolean).join(' ')}${said}`
}

/**
 * Describes envelopes in log order. Remembers called tools and authors of thoughts, because answers to them name only an id.
 */
export class Describer {
  readonly #guard: Guard
  readonly #getOwner: (context: string) => string | null | undefined
  /** Names of the called tools, by the id of the call; answers are described with them. */
  readonly #tools = new Bounded<string>(1000)
  readonly #thinkers = new Thinkers()

  constructor(guard: Guard, getOwner: (context: string) => string | null | undefined) {
    this.#guard = guard
    this.#getOwner = getOwner
  }

  describe(envelope: Envelope): Description {
    const { kind, id, payload } = envelope
    const context =
      kind === Kind.observeVisibility && typeof payload.context === 'string'
        ? payload.context
        : envelope.context
    if (kind === Kind.mcpRequest || kind === Kind.mcpProposal)
      this.#tools.set(id, getTool(envelope, this.#guard))
    const tool = correlations(envelope).flatMap((about) => this.#tools.get(about) ?? [])[0]
    const owner = context === undefined ? undefined : (this.#getOwner(context) ?? undefined)
    const replyTo = this.#thinkers.findAnswered(envelope)
    return describe(envelope, this.#guard, { tool, owner, replyTo })
  }
}

/** Maximum thoughts whose authors are remembered. */
const maxThoughts = 1000

/** Remembers the authors of thoughts, which others answer by id [MEUP-2.5]. */
export class Thinkers {
  readonly #byThought = new Bounded<string>(maxThoughts)

  /** Returns the author of the thought that this one answers, and remembers the author of this one. */
  findAnswered(envelope: Envelope): string | undefined {
    const { kind, id, from, context } = envelope
    if (context === undefined || !isThought(kind)) return undefined
    const answered = correlations(envelope).flatMap((about) => this.#byThought.get(about) ?? [])[0]
    this.#byThought.set(id, from)
    return answered
  }
}

/** Describes a proposal. `shownArguments`: the arguments as text; `{}` omits them. */
export const describeProposal = (
  { source: { from, to }, tool }: Pick<ProposalView, 'source' | 'tool'>,
  shownArguments: string,
): Description => toDescription(from, proposal(onOneLine(tool), to, shownArguments))

const proposal = (tool: string, to: readonly string[] | undefined, shownArguments: string): Words => [
  'asks whether',
  to === undefined ? tool : `${tool} of ${to.join(' and ')}`,
  `may be called${shownArguments === '{}' ? '' : ` with ${shownArguments}`}`,
  'proposal',
]

/** The rationale of a call. Without one: `no reason given` for a tool call, `''` for other methods. */
export function getCallRationale({
  rationale = '',
  payload,
}: Pick<Envelope, 'rationale' | 'payload'>): string {
  if (!isBlank(rationale)) return rationale
  return isToolCall(payload) ? reasonText(null) : ''
}

/** The outcome of a call in words: `success (10 chars)`, `error: no such file`. */
export const resultText = (result: Result): string =>
  `${outcomeText(result)}${result.outcome === 'error' && result.text !== '' ? `: ${result.text}` : ''}`

export const formatCapabilities = (capabilities: readonly Capability[]): string =>
  onOneLine(capabilities.map(formatCapability).join(' ')) || 'nothing'

/** A capability as text: its kind, or JSON. */
export const formatCapability = (capability: Capability): string =>
  typeof capability === 'string' ? capability : JSON.stringify(capability)

const getTool = ({ payload }: { readonly payload: object }, guard: Guard): string =>
  onOneLine(guardedToolName({ ...payload }, guard))

const getArguments = ({ payload }: { readonly payload: object }, guard: Guard): string =>
  String(stringifyExact(redact(getParameters({ ...payload }), guard).value))

const refusal = (
  verb: string,
  { reason, message }: McpRefusalPayload,
  guard: Guard,
  { tool = 'a proposal' }: Known,
): Words => [verb, tool, guarded(message ?? reason, guard), 'refusal']

function thought({ kind, payload }: { readonly kind: string; readonly payload: object }): Words {
  const { phase } = payload as { readonly phase?: unknown }
  const tone = phase === 'error' || phase === 'plan' ? phase : 'thought'
  return ['thinks', thoughtName(kind), withoutThoughtName(kind, thoughtText({ ...payload })), tone]
}
