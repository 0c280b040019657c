import { randomBytes } from 'node:crypto'
import type { LoggedRevoke } from '@meup/folds'
import { correlations, type Envelope, freshId, type InvitePayload, isLiveKind, Kind } from '@meup/protocol'
import { encode } from '../../log/entries.js'
import { messageFrom, type Sender } from '../../ports/connection.js'
import { inviteAckFrame } from '../frames.js'
import { type Refusal, refuse } from '../refusal.js'
import { texts } from '../refusal-texts.js'
import { hashToken } from '../state/trust/invitations.js'
import type { Admission, AdmissionContext, StepOutcome } from './admission-context.js'

/**
 * Sets the sender: `from` has to be the identity of the connection, or absent: `sender_mismatch` [MEUP-1.1]. Adds the time and,
 * if missing, an id.
 */
export function identifySender({ envelope, sender, now }: AdmissionContext, space: Admission): StepOutcome {
  const { participant } = sender
  if (envelope.from !== undefined && envelope.from !== participant)
    return refuse('sender_mismatch', texts.otherSender, { participant }, { path: '/from' })
  envelope.from = participant
  envelope.id ??= freshId(now)
  envelope.ts = space.timestamp(now)
  return nameProgram(envelope, sender, space)
}

/** Records which program of the sender began a run, made a call or proposed one [MEUP-2.14]. */
function nameProgram(
  envelope: Envelope,
  { participant, session }: Sender,
  { state }: Admission,
): Refusal | undefined {
  if (session === undefined) return undefined
  const { programs } = state
  if (!programs.isLiving(participant, session) && programs.isReplaced(participant, session))
    return replacedRefusal(participant)
  if (isOfProgram(envelope)) envelope.session = session
  return undefined
}

export const replacedRefusal = (participant: string): Refusal =>
  refuse('session_replaced', texts.replacedProgram, { participant })

/**
 * Starts, proposals and calls note the program of their sender. An approval by id is a call as well: its empty payload is
 * filled in by a later step.
 */
const isOfProgram = ({ kind, payload }: Envelope): boolean =>
  kind === Kind.reasoningStart ||
  kind === Kind.mcpProposal ||
  (kind === Kind.mcpRequest && (payload.id !== undefined || Object.keys(payload).length === 0))

/** Units of work charged per id that is looked up in the log, possibly on disk. */
const lookupWork = 20

/**
 * Echoes the original for a known id with the same sender and content; refuses any other reuse as `duplicate_id` [MEUP-1.10],
 * and a start in a context that others already use [MEUP-2.12].
 */
export function deduplicate(admission: AdmissionContext, space: Admission): StepOutcome {
  admission.encoded = encode(admission.envelope, admission.payload, admission.orPropose)
  const { id, kind } = admission.envelope
  if (isLiveKind(kind)) return undefined
  // One lookup for the id itself; for a start a second one, because its id may name a context; and one per correlation, because
  // rights and visibility look up the envelopes that this one answers.
  const lookups = kind === Kind.reasoningStart ? 2 : 1
  const ids = lookups + correlations(admission.envelope).length
  admission.meter.charge(ids * lookupWork, 'ids to look up')
  const known = space.ids.find(id, admission.sender.participant, admission.encoded.content, admission.meter)
  if (known === undefined) {
    if (kind !== Kind.reasoningStart || !isContext(id, space)) return undefined
    return refuse('duplicate_id', texts.contextId, { id }, { path: '/id' })
  }
  // A retry of an erased envelope is refused like the id of someone else, even before the bytes are removed [MEUP-10.11].
  if (known === 'other' || space.state.erasures.seqs.has(known.seq))
    return refuse('duplicate_id', texts.takenId, { id }, { path: '/id' })
  if (known.message !== undefined) admission.sender.echo(known.seq, known.message)
  return { answered: true, id, seq: known.seq }
}

/** Whether an id names a context. The state also knows runs whose start was pruned. */
const isContext = (root: string, { ids, state }: Admission): boolean =>
  state.contexts.get(root) !== undefined || ids.hasContext(root)

