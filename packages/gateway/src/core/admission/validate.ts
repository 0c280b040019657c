import {
  type ChatPayload,
  checkPayload,
  checkSubmission,
  type Envelope,
  getKindRule,
  type JsonObject,
  Kind,
  namespaceOf,
  normalise,
  openedContext,
  PROTOCOL,
  parseContext,
  prescan,
  readObject,
  reservedNamespaces,
  type Submission,
} from '@meup/protocol'
import { type Refusal, refuse, unknownParticipant } from '../refusal.js'
import { texts } from '../refusal-texts.js'
import type { Admission, AdmissionContext, StepOutcome } from './admission-context.js'
import { chargeEnvelope } from './limits.js'
import { checkOrPropose } from './proposed.js'

/**
 * Parses a frame into an envelope: `payload_too_large`, `invalid_json`, `unsupported_protocol`, `invalid_envelope` [MEUP-1.2,
 * 1.5, 1.8, 1.13]. Resolves aliases before every check [MEUP-1.3]. The transport has already charged the bytes.
 */
export function decodeSubmission(admission: AdmissionContext, space: Admission): StepOutcome {
  const refusal = read(admission, space)
  return refusal && (chargeEnvelope(admission, space, 'other') ?? refusal)
}

function read(admission: AdmissionContext, space: Admission): Refusal | undefined {
  const { frame } = admission
  const tooLarge = checkSize(admission, space)
  if (tooLarge !== undefined) return tooLarge
  const object = admission.isBinary ? 'it is binary' : parse(admission)
  if (typeof object === 'string') {
    // The error names the envelope if the frame is an object with an id [MEUP-12.1].
    if (!admission.isBinary && isObject(admission.frame)) noteWrittenId(admission)
    return refuse('invalid_json', texts.unreadableFrame, { problem: object })
  }
  if (typeof object.value.id === 'string') {
    admission.writtenId = object.value.id
    admission.envelope.id = object.value.id
  }
  const normalised = normalise(object, frame)
  if ('path' in normalised) return invalid(normalised)

  const { protocol } = normalised.value
  if (protocol !== undefined && protocol !== PROTOCOL)
    return refuse('unsupported_protocol', texts.otherProtocol, { protocol: PROTOCOL }, { path: '/protocol' })
  const problem = checkSubmission(normalised.value)
  if (problem !== undefined) return invalid(problem)

  const envelope = normalised.value as unknown as Envelope
  envelope.payload ??= {}
  takeOrPropose(admission, envelope)
  admission.envelope = envelope
  admission.payload = normalised.payload
  return undefined
}

/** Moves `orPropose` out of the envelope: it is a directive to admission, and is not logged. */
function takeOrPropose(
  admission: AdmissionContext,
  envelope: Envelope & Pick<Submission, 'orPropose'>,
): void {
  const { orPropose } = envelope
  if (orPropose === undefined) return
  delete envelope.orPropose
  admission.orPropose = orPropose
}

/** Only responses may be large. Of other large frames only kind and id are read [MEUP-1.13]. */
function checkSize(admission: AdmissionContext, { config, log }: Admission): Refusal | undefined {
  const { frame, envelope } = admission
  const { maxFrameBytes = Number.POSITIVE_INFINITY } = log
  const { maxEnvelopeBytes, maxResultBytes } = config.limits
  if (frame.length <= Math.min(maxEnvelopeBytes, maxFrameBytes)) return undefined
  const { id, kind } = prescan(frame)
  if (id !== undefined) admission.writtenId = id
  const isResponse = kind?.replaceAll('/', '.') === Kind.mcpResponse
  if (isResponse) envelope.kind = Kind.mcpResponse
  const limit = Math.min(maxFrameBytes, isResponse ? maxResultBytes : maxEnvelopeBytes)
  if (frame.length <= limit) return undefined
  return refuse('payload_too_large', texts.largeEnvelope, { bytes: frame.length, limit })
}

/** If a frame is too costly to parse, its refusal still names the id that the sender wrote. */
function parse(admission: AdmissionContext): JsonObject | string {
  const { frame, meter } = admission
  try {
    return readObject(frame, meter)
  } catch (error) {
    noteWrittenId(admission)
    throw error
  }
}

/** Whether this is a JSON object, even one that is refused: too deep, with a duplicate key, or with a lone surrogate. */
function isObject(frame: Uint8Array): boolean {
  try {
    return Object.prototype.toString.call(JSON.parse(new TextDecoder().decode(frame))) === '[object Object]'
  } catch {
    return false
  }
}

