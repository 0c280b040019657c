import type { Context } from 'hono'
import type { HttpOptions } from './options.js'
import { problem, problemOf } from './problem.js'

/** `GET /healthz`: this process answers [MEUP-11.8]. */
export const getHealth = (context: Context): Response => context.json({ status: 'ok' })

/** `GET /readyz`: every space takes envelopes; else which does not, and why. */
export function getReadiness(context: Context, { gateway }: HttpOptions): Response {
  const stopped = gateway.report().flatMap(({ space, stopped }) => (stopped ? [{ space, stopped }] : []))
  if (stopped.length === 0) return context.json({ status: 'ready' })
  const reasons = stopped.map(({ space, stopped }) => `${space}: ${stopped}`)
  const details = { spaces: Object.fromEntries(stopped.map(({ space, stopped }) => [space, stopped])) }
  return problem(problemOf({ code: 'unavailable', message: reasons.join('; '), details }))
}

/** `GET /spaces/{space}/ws` by somebody who did not ask for a socket. */
export const explainSocket = (context: Context): Response =>
  problem(
    problemOf({
      code: 'invalid_request',
      status: 426,
      message: `${context.req.path} is a WebSocket; open one`,
    }),
    { upgrade: 'websocket', connection: 'upgrade' },
  )

/** `GET /metrics`, for Prometheus. */
export async function getMetrics(_: Context, { metrics }: HttpOptions): Promise<Response> {
  const { text, type } = await metrics()
  return new Response(text, { headers: { 'content-type': type } })
}
