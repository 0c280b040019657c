import {
  type Capability,
  correlations,
  type DecisionPayload,
  type Envelope,
  type EnvelopeOf,
  GATEWAY,
  isKnownKind,
  isThought,
  Kind,
} from '@meup/protocol'
import { Bounded } from './bounded.js'
import { formatDuration } from './duration.js'
import { getParameters, guardedToolName, isNotification, isToolCall } from './mcp/calls.js'
import { type Result, readResult } from './mcp/result.js'
import { detailsText, payloadText, thoughtName, thoughtText, withoutThoughtName } from './payload-text.js'
import { type Guard, redact } from './redact.js'
import { attemptText, outcomeText } from './render/outcome.js'
import { brief, inlineJson, isBlank, onOneLine, reasonText } from './text.js'

/** What a line is about: surfaces choose its sign, colour or place by it. */
export type Tone =
  | 'message'
  | 'start'
  | 'end'
  | 'stop'
  | 'thought'
  | 'plan'
  /** A thought about an error. */
  | 'error'
  | 'call'
  | 'result'
  | 'proposal'
  | 'refusal'
  /** Something about a participant or the space. */
  | 'event'
  /** What the gateway did not let pass. */
  | 'problem'
  /** Anything else that is said, in kinds of any namespace. */
  | 'other'

/** How an envelope reads: `ana` `kicked` `eve` `spam`. Texts are as they were logged: make them `printable`. */
export interface Description {
  readonly actor: string
  /** `''` for decisions of the gateway, which read `ana: chat denied: …`. */
  readonly verb: string
  /** The tool, the participant, or the kind of thought or message. */
  readonly object: string
  /** What is said, the arguments or the result of a call, or the reason. */
  readonly detail: string
  readonly tone: Tone
}

/** What earlier envelopes say about one. */
interface Known {
  /** The tool of the call that it answers. */
  readonly tool?: string | undefined
  /** Who opened its context. */
  readonly owner?: string | undefined
}

type Words = Partial<Description>
type Describe<K extends Kind> = (envelope: EnvelopeOf<K>, guard: Guard, known: Known) => Words

/** Characters of a reason, and of a message of the gateway. */
const [maxReasonChars, maxMessageChars] = [200, 300]

const names = (ids: readonly string[] = []): string => ids.join(', ')
const shorten = (reason = ''): string => brief(reason, maxReasonChars)
const until = (time: string | undefined): string => (time === undefined ? '' : ` until ${time}`)
const textOf = (payload: object, guard?: Guard): string => payloadText({ ...payload }, guard)

/** A request that an agent does something about itself. */
const asks =
  (what: string) =>
  ({ to, payload }: Pick<Envelope, 'to' | 'payload'>, guard: Guard): Words => ({
    verb: 'asks',
    object: `${names(to)} ${what}`,
    detail: textOf(payload, guard),
  })

