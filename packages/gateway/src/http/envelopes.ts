import { type Envelope, maxPost, PROTOCOL, readElements } from '@meup/protocol'
import type { Context } from 'hono'
import { isRefusal, type Receipt, type Refusal, refuse } from '../core/admission/context.js'
import { verdictFor } from '../core/decisions.js'
import type { Sender } from '../core/sender.js'
import { accept } from '../core/space.js'
import type { Caller } from '../host/gateway.js'
import type { HttpOptions } from './options.js'
import { problem, refused, retryAfter, toProblem } from './problem.js'
import { maxBodyBytes } from './traffic.js'
import { authenticateRequest, notWelcome } from './views.js'

/** `POST /spaces/{space}/envelopes`: one envelope or an array, each as if it came over a socket [MEUP-11.2]. */
export async function postEnvelopes(context: Context, options: HttpOptions): Promise<Response> {
  const post = await readPost(context, options)
  if (post instanceof Response) return post
  const { visitor, body } = post
  const most = maxPostBytes(visitor)
  if (body.length > most && isArray(body)) return refused(tooLarge(most))
  const frames = encodeFrames(body)
  if (typeof frames === 'string') return refused(refuse('invalid_json', frames))
  if (frames.length > maxPost) {
    const message = `more than ${maxPost} envelopes in one post; send them in several`
    return refused(refuse('invalid_request', message))
  }
  const sender = createSender(visitor)
  const receipts: Receipt[] = []
  let refusal: Refusal | undefined
  for (const frame of frames) {
    const outcome = await submit(visitor, sender, frame)
    if (isRefusal(outcome)) {
      refusal = outcome
      break
    }
    const { id, seq, invitation } = outcome
    receipts.push({ id, seq, ...(invitation && { invitation }) })
  }
  const head = receipts.reduce((most, { seq }) => Math.max(most, seq), 0)
  if (!(await visitor.space.committed(head))) return notCommitted()
  if (refusal === undefined) return context.json(receipts, 201)
  // The first refusal, and what was accepted before it.
  return refused(refusal, { failedIndex: receipts.length, accepted: receipts })
}

const openBracket = 0x5b

const isArray = (body: Uint8Array): boolean => body.find((byte) => byte > 0x20) === openBracket

const encodeFrames = (body: Uint8Array): readonly Uint8Array[] | string =>
  isArray(body) ? readElements(body, maxPost) : [body]

/** Who posts, and what; else the response that says why not. */
export async function readPost(
  context: Context,
  options: HttpOptions,
): Promise<{ readonly visitor: Caller; readonly body: Uint8Array } | Response> {
  const visitor = await authenticateRequest(context, options)
  if (isRefusal(visitor)) return refused(visitor)
  if (!visitor.space.state.participants.has(visitor.participant)) {
    // A guest is known by its connection, and has none here.
    return refused(refuse('unauthorized', 'a token is required to post; guests use a socket'))
  }
  const debt = checkDebt(visitor)
  if (debt !== undefined) return refused(debt)
  const body = await readBody(context, visitor, options)
  if (isRefusal(body)) {
    // What is too large is not read to its end.
    const isLarge = body.code === 'payload_too_large'
    return problem(toProblem(body), { ...retryAfter(body), ...(isLarge && { connection: 'close' }) })
  }
  // What it was let in by may have been taken away while its body was under way.
  return visitor.isWelcome() ? { visitor, body } : refused(notWelcome)
}

/** Takes one envelope as if it came over a socket; what repeats another costs a frame [MEUP-7.7]. */
export async function submit(visitor: Caller, sender: Sender, frame: Uint8Array): Promise<Receipt | Refusal> {
  const { space, rateLimitKey } = visitor
  const outcome = checkDebt(visitor) ?? (await accept(space, sender, frame))
  if (!isRefusal(outcome) && outcome.answered)
    space.rates.charge(rateLimitKey, 'frames', 1, space.clock.now())
  return outcome
}

