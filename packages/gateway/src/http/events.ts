import type { Context } from 'hono'
import { select } from '../core/delivery/selection.js'
import { type Denial, deny, isDenial, placeless, type Resume } from '../host/connection-gate.js'
import { filterOf, filterParameters } from './history.js'
import { type HttpOptions, readConnectRequest } from './options.js'
import { readParameters } from './parameters.js'
import { denied } from './problem.js'
import { SseFeed } from './sse-feed.js'
import { visitorOf } from './visitor.js'

export const eventParameters = ['after', 'epoch', ...filterParameters] as const

/** From here on a stream counts as a connection, and not as a request. */
export function stands(context: Context, { traffic, standing }: HttpOptions): void {
  traffic.leave(context)
  standing(context)
}

export const eventHeaders = {
  'content-type': 'text/event-stream',
  // Proxies would keep events back to send them in larger pieces.
  'x-accel-buffering': 'no',
}

/**
 * `GET /spaces/{space}/events`: what is committed, as server-sent events [MEUP-11.4]. A connection like any other for
 * its limits, but one that cannot act, and so it makes nobody present [MEUP-11.10].
 */
export async function getEvents(context: Context, options: HttpOptions): Promise<Response> {
  const { gateway } = options
  const asked = readParameters(new URL(context.req.url).searchParams, eventParameters)
  if (isDenial(asked)) return denied(asked)
  const { after, epoch, reasoning = 'full' } = asked
  // Browsers send back the id of an event, and cannot be told to send more.
  const misplaced = placeless({ after, epoch })
  if (misplaced !== undefined) return denied(misplaced)
  const lastSeen = readLastEventId(context.req.header('last-event-id'))
  if (isDenial(lastSeen)) return denied(lastSeen)
  if (context.req.method === 'HEAD') {
    const visitor = await visitorOf(context, options)
    return isDenial(visitor) ? denied(visitor) : new Response(null, { headers: eventHeaders })
  }
  const grant = await gateway.admit(readConnectRequest(context, options))
  if (isDenial(grant)) return denied(grant)

  const resume = { ...(after !== undefined && { after }), ...lastSeen, ...(epoch !== undefined && { epoch }) }
  const feed = new SseFeed({
    remote: options.remoteOf(context),
    heartbeatMs: options.eventHeartbeatMs,
    hangUp: () => options.hangUp(context),
  })
  const line = await grant.watch(feed, resume, select(filterOf(asked), reasoning))
  void feed.ended.then(() => line.closed())
  stands(context, options)
  return new Response(feed.stream, { headers: eventHeaders })
}

/** `12`, or `12.1` where more of the same seq was to come. */
function readLastEventId(text: string | undefined): Pick<Resume, 'after' | 'told'> | Denial {
  if (text === undefined) return {}
  const [, seq, told] = /^(\d{1,16})(?:\.(\d{1,6}))?$/.exec(text) ?? []
  const after = Number(seq)
  if (Number.isSafeInteger(after)) return { after, ...(told !== undefined && { told: Number(told) }) }
  const message = `Last-Event-ID must be the id of an event of this stream, not ${text.slice(0, 100)}`
  return deny('invalid_request', 400, message)
}
