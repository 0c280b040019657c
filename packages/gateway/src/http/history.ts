import type { Context } from 'hono'
import { accepts } from 'hono/accepts'
import { isDenial } from '../gateway/door.js'
import { readHistory } from '../outbox/history.js'
import type { Message } from '../outbox/parcel.js'
import type { Filter } from '../ports/envelope-log.js'
import { oneLine } from './lines.js'
import { type HttpOptions, knockOf } from './options.js'
import { readParameters } from './parameters.js'
import { denied } from './problem.js'

export const filterParameters = ['kind', 'from', 'context', 'correlationId', 'reasoning'] as const
export const historyParameters = ['after', 'before', 'limit', 'order', ...filterParameters] as const
export const ndjson = 'application/x-ndjson'

/** `GET /spaces/{space}/envelopes`: a part of the log, the bytes as they were delivered [MEUP-11.3, 11.9]. */
export async function getEnvelopes(context: Context, options: HttpOptions): Promise<Response> {
  const url = new URL(context.req.url)
  const asked = readParameters(url.searchParams, historyParameters)
  if (isDenial(asked)) return denied(asked)
  const visitor = await options.gateway.identify(knockOf(context, options))
  if (isDenial(visitor)) return denied(visitor)

  const {
    after = 0,
    before = Number.POSITIVE_INFINITY,
    limit = 100,
    order = 'asc',
    reasoning = 'full',
  } = asked
  const { space } = visitor
  const query = { after, before, limit, order, filter: filterOf(asked), reasoning }
  const { messages, head, next } = await readHistory(space.readerOf(visitor), space, query)

  const { epoch } = space.log
  const headers: Record<string, string> = { vary: 'accept', 'meup-epoch': epoch, 'meup-head': `${head}` }
  if (next !== undefined) {
    url.searchParams.set(order === 'asc' ? 'after' : 'before', `${next}`)
    headers.link = `<?${url.searchParams}>; rel="next"`
  }
  const supports = ['application/json', ndjson]
  const type = accepts(context, { header: 'Accept', supports, default: 'application/json' })
  headers['content-type'] = type
  if (type === ndjson) return new Response(linesOf(messages), { headers })
  const more = { has_more: next !== undefined, ...(next !== undefined && { next }) }
  return new Response(jsonOf(messages, { epoch, head, ...more }), { headers })
}

/** The part of a query that the log itself can answer. */
export function filterOf(asked: {
  readonly kind?: readonly string[]
  readonly from?: readonly string[]
  readonly context?: string
  readonly correlationId?: string
}): Filter {
  const { kind, from, context, correlationId } = asked
  return {
    ...(kind && { kinds: kind }),
    ...(from && { from }),
    ...(context !== undefined && { context }),
    ...(correlationId !== undefined && { correlationId }),
  }
}

const newline = Buffer.from('\n')
const comma = Buffer.from(',')

const linesOf = (messages: readonly Message[]): Uint8Array<ArrayBuffer> =>
  Buffer.concat(messages.flatMap(({ text }) => [oneLine(text), newline]))

/** Put together from the delivered bytes: nothing is parsed and written anew. */
function jsonOf(messages: readonly Message[], fields: object): Uint8Array<ArrayBuffer> {
  const envelopes = messages.flatMap(({ text }, index) => (index === 0 ? [text] : [comma, text]))
  const rest = JSON.stringify(fields).slice(1)
  return Buffer.concat([Buffer.from('{"envelopes":['), ...envelopes, Buffer.from(`],${rest}`)])
}
