import { encode } from './encode.js'
import type { Passage } from './passage.js'

/** Adds to a payload what the gateway knows of it. A retry repeats what was sent, without that. */
export function addToPayload(passage: Passage, member: Readonly<Record<string, unknown>>): void {
  const { envelope, payload, encoded } = passage
  envelope.payload = { ...envelope.payload, ...member }
  passage.payload = Buffer.concat([
    payload.subarray(0, -1),
    Buffer.from(`,${JSON.stringify(member).slice(1)}`),
  ])
  passage.encoded = { body: encode(envelope, passage.payload).body, content: encoded.content }
}
