import { type Context, Hono } from 'hono'
import type { Gateway } from '../gateway/gateway.js'
import { postEnvelopes } from './envelopes.js'
import { problemOf } from './problem.js'

export interface HttpOptions {
  readonly gateway: Gateway
  /** Address of the peer of a request. */
  remoteOf(context: Context): string
}

/** The gateway over HTTP [MEUP-11]. */
export function createHttpApp(options: HttpOptions): Hono {
  const app = new Hono()
  app.get('/healthz', (context) => context.json({ status: 'ok' }))
  app.post('/spaces/:space/envelopes', (context) => postEnvelopes(context, options))
  app.notFound((context) =>
    problem(problemOf({ code: 'not_found', message: `there is nothing at ${context.req.path}` })),
  )
  app.onError((error) => problem(problemOf({ code: 'internal', message: error.message })))
  return app
}

export const problem = (body: Record<string, unknown>, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), {
    status: body.status as number,
    headers: { 'content-type': 'application/problem+json', ...headers },
  })
