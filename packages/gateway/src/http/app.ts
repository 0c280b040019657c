import { fillIn } from '@meup/protocol/error-texts'
import { Hono } from 'hono'
import { isRefusal, type Refusal, refuse } from '../core/refusal.js'
import { texts } from '../core/refusal-texts.js'
import { openApi } from './describe/openapi.js'
import { explainSocket, guard, once } from './operations.js'
import { getPageFile, type PageFiles } from './page.js'
import { readParameters } from './parameters.js'
import { problem, refused, toProblem } from './problem.js'
import type { HttpOptions, Route, RouteModule } from './route.js'
import { gatewayRoutes } from './routes.js'
import { Traffic } from './traffic.js'

/** Health checks, which are answered even to an address that has too many requests under way. */
const alwaysAnswered: ReadonlySet<string> = new Set(['/healthz', '/readyz'])

export interface HttpAppOptions extends Omit<HttpOptions, 'traffic' | 'openApi'> {
  /** The page for browsers; absent = none. */
  readonly page?: PageFiles
  /** Routes of other packages. */
  readonly modules?: readonly RouteModule[]
  /** Refuses a request for another host; absent = accepts any. */
  readonly checkHost?: (host: string | undefined) => Refusal | undefined
}

/** The gateway over HTTP [MEUP-11]. */
export function createHttpApp({ page, modules: more = [], checkHost, ...given }: HttpAppOptions): Hono {
  const traffic = new Traffic()
  const modules = [gatewayRoutes, ...more]
  const options = { ...given, traffic, openApi: once(() => openApi(modules)) }
  const app = new Hono()
  app.use(async (context, next) => {
    const refusal =
      traffic.arrive(context, options.getRemoteAddress(context)) ?? checkHost?.(context.req.header('host'))
    if (refusal !== undefined && !alwaysAnswered.has(context.req.path)) return refused(refusal)
    options.over(context, () => traffic.leave(context))
    await next()
    traffic.charge(context)
    return undefined
  })
  app.use('/spaces/*', guard(options.origins))
  app.use('/links/*', guard(options.origins))
  mount(
    app,
    modules.flatMap(({ routes }) => routes),
    options,
  )
  app.get('/spaces/:space/ws', explainSocket)
  allowOnly(app, '/spaces/:space/ws', ['get'])
  for (const [path, file] of page ?? []) {
    app.get(path, (context) => getPageFile(context, file))
    allowOnly(app, path, ['get'])
  }
  app.notFound(({ req }) => refused(refuse('not_found', texts.unknownPath, { path: req.path })))
  app.onError((err, { req }) => {
    options.logger.error({ err, path: req.path }, 'a request failed')
    return refused(refuse('internal', texts.failed))
  })
  return app
}

function mount(app: Hono, routes: readonly Route[], options: HttpOptions): void {
  const methods = new Map<string, Route['method'][]>()
  for (const { method, path: template, parameters, handler } of routes) {
    const path = toPattern(template)
    methods.set(path, [...(methods.get(path) ?? []), method])
    app[method](path, (context) => {
      const asked = parameters ? readParameters(new URL(context.req.url).searchParams, parameters) : {}
      return isRefusal(asked) ? refused(asked) : handler(context, options, asked)
    })
  }
  for (const [path, taken] of methods) allowOnly(app, path, taken)
}

/** Converts a path to the syntax of Hono. Only context paths contain slashes, so only `{path}` matches them. */
const toPattern = (template: string): string =>
  template.replace('{path}', ':path{.+}').replaceAll(/(?<=\/)\{(\w+)\}/g, ':$1')

/** Responds with 405 to methods that the path does not have. */
function allowOnly(app: Hono, path: string, methods: readonly Route['method'][]): void {
  const taken = methods.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : ['POST']))
  const allow = [...taken, 'OPTIONS'].join(', ')
  app.options(path, () => new Response(null, { status: 204, headers: { allow } }))
  app.all(path, ({ req }) => {
    const message = fillIn(texts.otherMethod, { path: req.path, method: req.method, allowed: allow })
    return problem(toProblem({ code: 'invalid_request', status: 405, message }), { allow })
  })
}
