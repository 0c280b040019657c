import { attemptText, cut, inlineJson, onOneLine } from '@meup/folds'
import { type Envelope, Kind, type PresencePayload } from '@meup/protocol'

const maxValueChars = 300
/** Of a whole line. */
const maxEventChars = 2000

type Payload = Readonly<Record<string, unknown>>
type FormatEvent = (payload: Payload, envelope: Envelope) => string

const joinCapabilities = (values: unknown): string =>
  Array.isArray(values) ? values.map(formatCapability).join(', ') : ''
const formatCapability = (value: unknown): string =>
  typeof value === 'string' ? value : getOnlyKind(value) || inlineJson(value, maxValueChars)
const getOnlyKind = (value: unknown): string =>
  typeof value === 'object' && value !== null && 'kind' in value && Object.keys(value).length === 1
    ? String(value.kind)
    : ''
const formatReason = ({ reason }: Payload): string => (typeof reason === 'string' ? `: ${reason}` : '')
const to = ({ to }: Envelope): string => (to ?? []).join(', ')

/** The text of each kind, which follows the sender's name. */
const texts: Readonly<Record<string, FormatEvent>> = {
  [Kind.systemDecision]: (payload, envelope) => {
    const { decision, attemptedTool = '', reasonCode, message, count } = payload
    const what = [decision, to(envelope), attemptedTool].filter(Boolean).join(' ')
    const attempt = attemptText(payload)
    const times = Number(count) > 1 ? ` × ${count}` : ''
    return `${what}: ${message} (${reasonCode}${times})${attempt && ` · ${attempt}`}`
  },
  [Kind.systemSpace]: ({ event }) => `the space was ${event}`,
  [Kind.systemError]: ({ code, message }) => `${code}: ${message}`,
  [Kind.observeVisibility]: ({ reasoningVisible }) =>
    reasoningVisible === false ? 'hid the thoughts of a run' : 'showed the thoughts of a run again',
  [Kind.capabilityGrant]: (payload) =>
    `gave ${payload.recipient} ${joinCapabilities(payload.capabilities)}${formatReason(payload)}`,
  [Kind.capabilityRevoke]: (payload) =>
    `took back from ${payload.recipient} ${payload.grantId ?? joinCapabilities(payload.capabilities)}${formatReason(payload)}`,
  [Kind.capabilityGrantAck]: ({ status }) => `${status} what was given`,
  [Kind.spaceInvite]: (payload) => `invited ${payload.participantId}${formatReason(payload)}`,
  [Kind.spaceKick]: (payload) => `closed ${payload.participantId} out${formatReason(payload)}`,
  [Kind.participantPause]: (payload, envelope) => `paused ${to(envelope)}${formatReason(payload)}`,
  [Kind.participantResume]: (payload, envelope) => `let ${to(envelope)} go on${formatReason(payload)}`,
  [Kind.reasoningCancel]: (payload) => `asked to stop${formatReason(payload)}`,
}

/** Who came and who went: `ana, bot joined · eve left`. */
export function arrivalsText(envelopes: readonly Envelope[]): string {
  const parts: { verb: string; ids: string[] }[] = []
  for (const { payload } of envelopes as readonly { payload: Partial<PresencePayload> }[]) {
    const verb = payload.event === 'join' ? 'joined' : 'left'
    const id = payload.participant?.id ?? ''
    const last = parts.at(-1)
    if (last?.verb === verb) last.ids.push(id)
    else parts.push({ verb, ids: [id] })
  }
  return onOneLine(parts.map(({ verb, ids }) => `${ids.join(', ')} ${verb}`).join(' · '))
}

/** Formats an event that is not a message, on one line. */
export function eventText(envelope: Envelope): string {
  const { kind, payload } = envelope
  const format = texts[kind]
  const text =
    format === undefined ? `${kind} ${inlineJson(payload, maxValueChars)}` : format(payload, envelope)
  return onOneLine(cut(text, maxEventChars))
}
