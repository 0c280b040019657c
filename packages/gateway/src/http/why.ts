import { explainLogged, maxWhySteps, type Why } from '@meup/folds'
import type { Context } from 'hono'
import { isRefusal } from '../core/refusal.js'
import type { Space } from '../core/space.js'
import { LoggedEnvelopes } from '../index/logged-envelopes.js'
import { LoggedRights } from '../index/rights.js'
import { refuseMissing, resolveEnvelope } from './envelope.js'
import type { AskedParameters, whyParameters } from './parameters.js'
import { refused } from './problem.js'
import type { HttpOptions } from './route.js'
import { authenticateReader, chargeView, createReader, shown } from './views.js'

/** `GET /spaces/{space}/why/{ref}`: the causes of an envelope across agents, and where to look first [MEUP-11.23]. */
export async function getWhy(
  context: Context,
  options: HttpOptions,
  { limit = maxWhySteps }: AskedParameters<typeof whyParameters>,
): Promise<Response> {
  const visitor = await authenticateReader(context, options)
  if (isRefusal(visitor)) return refused(visitor)
  const { space } = visitor
  const ref = context.req.param('ref') ?? ''
  const reader = createReader(visitor, context, options)
  const found = await resolveEnvelope(space, reader, ref)
  if (isRefusal(found)) return refused(found)
  const log = new LoggedEnvelopes(space, reader, (bytes) => chargeView(visitor, bytes))
  const why = await explainLogged(log, found.id, {
    guard: (text) => space.safety.guard(text),
    rights: new LoggedRights(space, reader),
    limit,
  })
  if (why === undefined) return refused(refuseMissing(ref, space))
  return shown(visitor, { ...why, proof: await readProof(why, space) })
}

/** The place of the envelope in the hash chain. `head`: the last seq of the log. */
async function readProof({ of: { seq } }: Why, { log, delivered: head }: Space): Promise<object> {
  const [row] = await log.read({ after: seq - 1, before: seq + 1, limit: 1, only: 'proofs' })
  return { seq, hash: row === undefined ? '' : Buffer.from(row.hash).toString('hex'), head }
}