/** Who owes work or frames posts nothing until that is paid, as no socket of it is read [MEUP-7.5]. */
function checkDebt({ space, rateLimitKey }: Caller): Refusal | undefined {
  for (const rateClass of ['work', 'frames'] as const) {
    const retryAfterMs = space.rates.wait(rateLimitKey, rateClass, space.clock.now())
    if (retryAfterMs === 0) continue
    const message = `over the rate for ${rateClass}; post again in ${retryAfterMs} ms`
    return { code: 'rate_limited', message, retryAfterMs, details: { class: rateClass } }
  }
  return undefined
}

/** Whoever posts gets its answer with the response, and nothing beside it. The body is paid for. */
export const createSender = (visitor: Caller): Sender => ({
  ...visitor,
  reply: () => {},
  echo: () => {},
})

/** What was admitted is not in the log. */
export const notCommitted = (): Response =>
  refused(refuse('unavailable', 'the log cannot be written; post it again later'))

/**
 * The body of a request whose sender is known, in bytes. They are charged to it before they are read [MEUP-7.3], and what
 * it could never pay for is too large.
 */
async function readBody(
  context: Context,
  visitor: Caller,
  { traffic }: Pick<HttpOptions, 'traffic'>,
): Promise<Uint8Array | Refusal> {
  const { space, rateLimitKey } = visitor
  const most = maxPostBytes(visitor)
  const maxResultPostBytes = Math.min(
    space.config.limits.maxResultBytes,
    space.rates.getRate(rateLimitKey, 'results').burst,
  )
  const mostBytes = Math.max(most, Math.min(maxBodyBytes, maxResultPostBytes))
  const take = (bytes: number, all: number): Refusal | undefined => {
    if (all > mostBytes) return tooLarge(mostBytes)
    // Only a response may be so large; whether it is one cannot be known yet.
    const rateClass = all > most ? 'results' : 'bytes'
    return traffic.reserve(context, bytes) ?? checkRate(visitor, rateClass, bytes)
  }
  const announced = context.req.header('content-length')
  if (announced === undefined) return readChunks(context, take)
  const refusal = take(Number(announced), Number(announced))
  if (refusal !== undefined) return refusal
  const body = await context.req.arrayBuffer().catch(() => undefined)
  return body === undefined ? bodyIncomplete : new Uint8Array(body)
}

/** Of a body that is no large response: what its sender could pay for at once. */
const maxPostBytes = ({ space, rateLimitKey }: Caller): number =>
  Math.min(maxBodyBytes, space.rates.getRate(rateLimitKey, 'bytes').burst)

/** Its connection is gone, or was cut because nothing came any more: whoever reads this reads it in a log of requests. */
const bodyIncomplete = refuse('invalid_request', 'the body did not arrive')

/** Where its length is not said, it is paid for as it comes. */
async function readChunks(
  { req }: Context,
  take: (bytes: number, all: number) => Refusal | undefined,
): Promise<Uint8Array | Refusal> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of readStream(req.raw.body)) {
    if (piece === undefined) return bodyIncomplete
    size += piece.length
    const refusal = take(piece.length, size)
    if (refusal !== undefined) return refusal
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/** The pieces of a body; the last one is `undefined` where it did not come to its end. */
async function* readStream(body: AsyncIterable<Uint8Array> | null): AsyncGenerator<Uint8Array | undefined> {
  try {
    if (body !== null) yield* body
  } catch {
    yield undefined
  }
}

const tooLarge = (most: number): Refusal => refuse('payload_too_large', `post at most ${most} bytes at once`)

const nothing: Envelope = { protocol: PROTOCOL, id: '', ts: '', from: '', kind: '', payload: {} }

/** Refused and recorded as an envelope would be. */
function checkRate(visitor: Caller, rateClass: 'bytes' | 'results', bytes: number): Refusal | undefined {
  const { space, rateLimitKey } = visitor
  const retryAfterMs = space.rates.take(rateLimitKey, rateClass, bytes, space.clock.now())
  if (retryAfterMs === 0) return undefined
  const message = `Over the rate for ${rateClass}. Send again in ${retryAfterMs} ms.`
  const refusal = refuse('rate_limited', message, retryAfterMs)
  space.metrics.refused.add(refusal.code)
  const verdict = verdictFor(refusal)
  if (verdict !== undefined && !space.isFollower)
    space.decisions.record({ sender: visitor, envelope: nothing }, verdict)
  return refusal
}
