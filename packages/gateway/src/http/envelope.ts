import type { Context } from 'hono'
import { readHistory } from '../core/delivery/history.js'
import type { LogReader } from '../core/delivery/log-reads.js'
import { mayRead, type Reader } from '../core/may-read.js'
import { isRefusal, type Refusal, refuse } from '../core/refusal.js'
import { texts } from '../core/refusal-texts.js'
import type { Space } from '../core/space.js'
import { yieldNow } from '../core/yielding.js'
import { splitMessage } from '../ports/connection.js'
import type { Heading } from '../ports/envelope-log.js'
import { refused } from './problem.js'
import type { HttpOptions } from './route.js'
import { sent } from './stream.js'
import { authenticateReader, createReader } from './views.js'

/** `GET /spaces/{space}/envelopes/{ref}`: one envelope, by its id, the beginning of its id, or `#seq` [MEUP-11.22]. */
export async function getEnvelope(context: Context, options: HttpOptions): Promise<Response> {
  const visitor = await authenticateReader(context, options)
  if (isRefusal(visitor)) return refused(visitor)
  const { space } = visitor
  const reader = createReader(visitor, context, options)
  const found = await resolveEnvelope(space, reader, context.req.param('ref') ?? '')
  if (isRefusal(found)) return refused(found)
  const query = { after: found.seq - 1, before: found.seq + 1, limit: 1, order: 'asc', filter: {} } as const
  const { messages, head } = await readHistory(reader, space, { ...query, reasoning: 'full' })
  const [message] = messages
  if (message === undefined) return refused(refuseMissing(`#${found.seq}`, space))
  const headers = {
    'content-type': 'application/json',
    'meup-epoch': space.log.epoch,
    'meup-head': `${head}`,
  }
  return new Response(sent([...splitMessage(message)]), { headers })
}

/** Matches that the message lists if a prefix is ambiguous. */
const maxNamed = 10
/** Ids with the prefix that are read from the log at once. */
const pageIds = 100

/**
 * Finds the envelope for an id, `#seq`, a seq, or a unique prefix of an id, among those that this reader may read; unreadable
 * envelopes do not count as matches [MEUP-8.6].
 */
export async function resolveEnvelope(
  space: Space,
  reader: Reader & LogReader,
  ref: string,
): Promise<Heading | Refusal> {
  const mayBeRead = (row: Heading | undefined): row is Heading =>
    row !== undefined && row.seq <= space.delivered && mayRead(reader, space.decideAudience(row))
  const [, mark, seq] = /^(#?)(\d{1,15})$/.exec(ref) ?? []
  const exact = mark === '#' ? undefined : space.log.heading(ref)
  if (mayBeRead(exact)) return exact
  if (seq !== undefined) {
    const range = { after: Number(seq) - 1, before: Number(seq) + 1, limit: 1, only: 'headings' } as const
    const [row] = await space.log.read(range)
    if (mayBeRead(row)) return row
  }
  if (mark === '#' || ref === '') return refuseMissing(ref, space)
  const found: Heading[] = []
  for (let after = ''; found.length <= maxNamed && (await space.reads.waitForBudget(reader)); ) {
    const page = space.log.headingsFrom(ref, after, pageIds)
    space.rates.charge(reader.rateLimitKey, 'work', page.length + 1, space.clock.now())
    found.push(...page.filter(mayBeRead))
    after = page.at(-1)?.id ?? ''
    if (page.length === 0) break
    await yieldNow()
  }
  const [one, ...others] = found
  if (one === undefined) return refuseMissing(ref, space)
  if (others.length === 0) return one
  const ids = found.slice(0, maxNamed).map(({ id }) => id)
  const all = `${ids.join(', ')}${found.length > maxNamed ? ', …' : ''}`
  return refuse('invalid_request', texts.ambiguousId, { ref, ids: all })
}

/** Refuses an unreadable envelope like a missing one [MEUP-8.6]. Which seqs were pruned or erased is public. */
export function refuseMissing(ref: string, space: Space): Refusal {
  const seq = space.log.heading(ref)?.seq ?? Number(ref.replace(/^#/, '') || 0)
  if (seq < space.log.oldest && seq >= 1)
    return refuse('not_found', texts.prunedEnvelope, { oldest: space.log.oldest })
  const name = ref.slice(0, 128)
  const isErased = seq <= space.delivered && space.wasErased(seq)
  return refuse('not_found', isErased ? texts.erasedEnvelope : texts.unknownEnvelope, { ref: name })
}
