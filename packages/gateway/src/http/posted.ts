import type { Context } from 'hono'
import { deny, isDenial } from '../gateway/door.js'
import type { Caller } from '../gateway/gateway.js'
import type { Sender } from '../space/sender.js'
import { type HttpOptions, knockOf } from './options.js'
import { denied, problem, problemOf } from './problem.js'

/** Who posts, and what; else the response that says why not. */
export async function readPost(
  context: Context,
  options: HttpOptions,
): Promise<{ readonly visitor: Caller; readonly body: Uint8Array } | Response> {
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
  return visitor.isWelcome() ? { visitor, body } : denied(notWelcome)
}

/** Whoever posts gets its answer with the response, and nothing beside it. */
export const senderOf = (visitor: Caller): Sender => ({ ...visitor, reply: () => {}, echo: () => {} })

/** What was admitted is not in the log. */
export const notCommitted = (): Response =>
  problem(problemOf({ code: 'unavailable', message: 'the log cannot be written; post it again later' }))

const notWelcome = deny('unauthorized', 401, 'this access was taken away or has ended; ask for a new token')

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
