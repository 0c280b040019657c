import { type McpProposalPayload, stringifyExact } from '@meup/protocol'
import type { Context } from 'hono'
import { accepts } from 'hono/accepts'
import { hasEnded } from '../core/delivery/introduction.js'
import { mayRead } from '../core/may-read.js'
import { isRefusal } from '../core/refusal.js'
import { parseEnvelope } from '../log/entries.js'
import type { Row } from '../ports/envelope-log.js'
import { ndjson } from './history.js'
import type { ParsedQuery } from './parameters.js'
import { refused } from './problem.js'
import type { HttpOptions } from './route.js'
import { authenticateReader, chargeView, createReader, linkToNext } from './views.js'

/** Bytes of proposals in one response; a response has at least one proposal. */
const maxBytes = 4 * 1024 * 1024

/** `GET /spaces/{space}/proposals`: open proposals with their params as proposed, oldest first [MEUP-11.21]. */
export async function getProposals(
  context: Context,
  options: HttpOptions,
  { after = 0, limit = 100 }: ParsedQuery<'after' | 'limit'>,
): Promise<Response> {
  const visitor = await authenticateReader(context, options)
  if (isRefusal(visitor)) return refused(visitor)
  const { space } = visitor
  const reader = createReader(visitor, context, options)
  const { log, delivered: head } = space
  const found: string[] = []
  let [bytes, last, hasMore] = [0, 0, false]
  for (const { id, from, session, seq, usesLeft, rejectedBy } of space.state.calls.proposals(
    space.clock.now(),
  )) {
    if (seq <= after || seq > head) continue
    const row = log.find(id)
    if (row === undefined || row.body.length === 0 || !mayRead(reader, space.decideAudience(row))) continue
    if (found.length === limit || (found.length > 0 && bytes + row.body.length > maxBytes)) {
      hasMore = true
      break
    }
    const programEnded = hasEnded(space.state, from, session) ? { programEnded: true } : {}
    found.push(describe(row, { usesLeft, rejectedBy, ...programEnded }))
    bytes += row.body.length
    last = seq
  }
  const { epoch } = log
  const supports = ['application/json', ndjson]
  const type = accepts(context, { header: 'Accept', supports, default: 'application/json' })
  const rest = JSON.stringify({ epoch, head, has_more: hasMore, ...(hasMore && { next: last }) })
  const text =
    type === ndjson
      ? found.map((line) => `${line.replace(/[\r\n]/g, ' ')}\n`).join('')
      : `{"proposals":[${found.join(',')}],${rest.slice(1)}`
  chargeView(visitor, text.length)
  return new Response(text, {
    headers: {
      ...{ 'content-type': type, vary: 'accept', 'meup-epoch': epoch, 'meup-head': `${head}` },
      ...(hasMore && { link: linkToNext(context.req, 'after', last) }),
    },
  })
}

/** The JSON of a proposal in the response, with its params as sent. */
function describe(row: Row, state: object): string {
  const { protocol: _, kind: __, payload, ...fields } = parseEnvelope(row)
  const { method, expiresAt, params } = payload as unknown as McpProposalPayload
  return stringifyExact({ ...fields, method, expiresAt, ...state, params } as object)
}
