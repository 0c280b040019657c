import { randomBytes } from 'node:crypto'
import type { LoggedRevoke } from '@meup/folds'
import { correlations, type Envelope, freshId, type InvitePayload, isLiveKind, Kind } from '@meup/protocol'
import { encode } from '../../log/entries.js'
import { messageFrom, type Sender } from '../../ports/connection.js'
import { inviteAckFrame } from '../frames.js'
import { hashToken } from '../state/trust/invitations.js'
import {
  type Admission,
  type AdmissionContext,
  chargeLookups,
  type Outcome,
  type Refusal,
  refuse,
} from './context.js'

/** `from` is the connection's identity: `sender_mismatch` [MEUP-1.1]. Adds the time, and an id where there is none. */
export function identify({ envelope, sender, now }: AdmissionContext, space: Admission): Outcome {
  if (envelope.from !== undefined && envelope.from !== sender.participant) {
    const message = `This connection is ${sender.participant}. Leave from out: the gateway sets it.`
    return { code: 'sender_mismatch', path: '/from', message }
  }
  envelope.from = sender.participant
  envelope.id ??= freshId(now)
  envelope.ts = space.timestamp(now)
  return nameProgram(envelope, sender, space)
}

/** What begins a run, calls or proposes says for ever which program of its sender did so [MEUP-2.14]. */
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
  refuse('session_replaced', `Another program has joined as ${participant}. Stop this one.`)

/** An approval by id has no payload yet. */
const isOfProgram = ({ kind, payload }: Envelope): boolean =>
  kind === Kind.reasoningStart ||
  kind === Kind.mcpProposal ||
  (kind === Kind.mcpRequest && (payload.id !== undefined || Object.keys(payload).length === 0))

/**
 * A known id from the same sender with the same content gets the original echoed; anything else is `duplicate_id`
 * [MEUP-1.10]. So is a start that would take over what others think in already [MEUP-2.12].
 */
export function deduplicate(admission: AdmissionContext, space: Admission): Outcome {
  admission.encoded = encode(admission.envelope, admission.payload, admission.orPropose)
  const { id, kind } = admission.envelope
  if (isLiveKind(kind)) return undefined
  // A start looks up whether it names a context. What an envelope answers is looked up as well: by rights, and for who may read it.
  const lookups = kind === Kind.reasoningStart ? 2 : 1
  chargeLookups(admission.meter, lookups + correlations(admission.envelope).length)
  const known = space.ids.find(id, admission.sender.participant, admission.encoded.content, admission.meter)
  if (known === undefined) {
    if (kind !== Kind.reasoningStart || !isContext(id, space)) return undefined
    return { code: 'duplicate_id', path: '/id', message: `${id} is a context already. Use a fresh id.` }
  }
  // What was erased is confirmed to nobody, also while its bytes are still there [MEUP-10.11].
  if (known === 'other' || space.state.erasures.seqs.has(known.seq)) {
    return {
      code: 'duplicate_id',
      path: '/id',
      message: `${id} stands for another envelope. Use a fresh id.`,
    }
  }
  if (known.message !== undefined) admission.sender.echo(known.seq, known.message)
  return { answered: true, id, seq: known.seq }
}

/** A run whose start was pruned may still go on: the state knows it. */
const isContext = (root: string, { ids, state }: Admission): boolean =>
  state.contexts.get(root) !== undefined || ids.hasContext(root)

/** What is not logged ends here: it is relayed at once, and nobody is told that it was [MEUP-3.25, 3.32]. */
export function relay({ envelope, encoded, sender }: AdmissionContext, space: Admission): Outcome {
  const { id, kind } = envelope
  if (!isLiveKind(kind)) return undefined
  if (sender.isRequest) {
    return {
      code: 'invalid_request',
      message: `A request ends before an answer does. Send ${kind} over a socket.`,
    }
  }
  space.relay(envelope, encoded, sender)
  return { relayed: true, id, seq: 0 }
}

/** Gives the envelope its place, and folds it into the state: from here on it is admitted [MEUP-4.9]. */
export function sequence(
  { envelope, encoded, sender, writtenId: id = '' }: AdmissionContext,
  space: Admission,
): Outcome {
  space.admit(envelope, encoded, { sender, id })
  return undefined
}

const tokenBytes = 32

/**
 * Makes the token of an invitation, and adds its hash to what is logged [MEUP-3.15]. Whom the operator has configured has a token already: that is good again.
 */
export function invite(admission: AdmissionContext, { state, config }: Admission): Outcome {
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

/** Adds the grants that a revocation by capabilities takes back to what is logged [MEUP-4.15]. */
export function revoke(admission: AdmissionContext): Outcome {
  const { envelope, revoked } = admission
  if (revoked === undefined || (envelope.payload as LoggedRevoke).grantId !== undefined) return undefined
  addToPayload(admission, { revoked: revoked.map(({ id }) => id) })
  return undefined
}

/** Adds to a payload what the gateway knows of it. A retry repeats what was sent, without that. */
function addToPayload(admission: AdmissionContext, member: Readonly<Record<string, unknown>>): void {
  const { envelope, payload } = admission
  envelope.payload = { ...envelope.payload, ...member }
  admission.payload = Buffer.concat([
    payload.subarray(0, -1),
    Buffer.from(`,${JSON.stringify(member).slice(1)}`),
  ])
  admission.isRewritten = true
}

/** Builds the bytes that are logged, where a step has changed what was sent. The content stays: a retry repeats that [MEUP-1.12]. */
export function encodeAccepted(admission: AdmissionContext): Outcome {
  if (admission.isRewritten === undefined) return undefined
  const { content } = admission.encoded
  const again = encode(admission.envelope, admission.payload)
  // Where only the gateway's own fields have changed, the content is still the end of the body.
  admission.encoded = Buffer.compare(again.content, content) === 0 ? again : { body: again.body, content }
  return undefined
}

/**
 * Gives the token of an invitation to its sender alone, once the log has the invitation [MEUP-3.15]: on the line that it
 * came by, after the echo; or where there is none, with the receipt.
 */
export function deliverInviteToken(
  { envelope, sender, invitation, now }: AdmissionContext,
  space: Admission,
): Outcome {
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
