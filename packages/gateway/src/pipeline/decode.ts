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
import { overRate } from './limit.js'
import type { Admission, Outcome, Passage, Refusal } from './passage.js'

/**
 * Frame → envelope: `payload_too_large`, `invalid_json`, `unsupported_protocol`, `invalid_envelope` [MEUP-1.2, 1.5, 1.8, 1.13].
 * Aliases are resolved here, before every check [MEUP-1.3]. Its bytes were charged where it came in.
 */
export function decode(passage: Passage, space: Admission): Outcome {
  const refusal = read(passage, space)
  return refusal && (overRate(passage, space, 'other', 1) ?? refusal)
}

function read(passage: Passage, space: Admission): Refusal | undefined {
  const { frame } = passage
  const tooLarge = checkSize(passage, space)
  if (tooLarge !== undefined) return tooLarge
  const object = passage.isBinary ? 'the frame is binary' : parse(passage)
  if (typeof object === 'string') {
    return { code: 'invalid_json', message: `${object}; send one JSON object per text frame` }
  }
  if (typeof object.value.id === 'string') {
    passage.writtenId = object.value.id
    passage.envelope.id = object.value.id
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
  passage.envelope = envelope
  passage.payload = normalised.payload
  return undefined
}

/** Only responses may be large: of other frames no more is read than what they are, and which one [MEUP-1.13]. */
function checkSize(passage: Passage, { config, log }: Admission): Refusal | undefined {
  const { frame, envelope } = passage
  const { maxFrameBytes = Number.POSITIVE_INFINITY } = log
  const { maxEnvelopeBytes, maxResultBytes } = config.limits
  if (frame.length <= Math.min(maxEnvelopeBytes, maxFrameBytes)) return undefined
  const { id, kind } = prescan(frame)
  if (id !== undefined) passage.writtenId = id
  const isResponse = kind?.replaceAll('/', '.') === Kind.mcpResponse
  if (isResponse) envelope.kind = Kind.mcpResponse
  const limit = Math.min(maxFrameBytes, isResponse ? maxResultBytes : maxEnvelopeBytes)
  if (frame.length <= limit) return undefined
  return {
    code: 'payload_too_large',
    message: `the envelope has ${frame.length} bytes; send at most ${limit}`,
  }
}

/** What is too costly to parse is refused by its id all the same. */
function parse(passage: Passage): JsonObject | string {
  const { frame, meter } = passage
  try {
    return readObject(frame, meter)
  } catch (error) {
    const { id } = prescan(frame)
    if (id !== undefined) passage.writtenId = id
    throw error
  }
}

const invalid = ({ path, message }: { path: string; message: string }): Refusal => ({
  code: 'invalid_envelope',
  path,
  message: `${path || 'the envelope'} ${message}`,
})
