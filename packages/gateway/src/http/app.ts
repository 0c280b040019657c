import { Hono } from 'hono'
import { type HttpOptions, postEnvelopes } from './envelopes.js'
import { problem, problemOf } from './problem.js'

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
