import { explainLogged, maxWhySteps, type Why } from '@meup/folds'
import type { Context } from 'hono'
import { isRefusal, type Refusal, refuse } from '../core/admission/context.js'
import type { Space } from '../core/space.js'
import { LoggedEnvelopes } from '../index/logged-envelopes.js'
import { LoggedRights } from '../index/rights.js'
import type { Asked, whyParameters } from './parameters.js'
import { refused } from './problem.js'
import type { HttpOptions } from './route.js'
import { authenticateReader, chargeView, createReader, shown } from './views.js'

/** `GET /spaces/{space}/why/{ref}`: what led to an envelope, across agents, and where to look first [MEUP-11.23]. */
export async function getWhy(
  context: Context,
  options: HttpOptions,
  { limit = maxWhySteps }: Asked<typeof whyParameters>,
): Promise<Response> {
  const visitor = await authenticateReader(context, options)
  if (isRefusal(visitor)) return refused(visitor)
  const { space } = visitor
  const ref = context.req.param('ref') ?? ''
  const reader = createReader(visitor, context, options)
  const log = new LoggedEnvelopes(space, reader, (bytes) => chargeView(visitor, bytes))
  const id = await findId(ref, log)
  const why =
    id === undefined
      ? undefined
      : await explainLogged(log, id, {
          guard: (text) => space.safety.guard(text),
          rights: new LoggedRights(space, reader),
          limit,
        })
  if (why === undefined) return refused(unknown(ref, space))
  return shown(visitor, { ...why, proof: await readProof(why, space) })
}

/** An id may consist of digits, so it counts before a seq. */
async function findId(ref: string, log: LoggedEnvelopes): Promise<string | undefined> {
  if (log.heading(ref) !== undefined) return ref
  const seq = /^\d{1,15}$/.test(ref) ? Number(ref) : 0
  if (seq < 1) return undefined
  const [last] = await log.before(seq + 1)
  return last?.seq === seq ? last.id : undefined
}

/** What may not be read is refused like what does not exist. That a seq was pruned or erased is for everyone to know. */
function unknown(ref: string, space: Space): Refusal {
  const seq = space.log.heading(ref)?.seq ?? Number(ref)
  if (seq < space.log.oldest && seq >= 1)
    return refuse(
      'not_found',
      `What is older than seq ${space.log.oldest} was pruned. Ask about something later.`,
    )
  if (seq <= space.delivered && space.wasErased(seq)) {
    const advice = 'The record of it says by whom and why: GET audit/verify lists such records.'
    return refuse('not_found', `The envelope ${ref} was erased. ${advice}`)
  }
  return refuse('not_found', `There is no envelope ${ref} that you may read. Use the id or the seq of one.`)
}

/** The place of the envelope in the hash chain. `head`: the last seq of the log. */
async function readProof({ of: { seq } }: Why, { log, delivered: head }: Space): Promise<object> {
  const [row] = await log.read({ after: seq - 1, before: seq + 1, limit: 1, only: 'proofs' })
  return { seq, hash: row === undefined ? '' : Buffer.from(row.hash).toString('hex'), head }
}
