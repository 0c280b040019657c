import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { type HttpOptions, postEnvelopes } from './envelopes.js'
import { problem, problemOf } from './problem.js'

/** Bytes of a request's body. */
const maxSize = 16 * 1024 * 1024

const tooLarge = (): Response =>
  problem(problemOf({ code: 'payload_too_large', message: `post at most ${maxSize} bytes at once` }))

/** The gateway over HTTP [MEUP-11]. */
export function createHttpApp(options: HttpOptions): Hono {
  const app = new Hono()
  app.get('/healthz', (context) => context.json({ status: 'ok' }))
  app.post('/spaces/:space/envelopes', bodyLimit({ maxSize, onError: tooLarge }), (context) =>
    postEnvelopes(context, options),
  )
  app.notFound((context) =>
    problem(problemOf({ code: 'not_found', message: `there is nothing at ${context.req.path}` })),
  )
  app.onError((err, { req }) => {
    options.logger.error({ err, path: req.path }, 'a request failed')
    return problem(
      problemOf({ code: 'internal', message: 'the gateway failed; try again, and tell the operator' }),
    )
  })
  return app
}
