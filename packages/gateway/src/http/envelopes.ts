import { type Envelope, maxPost, PROTOCOL, readElements } from '@meup/protocol'
import type { Context } from 'hono'
import type { Receipt } from '../core/admission/admission-context.js'
import { verdictFor } from '../core/decisions.js'
import { isRefusal, type Refusal, refuse } from '../core/refusal.js'
import { texts } from '../core/refusal-texts.js'
import { accept } from '../core/space.js'
import type { Caller } from '../host/gateway.js'
import type { Sender } from '../ports/connection.js'
import { problem, refused, retryAfter, toProblem } from './problem.js'
import type { HttpOptions } from './route.js'
import { maxBodyBytes } from './traffic.js'
import { authenticateRequest, notWelcome } from './views.js'

/** `POST /spaces/{space}/envelopes`: one envelope or an array, each admitted as if sent on a socket [MEUP-11.2]. */
export async function postEnvelopes(context: Context, options: HttpOptions): Promise<Response> {
  const post = await readPost(context, options)
  if (post instanceof Response) return post
  const { visitor, body } = post
  const maxBytes = getMaxPostBytes(visitor)
  if (body.length > maxBytes && isArray(body)) return refused(tooLarge(maxBytes))
  const frames = encodeFrames(body)
  if (typeof frames === 'string')
    return refused(refuse('invalid_json', texts.unreadableBody, { problem: frames }))
  if (frames.length > maxPost)
    return refused(refuse('invalid_request', texts.longPost, { envelopes: maxPost }))
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
  const head = receipts.reduce((last, { seq }) => Math.max(last, seq), 0)
  if (!(await visitor.space.committed(head))) return notCommitted()
  if (refusal === undefined) return context.json(receipts, 201)
  // Reports the first refusal and the receipts of earlier envelopes.
  return refused(refusal, { failedIndex: receipts.length, accepted: receipts })
}

const openBracket = 0x5b

const isArray = (body: Uint8Array): boolean => body.find((byte) => byte > 0x20) === openBracket

const encodeFrames = (body: Uint8Array): readonly Uint8Array[] | string =>
  isArray(body) ? readElements(body, maxPost) : [body]

/** Authenticates the sender and reads the body; otherwise returns the response that refuses the post. */
export async function readPost(
  context: Context,
  options: HttpOptions,
): Promise<{ readonly visitor: Caller; readonly body: Uint8Array } | Response> {
  const visitor = await authenticateRequest(context, options)
  if (isRefusal(visitor)) return refused(visitor)
  if (!visitor.space.state.participants.has(visitor.participant)) {
    // A guest is identified by its connection, and a post has none.
    return refused(refuse('unauthorized', texts.guestPost))
  }
  const debt = checkDebt(visitor)
  if (debt !== undefined) return refused(debt)
  const body = await readBody(context, visitor, options)
  if (isRefusal(body)) {
    // A body that is too large is not read to its end, so the connection cannot be used again.
    const isLarge = body.code === 'payload_too_large'
    return problem(toProblem(body), { ...retryAfter(body), ...(isLarge && { connection: 'close' }) })
  }
  // The sender's token may have been revoked while the body arrived.
  return visitor.isWelcome() ? { visitor, body } : refused(notWelcome)
}

/** Admits one envelope as if it came over a socket. A repeated one is charged to the rate `frames` [MEUP-7.7]. */
export async function submit(visitor: Caller, sender: Sender, frame: Uint8Array): Promise<Receipt | Refusal> {
  const { space, rateLimitKey } = visitor
  const outcome = checkDebt(visitor) ?? (await accept(space, sender, frame))
  if (!isRefusal(outcome) && outcome.answered)
    space.rates.charge(rateLimitKey, 'frames', 1, space.clock.now())
  return outcome
}

/** A sender in debt of the rate `work` or `frames` cannot post until that is paid, as its sockets are not read [MEUP-7.5]. */
function checkDebt({ space, rateLimitKey }: Caller): Refusal | undefined {
  for (const rateClass of ['work', 'frames'] as const) {
    const retryAfterMs = space.rates.wait(rateLimitKey, rateClass, space.clock.now())
    if (retryAfterMs === 0) continue
    const refusal = refuse('rate_limited', texts.overRate, { rateClass, ms: retryAfterMs }, { retryAfterMs })
    return { ...refusal, details: { class: rateClass } }
  }
  return undefined
}

