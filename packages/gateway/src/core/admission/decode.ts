import {
  checkSubmission,
  type Envelope,
  type JsonObject,
  Kind,
  normalise,
  PROTOCOL,
  prescan,
  readObject,
} from '@meup/protocol'
import type { Admission, AdmissionContext, Outcome, Refusal } from './context.js'
import { checkRate } from './limits.js'

/**
 * Frame → envelope: `payload_too_large`, `invalid_json`, `unsupported_protocol`, `invalid_envelope` [MEUP-1.2, 1.5, 1.8, 1.13].
 * Aliases are resolved here, before every check [MEUP-1.3]. Its bytes were charged where it came in.
 */
export function decode(admission: AdmissionContext, space: Admission): Outcome {
  const refusal = read(admission, space)
  return refusal && (checkRate(admission, space, 'other', 1) ?? refusal)
}

function read(admission: AdmissionContext, space: Admission): Refusal | undefined {
  const { frame } = admission
  const tooLarge = checkSize(admission, space)
  if (tooLarge !== undefined) return tooLarge
  const object = admission.isBinary ? 'the frame is binary' : parse(admission)
  if (typeof object === 'string') {
    return { code: 'invalid_json', message: `${object}. Send one JSON object per text frame.` }
  }
  if (typeof object.value.id === 'string') {
    admission.writtenId = object.value.id
    admission.envelope.id = object.value.id
  }
  const normalised = normalise(object, frame)
  if ('path' in normalised) return invalid(normalised)

  const { protocol } = normalised.value
  if (protocol !== undefined && protocol !== PROTOCOL) {
    return {
      code: 'unsupported_protocol',
      path: '/protocol',
      message: `this gateway speaks ${PROTOCOL} only`,
    }
  }
  const problem = checkSubmission(normalised.value)
  if (problem !== undefined) return invalid(problem)

  const envelope = normalised.value as unknown as Envelope
  if (envelope.to?.length === 0) delete envelope.to
  envelope.payload ??= {}
  admission.envelope = envelope
  admission.payload = normalised.payload
  return undefined
}

/** Only responses may be large: of other frames no more is read than what they are, and which one [MEUP-1.13]. */
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
  return {
    code: 'payload_too_large',
    message: `The envelope has ${frame.length} bytes. Send at most ${limit}.`,
  }
}

/** What is too costly to parse is refused by its id all the same. */
function parse(admission: AdmissionContext): JsonObject | string {
  const { frame, meter } = admission
  try {
    return readObject(frame, meter)
  } catch (error) {
    const { id } = prescan(frame)
    if (id !== undefined) admission.writtenId = id
    throw error
  }
}

const invalid = ({ path, message }: { path: string; message: string }): Refusal => ({
  code: 'invalid_envelope',
  path,
  message: `${path || 'the envelope'} ${message}`,
})
