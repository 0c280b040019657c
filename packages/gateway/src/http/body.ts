import { type Envelope, errors, PROTOCOL } from '@meup/protocol'
import type { Context } from 'hono'
import { verdictOn } from '../core/decisions.js'
import { type Denial, deny } from '../host/connection-gate.js'
import type { Caller } from '../host/gateway.js'
import type { HttpOptions } from './options.js'
import { mostBodies } from './traffic.js'

/**
 * The body of a request whose sender is known, in bytes. They are charged to it before they are read [MEUP-7.3], and what
 * it could never pay for is too large.
 */
export async function readBody(
  context: Context,
  visitor: Caller,
  { traffic }: Pick<HttpOptions, 'traffic'>,
): Promise<Uint8Array | Denial> {
  const { space, rateLimitKey } = visitor
  const most = maxPostBytes(visitor)
  const mostResult = Math.min(
    space.config.limits.maxResultBytes,
    space.rates.rateOf(rateLimitKey, 'results').burst,
  )
  const mostBytes = Math.max(most, Math.min(mostBodies, mostResult))
  const take = (bytes: number, all: number): Denial | undefined => {
    if (all > mostBytes) return tooLarge(mostBytes)
    // Only a response may be so large; whether it is one cannot be known yet.
    const rateClass = all > most ? 'results' : 'bytes'
    return traffic.reserve(context, bytes) ?? overRate(visitor, rateClass, bytes)
  }
  const announced = context.req.header('content-length')
  if (announced === undefined) return inPieces(context, take)
  const denial = take(Number(announced), Number(announced))
  if (denial !== undefined) return denial
  const body = await context.req.arrayBuffer().catch(() => undefined)
  return body === undefined ? cutOff : new Uint8Array(body)
}

/** Of a body that is no large response: what its sender could pay for at once. */
export const maxPostBytes = ({ space, rateLimitKey }: Caller): number =>
  Math.min(mostBodies, space.rates.rateOf(rateLimitKey, 'bytes').burst)

/** Its connection is gone, or was cut because nothing came any more: whoever reads this reads it in a log of requests. */
const cutOff = deny('invalid_request', 400, 'the body did not arrive')

/** Where its length is not said, it is paid for as it comes. */
async function inPieces(
  { req }: Context,
  take: (bytes: number, all: number) => Denial | undefined,
): Promise<Uint8Array | Denial> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of arriving(req.raw.body)) {
    if (piece === undefined) return cutOff
    size += piece.length
    const denial = take(piece.length, size)
    if (denial !== undefined) return denial
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/** The pieces of a body; the last one is `undefined` where it did not come to its end. */
async function* arriving(body: AsyncIterable<Uint8Array> | null): AsyncGenerator<Uint8Array | undefined> {
  try {
    if (body !== null) yield* body
  } catch {
    yield undefined
  }
}

export const tooLarge = (most: number): Denial =>
  deny('payload_too_large', errors.payload_too_large.status, `post at most ${most} bytes at once`)

const nothing: Envelope = { protocol: PROTOCOL, id: '', ts: '', from: '', kind: '', payload: {} }

/** Refused and recorded as an envelope would be. */
function overRate(visitor: Caller, rateClass: 'bytes' | 'results', bytes: number): Denial | undefined {
  const { space, rateLimitKey } = visitor
  const retryAfterMs = space.rates.take(rateLimitKey, rateClass, bytes, space.clock.now())
  if (retryAfterMs === 0) return undefined
  const message = `over the rate for ${rateClass}; send again in ${retryAfterMs} ms`
  const denial = { ...deny('rate_limited', errors.rate_limited.status, message), retryAfterMs }
  space.tally.refused.add(denial.code)
  const verdict = verdictOn(denial)
  if (verdict !== undefined && !space.follows)
    space.decisions.record({ sender: visitor, envelope: nothing }, verdict)
  return denial
}
