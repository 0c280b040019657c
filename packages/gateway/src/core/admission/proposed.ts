import { isNotification } from '@meup/folds'
import { checkPayload, correlations, type Envelope, getMember, Kind, type OrPropose } from '@meup/protocol'
import { parseEnvelope } from '../../log/entries.js'
import type { Entry } from '../../ports/envelope-log.js'
import { notInFuture, type Refusal, refuse } from '../refusal.js'
import { texts } from '../refusal-texts.js'
import type { Admission, AdmissionContext, StepOutcome } from './admission-context.js'

/** Bytes of a proposal that one unit of work parses, in about a microsecond. */
const bytesPerUnit = 200

/** The proposed request, with the fields that capabilities are checked against. */
export function readProposed(
  entry: Entry,
  meter?: AdmissionContext['meter'],
): Pick<Envelope, 'kind' | 'to' | 'context' | 'payload'> {
  meter?.charge(entry.body.length / bytesPerUnit, 'proposals to read')
  const { to, context, payload } = parseEnvelope(entry)
  const { method, params } = payload
  return {
    kind: Kind.mcpRequest,
    payload: { method, ...(params !== undefined && { params }) },
    ...(to && { to }),
    ...(context !== undefined && { context }),
  }
}

export const notOpen = (id: string): Refusal =>
  refuse('proposal_not_found', texts.closedProposal, { id }, { path: '/correlationId' })

/**
 * Fills in an approval by id [MEUP-4.20]: a request that names one proposal and has no payload gets the proposed one, and is
 * then admitted like any other request.
 */
export function fill(admission: AdmissionContext, space: Admission): StepOutcome {
  const { envelope, meter, sender, now } = admission
  const [id, ...others] = correlations(envelope)
  if (envelope.kind !== Kind.mcpRequest || id === undefined || others.length > 0) return undefined
  if (Object.keys(envelope.payload).length > 0) return undefined
  const entry = space.state.calls.proposal(id, now) && space.ids.findEntry(id)
  if (entry === undefined) return notOpen(id)
  const { to, context, payload } = readProposed(entry, meter)
  const head = {
    jsonrpc: '2.0',
    ...(!isNotification(payload) && { id: envelope.id }),
    method: payload.method,
  }
  const params = getMember(getMember(entry.body, 'payload') ?? new Uint8Array(), 'params')
  if (to !== undefined) envelope.to ??= to
  if (context !== undefined) envelope.context ??= context
  if (isNotification(payload)) delete envelope.session
  envelope.payload = { ...head, ...payload }
  admission.payload = withParams(head, params)
  admission.isRewritten = true
  space.rates.charge(sender.rateLimitKey, 'bytes', admission.payload.length, now)
  return checkRoom(admission, space)
}

/**
 * Turns a call that its sender may only propose into a proposal [MEUP-4.21] with the same id, addressees, context, rationale
 * and params. `undefined` = the sender did not ask for that, or may not propose it either.
 */
export function proposeInstead(
  { envelope, payload, orPropose }: AdmissionContext,
  mayPropose: (proposal: Envelope) => boolean,
): { readonly envelope: Envelope; readonly payload: Uint8Array } | Refusal | undefined {
  if (orPropose === undefined) return undefined
  const terms = orPropose === true ? {} : orPropose
  const { method, params } = envelope.payload as { method: string; params?: object }
  const asked = { method, ...(params !== undefined && { params }), ...terms }
  const proposal: Envelope = { ...envelope, kind: Kind.mcpProposal, payload: asked }
  if (!mayPropose(proposal)) return undefined
  const problem = checkPayload(Kind.mcpProposal, asked)
  if (problem !== undefined) {
    const { path, message } = problem
    const values = { path, problem: `${message} to be proposed` }
    return refuse('invalid_payload', texts.invalidField, values, { path })
  }
  return { envelope: proposal, payload: withParams({ method, ...terms }, getMember(payload, 'params')) }
}

/** Keeps the params as sent: parsing would change large numbers. */
const withParams = (head: object, params: Uint8Array | undefined): Uint8Array => {
  const text = JSON.stringify(head)
  if (params === undefined) return Buffer.from(text)
  return Buffer.concat([Buffer.from(`${text.slice(0, -1)},"params":`), params, Buffer.from('}')])
}

/** Only a call with an addressee that expects a response may become a proposal [MEUP-4.21]. */
export function checkOrPropose(
  orPropose: OrPropose,
  { envelope, now }: AdmissionContext,
): Refusal | undefined {
  const { kind, payload, to, correlationId } = envelope
  if (kind !== Kind.mcpRequest || payload.id === undefined || to === undefined || correlationId !== undefined)
    return refuse('invalid_envelope', texts.misplacedOrPropose, {}, { path: '/orPropose' })
  if (orPropose === true) return undefined
  const past = notInFuture('/orPropose/expiresAt', orPropose.expiresAt, now)
  return past && { ...past, code: 'invalid_envelope' }
}

/** Bytes of a fulfilment beyond its proposal, including a short reason of the approver. */
const fulfilmentBytes = 1024

/** Refuses a proposal so large that the request fulfilling it would exceed the limit [MEUP-4.20]. */
export function checkRoom(
  { envelope, payload }: AdmissionContext,
  { config, log }: Admission,
): Refusal | undefined {
  const { maxFrameBytes = Number.POSITIVE_INFINITY } = log
  const limit = Math.min(config.limits.maxEnvelopeBytes, maxFrameBytes)
  const fields = JSON.stringify([envelope.to, envelope.context, envelope.rationale]).length
  const size = payload.length + fields + (envelope.kind === Kind.mcpProposal ? fulfilmentBytes : 0)
  if (size <= limit) return undefined
  return refuse('payload_too_large', texts.largeProposal, { bytes: size, limit })
}