/** How each kind reads. What is left out: the sender is the actor, and the tone is `event`. */
const words: { readonly [K in Kind]: Describe<K> } = {
  [Kind.chat]: ({ payload }) => ({ verb: 'says', detail: textOf(payload), tone: 'message' }),
  [Kind.chatAcknowledge]: () => ({ verb: 'takes note of', object: 'a message' }),
  [Kind.chatCancel]: ({ payload: { reason = '' } }) => ({
    verb: 'takes a message back',
    detail: reason,
    tone: 'other',
  }),
  [Kind.mcpRequest]: (envelope, guard) => ({
    verb: isNotification(envelope.payload) ? 'sends' : 'calls',
    object: getTool(envelope, guard),
    detail: getArguments(envelope, guard),
    tone: isNotification(envelope.payload) ? 'other' : 'call',
  }),
  [Kind.mcpResponse]: ({ payload }, guard, { tool = 'a tool' }) => {
    const result = readResult(payload, guard)
    const verb = result.outcome === 'error' ? 'fails' : 'answers'
    return { verb, object: tool, detail: resultText(result), tone: 'result' }
  },
  [Kind.mcpProposal]: (envelope, guard) =>
    describeProposal({ source: envelope, tool: getTool(envelope, guard) }, getArguments(envelope, guard)),
  [Kind.mcpWithdraw]: (envelope, _, known) => refusal('withdraws', envelope, known),
  [Kind.mcpReject]: (envelope, _, known) => refusal('rejects', envelope, known),
  [Kind.reasoningStart]: ({ payload }) => ({
    verb: 'begins to think',
    detail: textOf(payload),
    tone: 'start',
  }),
  [Kind.reasoningThought]: (envelope) => thought(envelope),
  [Kind.reasoningConclusion]: ({ payload }) => ({ verb: 'concludes', detail: textOf(payload), tone: 'end' }),
  // Of another participant it is a request, and closes nothing [MEUP-2.4].
  [Kind.reasoningCancel]: ({ from, payload: { reason = '' } }, _, { owner = from }) =>
    owner === from || from === GATEWAY
      ? { verb: 'stops thinking', detail: reason, tone: 'stop' }
      : { verb: 'asks', object: `${owner} to stop`, detail: reason, tone: 'other' },
  [Kind.observeSubscribe]: ({ payload }) => ({
    verb: 'subscribes',
    detail: inlineJson(payload, maxReasonChars),
  }),
  [Kind.observeVisibility]: ({ payload: { reasoningVisible } }) => ({
    verb: reasoningVisible ? 'showed' : 'hid',
    object: `the thoughts of a run${reasoningVisible ? ' again' : ''}`,
  }),
  [Kind.capabilityGrant]: ({ payload: { recipient, capabilities, expiresAt, reason } }) => ({
    verb: 'granted',
    object: `${recipient} ${formatCapabilities(capabilities)}${until(expiresAt)}`,
    detail: shorten(reason),
  }),
  [Kind.capabilityRevoke]: ({ payload: { recipient, grantId, capabilities = [], reason } }) => ({
    verb: 'revoked',
    object: `${grantId ?? formatCapabilities(capabilities)} of ${recipient}`,
    detail: shorten(reason),
  }),
  [Kind.capabilityGrantAck]: (envelope) => ({
    verb: envelope.payload.status,
    object: names(correlations(envelope)),
  }),
  [Kind.spaceInvite]: ({ payload: { participantId, capabilities, expiresAt, reason } }) => ({
    verb: 'invited',
    object: `${participantId} with ${formatCapabilities(capabilities)}${until(expiresAt)}`,
    detail: shorten(reason),
  }),
  // Its token is for the inviter alone.
  [Kind.spaceInviteAck]: ({ payload }) => ({ verb: 'admits', object: payload.participantId }),
  [Kind.spaceKick]: ({ payload: { participantId, reason, untilTs } }) => ({
    verb: 'kicked',
    object: `${participantId}${until(untilTs)}`,
    detail: shorten(reason),
  }),
  [Kind.participantPause]: ({ to, payload: { reason, timeoutSeconds } }) => ({
    verb: 'paused',
    object: `${names(to)}${timeoutSeconds === undefined ? '' : ` for ${formatDuration(timeoutSeconds * 1000)}`}`,
    detail: shorten(reason),
  }),
  [Kind.participantResume]: ({ to, payload: { reason } }) => ({
    verb: 'resumed',
    object: names(to),
    detail: shorten(reason),
  }),
  [Kind.participantStatus]: ({ payload }) => ({
    verb: 'tells',
    object: 'its status',
    detail: textOf(payload),
  }),
  [Kind.participantRequestStatus]: asks('for a status'),
  [Kind.participantForget]: asks('to forget'),
  [Kind.participantCompact]: asks('to compact its memory'),
  [Kind.participantCompactDone]: ({ payload }, guard) => ({
    verb: 'has compacted',
    object: 'its memory',
    detail: textOf(payload, guard),
  }),
  [Kind.participantClear]: asks('to clear its memory'),
  [Kind.participantRestart]: asks('to restart'),
  [Kind.participantShutdown]: asks('to end'),
  [Kind.systemWelcome]: ({ payload: { you } }) => ({ verb: 'welcomes', object: you.id }),
  [Kind.systemError]: ({ payload: { code, message } }) => ({
    verb: 'refuses',
    object: 'an envelope',
    detail: `${message} (${code})`,
    tone: 'problem',
  }),
  [Kind.systemPresence]: ({ payload: { event, participant } }) => ({
    actor: participant.id,
    verb: presence[event],
  }),
  [Kind.systemDecision]: ({ to, payload }) => ({
    actor: names(to),
    verb: '',
    object: [payload.attemptedKind, payload.attemptedTool, outcomes[payload.decision]]
      .filter(Boolean)
      .join(' '),
    detail: decisionText(payload),
    tone: payload.decision === 'review' ? 'event' : 'problem',
  }),
  [Kind.systemSpace]: ({ payload: { event } }) => ({ actor: 'the space', verb: `was ${event}` }),
}

const presence = { join: 'is here', leave: 'left', update: 'changed' } as const
const outcomes = {
  denied: 'denied',
  blocked: 'blocked',
  limited: 'limited',
  review: 'passed for review',
} as const

/**
 * How an envelope of any kind reads to a person. All surfaces use these words, and style them.
 *
 * `guard`: what MCP payloads and unknown kinds pass, which the gateway relays unchanged [MEUP-6.9].
 */
