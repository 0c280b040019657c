import { maxPost, readElements } from '@meup/protocol'
import type { Context } from 'hono'
import { bearerOf, isDenial } from '../gateway/door.js'
import type { Gateway } from '../gateway/gateway.js'
import { isRefusal, type Receipt, type Refusal } from '../pipeline/passage.js'
import type { Logger } from '../ports/logger.js'
import type { Sender } from '../space/sender.js'
import { problem, problemOf } from './problem.js'

export interface HttpOptions {
  readonly gateway: Gateway
  readonly logger: Logger
  /** Address of the peer of a request. */
  remoteOf(context: Context): string
}

/** `POST /spaces/{space}/envelopes`: one envelope or an array, each as if it came over a socket [MEUP-11.2]. */
export async function postEnvelopes(context: Context, { gateway, remoteOf }: HttpOptions): Promise<Response> {
  const space = context.req.param('space') ?? ''
  const token = bearerOf(context.req.header('authorization'))
  const visitor = await gateway.identify({ space, remote: remoteOf(context), ...(token && { token }) })
  if (isDenial(visitor)) return problem(problemOf(visitor))

  const frames = framesOf(new Uint8Array(await context.req.arrayBuffer()))
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
    receipts.push(outcome)
  }
  const head = receipts.reduce((most, { seq }) => Math.max(most, seq), 0)
  if (!(await visitor.space.committed(head))) {
    return problem(
      problemOf({ code: 'unavailable', message: 'the log cannot be written; post it again later' }),
    )
  }
  return refusal === undefined ? context.json(receipts, 201) : refused(refusal, receipts)
}

/** The first refusal, and what was accepted before it. */
function refused({ code, message, path, retryAfterMs }: Refusal, accepted: readonly Receipt[]): Response {
  const details = {
    ...(path !== undefined && { path }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    failedIndex: accepted.length,
    accepted,
  }
  const headers: Record<string, string> =
    retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }
  return problem(problemOf({ code, message, details }), headers)
}

const openBracket = 0x5b

function framesOf(body: Uint8Array): Uint8Array[] | string {
  const first = body.find((byte) => byte > 0x20)
  return first === openBracket ? readElements(body) : [body]
}