/** Relays an envelope that is not logged, and ends its admission. The sender gets no acknowledgement [MEUP-3.25, 3.32]. */
export function relay({ envelope, encoded, sender }: AdmissionContext, space: Admission): StepOutcome {
  const { id, kind } = envelope
  if (!isLiveKind(kind)) return undefined
  if (sender.isRequest) return refuse('invalid_request', texts.socketOnly, { kind })
  space.relay(envelope, encoded, sender)
  return { relayed: true, id, seq: 0 }
}

/** Assigns the seq and applies the envelope to the state. From here on it is admitted [MEUP-4.9]. */
export function sequence(
  { envelope, encoded, sender, writtenId: id = '' }: AdmissionContext,
  space: Admission,
): StepOutcome {
  space.admit(envelope, encoded, { sender, id })
  return undefined
}

const tokenBytes = 32

/**
 * Creates the token of an invitation and adds its hash to the logged payload [MEUP-3.15]. A configured participant keeps its
 * token, which becomes valid again.
 */
export function invite(admission: AdmissionContext, { state, config }: Admission): StepOutcome {
  const { envelope } = admission
  if (envelope.kind !== Kind.spaceInvite) return undefined
  const { participantId } = envelope.payload as InvitePayload
  const url = `/spaces/${config.name}/ws`
  if (state.participants.isNamed(participantId)) {
    admission.invitation = { status: 'readmitted', participantId, token: '', url }
    return undefined
  }
  const token = randomBytes(tokenBytes).toString('base64url')
  addToPayload(admission, { tokenSha256: hashToken(token) })
  admission.invitation = { status: 'created', participantId, token, url }
  return undefined
}

/** Adds to a revocation by capabilities the ids of the grants that it takes back [MEUP-4.15]. */
export function revoke(admission: AdmissionContext): StepOutcome {
  const { envelope, revoked } = admission
  if (revoked === undefined || (envelope.payload as LoggedRevoke).grantId !== undefined) return undefined
  addToPayload(admission, { revoked: revoked.map(({ id }) => id) })
  return undefined
}

/** Adds fields of the gateway to a payload. They are not compared when the sender retries. */
function addToPayload(admission: AdmissionContext, member: Readonly<Record<string, unknown>>): void {
  const { envelope, payload } = admission
  envelope.payload = { ...envelope.payload, ...member }
  admission.payload = Buffer.concat([
    payload.subarray(0, -1),
    Buffer.from(`,${JSON.stringify(member).slice(1)}`),
  ])
  admission.isRewritten = true
}

/** Builds the logged bytes if a step has changed the envelope. The content for comparing retries stays as sent [MEUP-1.12]. */
export function encodeAccepted(admission: AdmissionContext): StepOutcome {
  if (admission.isRewritten === undefined) return undefined
  const { content } = admission.encoded
  const again = encode(admission.envelope, admission.payload)
  // If only fields that the gateway adds have changed, the content is still the end of the new body: both then share its bytes.
  admission.encoded = Buffer.compare(again.content, content) === 0 ? again : { body: again.body, content }
  return undefined
}

/**
 * Sends the token of an invitation to the inviter once the invitation is committed [MEUP-3.15]: on the sender's socket after
 * the echo, or in the HTTP receipt.
 */
export function deliverInviteToken(
  { envelope, sender, invitation, now }: AdmissionContext,
  space: Admission,
): StepOutcome {
  if (invitation === undefined) return undefined
  const { id, seq = 0 } = envelope
  const ack = inviteAckFrame(sender.participant, space.timestamp(now), invitation, id)
  const reply = (isLogged: boolean): void => {
    if (isLogged) sender.reply(messageFrom(ack))
  }
  space
    .committed(seq)
    .then(reply, (err: unknown) => space.logger.error({ err }, 'an invitation has no answer'))
  return { answered: true, id, seq, invitation }
}
