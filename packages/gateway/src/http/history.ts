import { omitUndefined } from '@meup/protocol'
import type { Context } from 'hono'
import { accepts } from 'hono/accepts'
import { readHistory } from '../core/delivery/history.js'
import { isRefusal } from '../core/refusal.js'
import { type Message, splitMessage } from '../ports/connection.js'
import type { Filter } from '../ports/envelope-log.js'
import type { ParsedQuery } from './parameters.js'
import { refused } from './problem.js'
import type { HttpOptions } from './route.js'
import { sent, toSingleLine } from './stream.js'
import { authenticateReader, createReader, linkToNext } from './views.js'

export type FilterName = 'kind' | 'from' | 'context' | 'correlationId' | 'reasoning'
export const ndjson = 'application/x-ndjson'

/** `GET /spaces/{space}/envelopes`: a part of the log, the bytes as they were delivered [MEUP-11.3, 11.9]. */
export async function getEnvelopes(
  context: Context,
  options: HttpOptions,
  asked: ParsedQuery<'after' | 'before' | 'limit' | 'order' | FilterName>,
): Promise<Response> {
  const visitor = await authenticateReader(context, options)
  if (isRefusal(visitor)) return refused(visitor)

  const {
    after = 0,
    before = Number.POSITIVE_INFINITY,
    limit = 100,
    order = 'asc',
    reasoning = 'full',
  } = asked
  const { space } = visitor
  const query = { after, before, limit, order, filter: createFilter(asked), reasoning }
  const { messages, head, next } = await readHistory(createReader(visitor, context, options), space, query)

  const { epoch } = space.log
  const headers: Record<string, string> = { vary: 'accept', 'meup-epoch': epoch, 'meup-head': `${head}` }
  if (next !== undefined) headers.link = linkToNext(context.req, order === 'asc' ? 'after' : 'before', next)
  const supports = ['application/json', ndjson]
  const type = accepts(context, { header: 'Accept', supports, default: 'application/json' })
  headers['content-type'] = type
  const more = { has_more: next !== undefined, ...omitUndefined({ next }) }
  const parts = type === ndjson ? encodeLines(messages) : encodeJson(messages, { epoch, head, ...more })
  headers['content-length'] = `${parts.reduce((size, { length }) => size + length, 0)}`
  return new Response(sent(parts), { headers })
}

/** The part of a query that the log applies itself. */
export function createFilter({ kind, from, context, correlationId }: ParsedQuery<FilterName>): Filter {
  return {
    ...(kind && { kinds: kind }),
    ...(from && { from }),
    ...omitUndefined({ context, correlationId }),
  }
}

const newline = Buffer.from('\n')
const comma = Buffer.from(',')

const encodeLines = (messages: readonly Message[]): Uint8Array[] =>
  messages.flatMap((message) => [...splitMessage(message).map(toSingleLine), newline])

/** Joins the delivered bytes, without parsing and serializing them. */
function encodeJson(messages: readonly Message[], fields: object): Uint8Array[] {
  const envelopes = messages.flatMap((message, index) => [
    ...(index === 0 ? [] : [comma]),
    ...splitMessage(message),
  ])
  const rest = JSON.stringify(fields).slice(1)
  return [Buffer.from('{"envelopes":['), ...envelopes, Buffer.from(`],${rest}`)]
}
