import type { MiddlewareHandler } from 'hono'
import { inspect } from '../host/connection-gate.js'
import { denied } from './problem.js'

const exposed = 'link, meup-epoch, meup-head, retry-after'

/**
 * Stands before everything that belongs to a space: the same rule for origins and tokens as for sockets [MEUP-5.9, 5.10].
 * A page of an allowed origin may read the answers, and nobody keeps copies of them.
 */
export const guard =
  (origins: readonly string[]): MiddlewareHandler =>
  async (context, next) => {
    const query = new URL(context.req.url).searchParams
    const [origin, host] = [context.req.header('origin'), context.req.header('host')]
    const refusal = inspect({ query, origin, host }, origins)
    if (refusal !== undefined) return denied(refusal)
    await next()
    const { headers } = context.res
    headers.set('cache-control', 'no-store')
    if (origin === undefined) return
    headers.set('access-control-allow-origin', origin)
    headers.append('vary', 'origin')
    headers.set('access-control-expose-headers', exposed)
    if (context.req.method !== 'OPTIONS') return
    headers.set('access-control-allow-methods', headers.get('allow') ?? '')
    headers.set('access-control-allow-headers', 'authorization, content-type, last-event-id')
    headers.set('access-control-max-age', '600')
  }
