import { checkSubmission, type Envelope, normalise, PROTOCOL, readObject } from '@meup/protocol'
import { overRate } from './limit.js'
import type { Admission, Outcome, Passage, Refusal } from './passage.js'

/**
 * Frame → envelope: `payload_too_large`, `invalid_json`, `unsupported_protocol`, `invalid_envelope` [MEUP-1.2, 1.5, 1.8, 1.13].
 * Aliases are resolved here, before every check [MEUP-1.3]. Bytes are charged for every frame, whatever it holds.
 */
export function decode(passage: Passage, space: Admission): Outcome {
  const refusal = read(passage, space)
  const tooFast = passage.sender.isPrepaid
    ? undefined
    : overRate(passage, space, 'bytes', passage.frame.length)
  if (tooFast !== undefined || refusal === undefined) return tooFast
  return overRate(passage, space, 'other', 1) ?? refusal
}

function read(passage: Passage, space: Admission): Refusal | undefined {
  const { frame } = passage
  const limit = space.config.limits.maxEnvelopeBytes
  if (frame.length > limit) {
    return {
      code: 'payload_too_large',
      message: `the envelope has ${frame.length} bytes; send at most ${limit}`,
    }
  }
  const object = passage.isBinary ? 'the frame is binary' : readObject(frame)
  if (typeof object === 'string') {
    return { code: 'invalid_json', message: `${object}; send one JSON object per text frame` }
  }
  passage.envelope.id = typeof object.value.id === 'string' ? object.value.id : ''
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

const invalid = ({ path, message }: { path: string; message: string }): Refusal => ({
  code: 'invalid_envelope',
  path,
  message: `${path || 'the envelope'} ${message}`,
})