function noteWrittenId(admission: AdmissionContext): void {
  const { id } = prescan(admission.frame)
  if (id !== undefined) admission.writtenId = id
}

const invalid = ({ path, message: problem }: { path: string; message: string }): Refusal =>
  refuse('invalid_envelope', texts.invalidField, { path: path || 'The envelope', problem }, { path })

/**
 * Checks fields and payload by kind: `reserved_kind`, `unknown_kind`, `invalid_context`, `invalid_payload`,
 * `participant_not_found`.
 */
export function validateDraft(admission: AdmissionContext, space: Admission): StepOutcome {
  const { envelope } = admission
  return (
    checkKind(envelope) ??
    checkFields(envelope) ??
    checkContext(envelope, space) ??
    (admission.isAddressed ? undefined : checkAddressees(envelope, space)) ??
    checkBody(envelope) ??
    checkMentions(envelope, space) ??
    (admission.orPropose && checkOrPropose(admission.orPropose, admission))
  )
}

function checkKind({ kind }: Envelope): Refusal | undefined {
  const namespace = namespaceOf(kind)
  if (namespace === 'system' || getKindRule(kind)?.gateway)
    return refuse('reserved_kind', texts.reservedKind, { kind }, { path: '/kind' })
  if (getKindRule(kind) !== undefined || !reservedNamespaces.has(namespace)) return undefined
  return refuse('unknown_kind', texts.unknownKind, { namespace, kind }, { path: '/kind' })
}

const ofToolCalls = ['rationale', 'parallelGroup'] as const
const ofNoDelta = [...ofToolCalls, 'context'] as const

function checkFields(envelope: Envelope): Refusal | undefined {
  const { kind } = envelope
  const rule = getKindRule(kind)
  for (const field of rule?.requires ?? []) {
    if (envelope[field] !== undefined) continue
    const code = field === 'context' ? 'invalid_context' : 'invalid_envelope'
    return refuse(code, texts.missingField, { kind, field }, { path: `/${field}` })
  }
  for (const field of rule?.live ? ofNoDelta : rule?.toolCall ? [] : ofToolCalls) {
    if (envelope[field] === undefined) continue
    return refuse('invalid_envelope', texts.needlessField, { kind, field }, { path: `/${field}` })
  }
  if (rule?.live && rule.requires !== undefined && typeof envelope.correlationId !== 'string')
    return refuse('invalid_envelope', texts.manyEnvelopes, { kind }, { path: '/correlationId' })
  return undefined
}

function checkContext(envelope: Envelope, { config, state }: Admission): Refusal | undefined {
  const { context, kind } = envelope
  if (context === undefined) return undefined
  const nests = kind === Kind.reasoningStart && state.contexts.get(context)?.state === 'open'
  const path = nests ? openedContext({ id: envelope.id, context }) : context
  if (parseContext(path, config.limits) !== undefined) return undefined
  const { contextDepth, contextLength } = config.limits
  const values = { path, depth: contextDepth, length: contextLength }
  return refuse('invalid_context', texts.invalidContext, values, { path: '/context' })
}

function checkAddressees({ to }: Envelope, { state }: Admission): Refusal | undefined {
  const stranger = to?.findIndex((id) => !state.participants.has(id)) ?? -1
  const id = to?.[stranger]
  return id === undefined ? undefined : unknownParticipant(`/to/${stranger}`, id)
}

/** Mentioned participants are members of the space and may read the envelope [MEUP-3.27]. */
function checkMentions({ kind, to, payload }: Envelope, { state }: Admission): Refusal | undefined {
  if (kind !== Kind.chat) return undefined
  const { mentions = [] } = payload as unknown as ChatPayload
  for (const [index, id] of mentions.entries()) {
    const path = `/payload/mentions/${index}`
    if (!state.participants.has(id)) return unknownParticipant(path, id)
    if (to?.includes(id) === false) return refuse('invalid_payload', texts.excludedMention, { id }, { path })
  }
  return undefined
}

function checkBody({ kind, payload }: Envelope): Refusal | undefined {
  const problem = checkPayload(kind, payload)
  if (problem === undefined) return undefined
  const { path, message } = problem
  return refuse('invalid_payload', texts.invalidField, { path, problem: message }, { path })
}
