import type { Context } from 'hono'
import type { LogReader } from '../core/delivery/log-reads.js'
import type { Reader } from '../core/delivery/may-read.js'
import { type Denial, deny, isDenial } from '../host/connection-gate.js'
import type { Caller } from '../host/gateway.js'
import { type HttpOptions, readConnectRequest } from './options.js'

/** Who asks; a request is counted as one of its own from here on. */
export async function visitorOf(context: Context, options: HttpOptions): Promise<Caller | Denial> {
  const visitor = await options.gateway.identify(readConnectRequest(context, options))
  if (isDenial(visitor)) return visitor
  return options.traffic.know(context, visitor) ?? visitor
}

/** Who asks for an answer that may be large, when there is room for one and what it has read is paid [MEUP-7.8]. */
export async function askerOf(context: Context, options: HttpOptions): Promise<Caller | Denial> {
  const visitor = await visitorOf(context, options)
  if (isDenial(visitor)) return visitor
  if (!(await options.traffic.turn(context))) return gone
  if (!(await visitor.space.reads.mayGoOn(readerFor(visitor, context, options)))) return gone
  // What it was let in by may have been taken away while it waited.
  return visitor.isWelcome() ? visitor : notWelcome
}

/** What a visitor may read, as long as somebody waits for the answer. */
export function readerFor(
  { space, participant, rateLimitKey }: Caller,
  context: Context,
  { traffic }: HttpOptions,
): Reader & LogReader {
  return { ...space.readerOf({ participant }), rateLimitKey, isGone: () => !traffic.isUnderWay(context) }
}

export const gone = deny('unavailable', 503, 'the client has gone')

export const notWelcome = deny(
  'unauthorized',
  401,
  'this access was taken away or has ended; ask for a new token',
)