export function describe(envelope: Envelope, guard: Guard, known: Known = {}): Description {
  const { kind, from } = envelope
  const base = { actor: from, object: '', detail: '', tone: 'event' } as const
  if (isKnownKind(kind)) {
    // The gateway has validated the payload of its kind.
    const say = words[kind] as (envelope: Envelope, guard: Guard, known: Known) => Words
    return { ...base, verb: '', ...say(envelope, guard, known) }
  }
  if (isThought(kind)) return { ...base, verb: '', ...thought(envelope) }
  const { payload } = envelope
  const detail = payloadText(payload, guard) || detailsText(redact(payload, guard).value as typeof payload)
  return { ...base, verb: 'sends', object: kind, detail, tone: 'other' }
}

/** A description as a sentence: `ana asks bot to stop: enough`. */
export function sentence({ actor, verb, object, detail, tone }: Description): string {
  const link = tone === 'proposal' ? ' ' : tone === 'event' && verb !== '' ? ' — ' : ': '
  const said = detail === '' ? '' : `${link}${detail}`
  if (verb === '') return `${actor}: ${object}${said}`
  if (tone === 'result') return `${object} of ${actor} ${verb}${said}`
  const isNamedThought = object !== '' && (tone === 'thought' || tone === 'plan' || tone === 'error')
  return `${[actor, isNamedThought ? `${verb},` : verb, object].filter(Boolean).join(' ')}${said}`
}

/** Describes envelopes in log order, and remembers which tools were called. */
export class Describer {
  readonly #guard: Guard
  readonly #ownerOf: (context: string) => string | null | undefined
  /** Calls that may still be answered. */
  readonly #tools = new Bounded<string>(1000)

  constructor(guard: Guard, ownerOf: (context: string) => string | null | undefined) {
    this.#guard = guard
    this.#ownerOf = ownerOf
  }

  describe(envelope: Envelope): Description {
    const { kind, id, context } = envelope
    if (kind === Kind.mcpRequest || kind === Kind.mcpProposal)
      this.#tools.set(id, getTool(envelope, this.#guard))
    const tool = correlations(envelope).flatMap((about) => this.#tools.get(about) ?? [])[0]
    const owner = context === undefined ? undefined : (this.#ownerOf(context) ?? undefined)
    return describe(envelope, this.#guard, { tool, owner })
  }
}

/** A proposal, with its arguments as far as they are shown. */
export const describeProposal = (
  { source: { from, to }, tool }: { readonly source: Pick<Envelope, 'from' | 'to'>; readonly tool: string },
  shownArguments: string,
): Description => ({
  actor: from,
  verb: 'asks whether',
  object: [onOneLine(tool), to?.join(' and ')].filter(Boolean).join(' of '),
  detail: `may be called${shownArguments === '{}' ? '' : ` with ${shownArguments}`}`,
  tone: 'proposal',
})

/** Why a call is made; `''` for methods that need no reason and give none. */
export function getWhy({ rationale = '', payload }: Pick<Envelope, 'rationale' | 'payload'>): string {
  if (!isBlank(rationale)) return rationale
  return isToolCall(payload) ? reasonText(null) : ''
}

/** What a call came to: `success (10 chars)`, `error: no such file`. */
export const resultText = (result: Result): string =>
  `${outcomeText(result)}${result.outcome === 'error' && result.text !== '' ? `: ${result.text}` : ''}`

export const formatCapabilities = (capabilities: readonly Capability[]): string =>
  onOneLine(capabilities.map(formatCapability).join(' ')) || 'nothing'

/** A kind, or JSON. */
export const formatCapability = (capability: Capability): string =>
  typeof capability === 'string' ? capability : JSON.stringify(capability)

const getTool = ({ payload }: { readonly payload: object }, guard: Guard): string =>
  onOneLine(guardedToolName({ ...payload }, guard))

const getArguments = ({ payload }: { readonly payload: object }, guard: Guard): string =>
  JSON.stringify(redact(getParameters({ ...payload }), guard).value)

const refusal = (
  verb: string,
  { payload: { reason, message } }: EnvelopeOf<typeof Kind.mcpReject | typeof Kind.mcpWithdraw>,
  { tool = 'a proposal' }: Known,
): Words => ({ verb, object: tool, detail: message ?? reason, tone: 'refusal' })

function thought({ kind, payload }: { readonly kind: string; readonly payload: object }): Words {
  const { phase } = payload as { readonly phase?: unknown }
  return {
    verb: 'thinks',
    object: thoughtName(kind),
    detail: withoutThoughtName(kind, thoughtText({ ...payload })),
    tone: phase === 'error' || phase === 'plan' ? phase : 'thought',
  }
}

function decisionText(payload: DecisionPayload): string {
  const { message, reasonCode, count } = payload
  const attempt = attemptText(payload)
  const times = count > 1 ? ` ×${count}` : ''
  return `${brief(message, maxMessageChars)} (${reasonCode})${times}${attempt && ` · ${attempt}`}`
}
