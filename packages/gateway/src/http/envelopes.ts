import { maxPost, readElements } from '@meup/protocol'
import type { Context } from 'hono'
import { isRefusal, type Receipt, type Refusal } from '../core/admission/context.js'
import { maxPostBytes, tooLarge } from './body.js'
import type { HttpOptions } from './options.js'
import { notCommitted, readPost, senderOf, submit } from './posted.js'
import { denied, problem, problemOf, refused } from './problem.js'

/** `POST /spaces/{space}/envelopes`: one envelope or an array, each as if it came over a socket [MEUP-11.2]. */
export async function postEnvelopes(context: Context, options: HttpOptions): Promise<Response> {
  const post = await readPost(context, options)
  if (post instanceof Response) return post
  const { visitor, body } = post
  const most = maxPostBytes(visitor)
  if (body.length > most && isArray(body)) return denied(tooLarge(most))
  const frames = framesOf(body)
  if (typeof frames === 'string') return problem(problemOf({ code: 'invalid_json', message: frames }))
  if (frames.length > maxPost) {
    const message = `more than ${maxPost} envelopes in one post; send them in several`
    return problem(problemOf({ code: 'invalid_request', message }))
  }
  const sender = senderOf(visitor)
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

const framesOf = (body: Uint8Array): readonly Uint8Array[] | string =>
  isArray(body) ? readElements(body, maxPost) : [body]
