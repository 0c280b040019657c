import { type Envelope, PROTOCOL } from '@meup/protocol'

interface Parts {
  readonly envelope: Envelope
  /** The payload's JSON. */
  readonly payload: Uint8Array
}

const encoder = new TextEncoder()

/** The normalised submission without `protocol`, `ts` and `from`: what a retry must repeat [MEUP-1.10]. */
export const contentOf = ({ envelope, payload }: Parts): Uint8Array => join(fieldsOf(envelope, ''), payload)

/** The accepted envelope's exact bytes without `seq`; the payload's are those that were sent [MEUP-10.1]. */
export function bodyOf({ envelope, payload }: Parts): Uint8Array {
  const { ts, from } = envelope
  return join(fieldsOf(envelope, `"protocol":"${PROTOCOL}","ts":"${ts}","from":"${from}",`), payload)
}

function fieldsOf(envelope: Envelope, head: string): string {
  const { id, to, kind, correlationId, context, rationale, parallelGroup } = envelope
  let text = `{${head}"id":"${id}"`
  if (to !== undefined) text += `,"to":${JSON.stringify(to)}`
  text += `,"kind":"${kind}"`
  if (correlationId !== undefined) text += `,"correlationId":${JSON.stringify(correlationId)}`
  if (context !== undefined) text += `,"context":${JSON.stringify(context)}`
  if (rationale !== undefined) text += `,"rationale":${JSON.stringify(rationale)}`
  if (parallelGroup !== undefined) text += `,"parallelGroup":${parallelGroup}`
  return `${text},"payload":`
}

const closing = 0x7d

function join(head: string, payload: Uint8Array): Uint8Array {
  const start = encoder.encode(head)
  const bytes = new Uint8Array(start.length + payload.length + 1)
  bytes.set(start)
  bytes.set(payload, start.length)
  bytes[bytes.length - 1] = closing
  return bytes
}
