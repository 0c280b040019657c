import type { Context } from 'hono'
import { isRefusal, type Receipt, type Refusal } from '../core/admission/context.js'
import type { Sender } from '../core/sender.js'
import { accept } from '../host/cluster/accept.js'
import { isDenial } from '../host/connection-gate.js'
import type { Caller } from '../host/gateway.js'
import { readBody } from './body.js'
import type { HttpOptions } from './options.js'
import { denied, problem, problemOf, refused, retryAfter } from './problem.js'
import { notWelcome, visitorOf } from './visitor.js'

/** Who posts, and what; else the response that says why not. */
export async function readPost(
  context: Context,
  options: HttpOptions,
): Promise<{ readonly visitor: Caller; readonly body: Uint8Array } | Response> {
  const visitor = await visitorOf(context, options)
  if (isDenial(visitor)) return denied(visitor)
  if (!visitor.space.state.participants.has(visitor.participant)) {
    // A guest is known by its connection, and has none here.
    return problem(
      problemOf({ code: 'unauthorized', message: 'a token is required to post; guests use a socket' }),
    )
  }
  const debt = debtOf(visitor)
  if (debt !== undefined) return refused(debt)
  const body = await readBody(context, visitor, options)
  if (isDenial(body)) {
    // What is too large is not read to its end.
    const isLarge = body.code === 'payload_too_large'
    return problem(problemOf(body), { ...retryAfter(body), ...(isLarge && { connection: 'close' }) })
  }
  // What it was let in by may have been taken away while its body was under way.
  return visitor.isWelcome() ? { visitor, body } : denied(notWelcome)
}

/** Takes one envelope as if it came over a socket; what repeats another costs a frame [MEUP-7.7]. */
export async function submit(visitor: Caller, sender: Sender, frame: Uint8Array): Promise<Receipt | Refusal> {
  const { space, rateLimitKey } = visitor
  const outcome = debtOf(visitor) ?? (await accept(space, sender, frame))
  if (!isRefusal(outcome) && outcome.answered)
    space.rates.charge(rateLimitKey, 'frames', 1, space.clock.now())
  return outcome
}

/** Who owes work or frames posts nothing until that is paid, as no socket of it is read [MEUP-7.5]. */
function debtOf({ space, rateLimitKey }: Caller): Refusal | undefined {
  for (const rateClass of ['work', 'frames'] as const) {
    const retryAfterMs = space.rates.wait(rateLimitKey, rateClass, space.clock.now())
    if (retryAfterMs === 0) continue
    const message = `over the rate for ${rateClass}; post again in ${retryAfterMs} ms`
    return { code: 'rate_limited', message, retryAfterMs, details: { class: rateClass } }
  }
  return undefined
}

/** Whoever posts gets its answer with the response, and nothing beside it. The body is paid for. */
export const senderOf = (visitor: Caller): Sender => ({
  ...visitor,
  reply: () => {},
  echo: () => {},
})

/** What was admitted is not in the log. */
export const notCommitted = (): Response =>
  problem(problemOf({ code: 'unavailable', message: 'the log cannot be written; post it again later' }))
