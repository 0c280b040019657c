import { EnvelopeId, type JsonObject, Kind, type Limits, ProtocolError, readObject } from '@meup/protocol'

const encoder = new TextEncoder()
const legalId = new RegExp(EnvelopeId.pattern ?? '')

/** A payload that goes out to the letter, such as with the numbers of somebody else: JSON.parse makes 1.0 a 1. */
export class Verbatim {
  constructor(readonly json: string) {}
}

export interface Frame {
  readonly text: string
  readonly bytes: Uint8Array
  /** What it says. */
  readonly object: JsonObject
}

/** In bytes of a frame; as the welcome gives them [MEUP-1.5]. */
export type SizeLimits = Pick<Limits, 'maxEnvelopeBytes'> & Partial<Pick<Limits, 'maxResultBytes'>>

/**
 * An envelope as a text frame. Throws the `ProtocolError` of the gateway where it could not read the frame: it would
 * not know the id then, and its answer would reach nobody who waits.
 */
export function frameOf(envelope: object, limits: SizeLimits): Frame {
  const text = textOf(envelope)
  const bytes = encoder.encode(text)
  const maxBytes = maxBytesOf(envelope, limits)
  if (bytes.length > maxBytes) {
    const message = `the envelope has ${bytes.length} bytes; send at most ${maxBytes}`
    throw new ProtocolError('payload_too_large', message, { bytes: bytes.length, maxBytes })
  }
  const object = readObject(bytes)
  if (typeof object === 'string') throw new ProtocolError('invalid_json', object)
  const { id } = object.value
  if (id !== undefined && !(typeof id === 'string' && legalId.test(id))) {
    throw new ProtocolError(
      'invalid_envelope',
      `/id must be 1 to 64 of A-Z a-z 0-9 _ -, not ${JSON.stringify(id)}`,
    )
  }
  return { text, bytes, object }
}

/** Results, such as screenshots and files, may be larger than what people and agents say. */
function maxBytesOf(envelope: { kind?: unknown }, { maxEnvelopeBytes, maxResultBytes }: SizeLimits): number {
  return envelope.kind === Kind.mcpResponse
    ? Math.max(maxEnvelopeBytes, maxResultBytes ?? 0)
    : maxEnvelopeBytes
}

function textOf(envelope: object): string {
  const { payload, ...fields } = envelope as { payload?: unknown }
  if (!(payload instanceof Verbatim)) return JSON.stringify(envelope)
  return `${JSON.stringify(fields).slice(0, -1)},"payload":${payload.json}}`
}
