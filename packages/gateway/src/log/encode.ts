import type { Envelope } from '@meup/protocol'
import { PROTOCOL } from '@meup/protocol/names'
import type { Draft } from '../ports/envelope-log.js'

/** An envelope as bytes. */
export interface Encoded {
  /** The accepted envelope's exact bytes without `seq` [MEUP-10.1]. */
  readonly body: Uint8Array
  /** What a retry must repeat: all that was sent but `protocol`, `ts` and `from`, as it was before the guard [MEUP-1.12]. */
  readonly content: Uint8Array
}

const closing = 0x7d

/** Builds the bytes of an envelope once. The payload's are those that were sent. */
export function encode(envelope: Envelope, payload: Uint8Array): Encoded {
  const head = encodeHead(envelope)
  const fields = head + encodeFields(envelope)
  // All that is not free text is ASCII by its pattern, or refused before anybody sees it.
  const isAscii = envelope.context === undefined && envelope.rationale === undefined
  const start = isAscii ? fields.length : Buffer.byteLength(fields)
  const body = Buffer.allocUnsafe(start + payload.length + 1)
  body.write(fields, isAscii ? 'latin1' : 'utf8')
  body.set(payload, start)
  body[body.length - 1] = closing
  return { body, content: body.subarray(head.length) }
}

/** What a body has before its content. */
export const encodeHead = ({ ts, from }: Pick<Envelope, 'ts' | 'from'>): string =>
  `{"protocol":"${PROTOCOL}","ts":"${ts}","from":"${from}",`

/** The envelope as the log takes it. */
export function toDraft(envelope: Envelope, seq: number, { body, content }: Encoded): Draft {
  const { id, ts, from, kind, to, context, correlationId } = envelope
  return {
    seq,
    id,
    ts,
    from,
    kind,
    ...(to && { to }),
    ...(context !== undefined && { context }),
    ...(correlationId !== undefined && { correlationId }),
    body,
    content,
  }
}

function encodeFields(envelope: Envelope): string {
  const { id, to, kind, correlationId, context, rationale, parallelGroup } = envelope
  let text = `"id":"${id}"`
  if (to !== undefined) text += `,"to":${JSON.stringify(to)}`
  text += `,"kind":"${kind}"`
  if (correlationId !== undefined) text += `,"correlationId":${JSON.stringify(correlationId)}`
  if (context !== undefined) text += `,"context":${JSON.stringify(context)}`
  if (rationale !== undefined) text += `,"rationale":${JSON.stringify(rationale)}`
  if (parallelGroup !== undefined) text += `,"parallelGroup":${parallelGroup}`
  return `${text},"payload":`
}
