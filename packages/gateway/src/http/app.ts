import { type Context, Hono } from 'hono'
import { refuse } from '../core/admission/context.js'
import { postRun } from './ag-ui/post.js'
import { getAudit } from './audit.js'
import { getContext, getContexts, getParticipants } from './context.js'
import { getAsyncApi, getOpenApi, getSchema } from './descriptions.js'
import { postEnvelopes } from './envelopes.js'
import { getEvents } from './events.js'
import { getEnvelopes } from './history.js'
import {
  explainSocket,
  getHealth,
  getMetrics,
  getReadiness,
  getSpaces,
  guard,
  postExchange,
  postLink,
} from './operations.js'
import type { HttpOptions } from './options.js'
import { getPageFile } from './page.js'
import { problem, problemOf, refused } from './problem.js'
import { getExport, getVerification } from './proof.js'
import { Traffic } from './traffic.js'
import { getTurns } from './turns.js'

/** Small answers for whoever watches over the gateway. */
const alwaysAnswered: ReadonlySet<string> = new Set(['/healthz', '/readyz'])

type Handler = (context: Context, options: HttpOptions) => Response | Promise<Response>

/** The gateway over HTTP [MEUP-11]. */
export function createHttpApp(given: Omit<HttpOptions, 'traffic'>): Hono {
  const traffic = new Traffic()
  const options = { ...given, traffic }
  const app = new Hono()
  app.use(async (context, next) => {
    const refusal = traffic.arrive(context, options.remoteOf(context))
    if (refusal !== undefined && !alwaysAnswered.has(context.req.path)) return refused(refusal)
    options.over(context, () => traffic.leave(context))
    await next()
    traffic.charge(context)
    return undefined
  })
  app.use('/spaces/*', guard(options.origins))
  app.use('/links/*', guard(options.origins))
  app.post('/spaces/:space/envelopes', (context) => postEnvelopes(context, options))
  const allowOnly = (path: string, allow: string) => {
    app.options(path, () => new Response(null, { status: 204, headers: { allow } }))
    app.all(path, ({ req }) => {
      const message = `${req.path} takes ${allow}, not ${req.method}`
      return problem(problemOf({ code: 'invalid_request', status: 405, message }), { allow })
    })
  }
  const get = (path: string, handler: Handler, allow = 'GET, HEAD, OPTIONS') => {
    app.get(path, (context) => handler(context, options))
    allowOnly(path, allow)
  }
  get('/spaces', getSpaces)
  get('/spaces/:space/envelopes', getEnvelopes, 'GET, HEAD, POST, OPTIONS')
  get('/spaces/:space/events', getEvents)
  get('/spaces/:space/participants', getParticipants)
  get('/spaces/:space/contexts', getContexts)
  get('/spaces/:space/contexts/:path{.+}', getContext)
  get('/spaces/:space/turns', getTurns)
  get('/spaces/:space/audit', getAudit)
  get('/spaces/:space/audit/verify', getVerification)
  get('/spaces/:space/audit/export', getExport)
  const post = (path: string, handler: Handler) => {
    app.post(path, (context) => handler(context, options))
    allowOnly(path, 'POST, OPTIONS')
  }
  post('/spaces/:space/ag-ui', postRun)
  post('/spaces/:space/links', postLink)
  post('/links/exchange', postExchange)
  get('/spaces/:space/ws', explainSocket)
  get('/healthz', getHealth)
  get('/readyz', getReadiness)
  get('/metrics', getMetrics)
  get('/schema/:file', getSchema)
  get('/openapi.json', getOpenApi)
  get('/asyncapi.json', getAsyncApi)
  for (const [path, file] of options.page ?? []) get(path, (context) => getPageFile(context, file))
  app.notFound(({ req }) => refused(refuse('not_found', `there is nothing at ${req.path}`)))
  app.onError((err, { req }) => {
    options.logger.error({ err, path: req.path }, 'a request failed')
    const message = 'the gateway failed; try again, and tell the operator'
    return refused(refuse('internal', message))
  })
  return app
}