/** The sender of a post: its answer is the HTTP response, so replies and echoes are dropped. */
export const createSender = (visitor: Caller): Sender => ({
  ...visitor,
  isRequest: true,
  reply: () => {},
  echo: () => {},
})

/** The response when an admitted envelope did not reach the log. */
export const notCommitted = (): Response => refused(refuse('unavailable', texts.unwritableLog))

/**
 * Reads a body. Its bytes are charged to the sender before they are read [MEUP-7.3]; a body that the sender could never pay for
 * is too large.
 */
async function readBody(
  context: Context,
  visitor: Caller,
  { traffic }: Pick<HttpOptions, 'traffic'>,
): Promise<Uint8Array | Refusal> {
  const { space, rateLimitKey } = visitor
  const maxPostBytes = getMaxPostBytes(visitor)
  const maxResultBytes = Math.min(
    space.config.limits.maxResultBytes,
    space.rates.getRate(rateLimitKey, 'results').burst,
  )
  const maxBytes = Math.max(maxPostBytes, Math.min(maxBodyBytes, maxResultBytes))
  const reserve = (bytes: number, total: number): Refusal | undefined => {
    if (total > maxBytes) return tooLarge(maxBytes)
    // Only a response to a call may be larger than `maxPostBytes`, so more bytes are charged as `results`. Parsing decides
    // later whether the body is one.
    const rateClass = total > maxPostBytes ? 'results' : 'bytes'
    return traffic.reserve(context, bytes) ?? checkRate(visitor, rateClass, bytes)
  }
  const announced = context.req.header('content-length')
  if (announced === undefined) return readChunks(context, reserve)
  const refusal = reserve(Number(announced), Number(announced))
  if (refusal !== undefined) return refusal
  const body = await context.req.arrayBuffer().catch(() => undefined)
  return body === undefined ? bodyIncomplete : new Uint8Array(body)
}

/** Maximum bytes of a body that is not a large response: the burst of its sender's rate. */
const getMaxPostBytes = ({ space, rateLimitKey }: Caller): number =>
  Math.min(maxBodyBytes, space.rates.getRate(rateLimitKey, 'bytes').burst)

/** The client cannot receive this response, because its connection was closed or timed out; only a log of requests shows it. */
const bodyIncomplete = refuse('invalid_request', texts.incompleteBody)

/** Reads a body of unknown length, and charges each piece as it arrives. */
async function readChunks(
  { req }: Context,
  reserve: (bytes: number, total: number) => Refusal | undefined,
): Promise<Uint8Array | Refusal> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of readStream(req.raw.body)) {
    if (piece === undefined) return bodyIncomplete
    size += piece.length
    const refusal = reserve(piece.length, size)
    if (refusal !== undefined) return refusal
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/** The pieces of a body; a final `undefined` = the body ended early. */
async function* readStream(body: AsyncIterable<Uint8Array> | null): AsyncGenerator<Uint8Array | undefined> {
  try {
    if (body !== null) yield* body
  } catch {
    yield undefined
  }
}

const tooLarge = (maxBytes: number): Refusal =>
  refuse('payload_too_large', texts.largeBody, { bytes: maxBytes })

const nothing: Envelope = { protocol: PROTOCOL, id: '', ts: '', from: '', kind: '', payload: {} }

/** Takes the bytes from the rate. A refusal is counted and recorded like that of an envelope. */
function checkRate(visitor: Caller, rateClass: 'bytes' | 'results', bytes: number): Refusal | undefined {
  const { space, rateLimitKey } = visitor
  const retryAfterMs = space.rates.take(rateLimitKey, rateClass, bytes, space.clock.now())
  if (retryAfterMs === 0) return undefined
  const refusal = refuse('rate_limited', texts.overRate, { rateClass, ms: retryAfterMs }, { retryAfterMs })
  space.metrics.refused.add(refusal.code)
  const verdict = verdictFor(refusal)
  if (verdict !== undefined && !space.isFollower)
    space.decisions.record({ sender: visitor, envelope: nothing }, verdict)
  return refusal
}
