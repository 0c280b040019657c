import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/** Names a span, in lower-case hexadecimal: 32 digits, and 16. */
export interface SpanContext {
  readonly traceId: string
  readonly spanId: string
}

/**
 * An epoch names one log, and an id one envelope of it: so whoever traces the log gives its spans the same ids, and what
 * two have sent is one span. It is SHA-256 because clients in other languages have that, too.
 */
const digestOf = (epoch: string, id: string): string => bytesToHex(sha256(utf8ToBytes(`${epoch} ${id}`)))

/** Of the trace that begins with this envelope. */
export const traceIdOf = (epoch: string, id: string): string => digestOf(epoch, id).slice(0, 32)

/** Of the span that begins with this envelope. */
export const spanIdOf = (epoch: string, id: string): string => digestOf(epoch, id).slice(32, 48)

/** As W3C Trace Context writes it, sampled. */
export const traceparentOf = ({ traceId, spanId }: SpanContext): string => `00-${traceId}-${spanId}-01`

const traceparent = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-[\da-f]{2}(?:$|-)/

/** `undefined` for what is no traceparent. */
export function parseTraceparent(text: unknown): SpanContext | undefined {
  const [, traceId, spanId] = (typeof text === 'string' && traceparent.exec(text)) || []
  return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId }
}
