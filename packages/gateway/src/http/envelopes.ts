import { maxPost, readElements } from '@meup/protocol'
import type { Context } from 'hono'
import { deny, isDenial } from '../gateway/door.js'
import { isRefusal, type Receipt, type Refusal } from '../pipeline/passage.js'
import type { Sender } from '../space/sender.js'
import { type HttpOptions, knockOf } from './options.js'
import { denied, problem, problemOf, retryAfter } from './problem.js'

/** `POST /spaces/{space}/envelopes`: one envelope or an array, each as if it came over a socket [MEUP-11.2]. */
export async function postEnvelopes(context: Context, options: HttpOptions): Promise<Response> {
  const visitor = await options.gateway.identify(knockOf(context, options))
  if (isDenial(visitor)) return denied(visitor)
  if (!visitor.space.state.participants.has(visitor.participant)) {
    // A guest is known by its connection, and has none here.
    return problem(
      problemOf({ code: 'unauthorized', message: 'a token is required to post; guests use a socket' }),
    )
  }
  const body = await bodyOf(context)
  if (body === undefined) {
    const message = `post at most ${maxBody} bytes at once`
    return problem(problemOf({ code: 'payload_too_large', message }), { connection: 'close' })
  }
  // What it was let in by may have been taken away while its body was under way.
  if (!visitor.isWelcome()) return denied(notWelcome)
  const frames = framesOf(body)
  if (typeof frames === 'string') return problem(problemOf({ code: 'invalid_json', message: frames }))
  if (frames.length > maxPost) {
    const message = `${frames.length} envelopes in one post; send at most ${maxPost}`
    return problem(problemOf({ code: 'invalid_request', message }))
  }
  const sender: Sender = { ...visitor, reply: () => {}, echo: () => {} }
  const receipts: Receipt[] = []
  let refusal: Refusal | undefined
  for (const frame of frames) {
    const outcome = visitor.space.submit(sender, frame)
    if (isRefusal(outcome)) {
      refusal = outcome
      break
    }
    const { id, seq, invitation } = outcome
    receipts.push({ id, seq, ...(invitation && { invitation }) })
  }
  const head = receipts.reduce((most, { seq }) => Math.max(most, seq), 0)
  if (!(await visitor.space.committed(head))) {
    return problem(
      problemOf({ code: 'unavailable', message: 'the log cannot be written; post it again later' }),
    )
  }
  return refusal === undefined ? context.json(receipts, 201) : refused(refusal, receipts)
}

const notWelcome = deny('unauthorized', 401, 'this access was taken away or has ended; ask for a new token')

/** The first refusal, and what was accepted before it. */
function refused(refusal: Refusal, accepted: readonly Receipt[]): Response {
  const { code, message, path, retryAfterMs } = refusal
  const details = {
    ...(path !== undefined && { path }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    failedIndex: accepted.length,
    accepted,
  }
  return problem(problemOf({ code, message, details }), retryAfter(refusal))
}

/** Bytes of a post. */
const maxBody = 16 * 1024 * 1024

/** Nothing of it is read before it is known who sends it; `undefined` = it is too long, and the rest is left unread. */
async function bodyOf({ req }: Context): Promise<Uint8Array | undefined> {
  const announced = req.header('content-length')
  if (announced !== undefined) {
    return Number(announced) > maxBody ? undefined : new Uint8Array(await req.arrayBuffer())
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of req.raw.body ?? []) {
    size += chunk.length
    if (size > maxBody) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const openBracket = 0x5b

function framesOf(body: Uint8Array): Uint8Array[] | string {
  const first = body.find((byte) => byte > 0x20)
  return first === openBracket ? readElements(body) : [body]
}
