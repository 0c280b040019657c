import type { AdmissionContext } from './context.js'
import { encode } from './encode.js'

/** Adds to a payload what the gateway knows of it. A retry repeats what was sent, without that. */
export function addToPayload(admission: AdmissionContext, member: Readonly<Record<string, unknown>>): void {
  const { envelope, payload, encoded } = admission
  envelope.payload = { ...envelope.payload, ...member }
  admission.payload = Buffer.concat([
    payload.subarray(0, -1),
    Buffer.from(`,${JSON.stringify(member).slice(1)}`),
  ])
  admission.encoded = { body: encode(envelope, admission.payload).body, content: encoded.content }
}
