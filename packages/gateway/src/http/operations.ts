import { jsonSchemas, schemaDocument } from '@meup/protocol'
import { fillIn } from '@meup/protocol/error-texts'
import type { Context, MiddlewareHandler } from 'hono'
import { isRefusal, refuse } from '../core/refusal.js'
import { texts } from '../core/refusal-texts.js'
import { inspect, readBearerToken } from '../host/connection-gate.js'
import { asyncApi } from './describe/asyncapi.js'
import { problem, refused, toProblem } from './problem.js'
import { type HttpOptions, readConnectRequest } from './route.js'

/** `GET /healthz`: the process responds [MEUP-11.8]. */
export const getHealth = (context: Context): Response => context.json({ status: 'ok' })

/** `GET /readyz`: whether every space takes envelopes; otherwise which one does not, and why. */
export function getReadiness(context: Context, { gateway }: HttpOptions): Response {
  const stopped = gateway.report().flatMap(({ space, stopped }) => (stopped ? [{ space, stopped }] : []))
  if (stopped.length === 0) return context.json({ status: 'ready' })
  const reasons = stopped.map(({ space, stopped }) => `${space}: ${stopped}`)
  const details = { spaces: Object.fromEntries(stopped.map(({ space, stopped }) => [space, stopped])) }
  return refused({ code: 'unavailable', message: reasons.join('; '), details })
}

/** `GET /spaces/{space}/ws` without an upgrade: asks for a WebSocket client. */
export const explainSocket = (context: Context): Response =>
  problem(
    toProblem({
      code: 'invalid_request',
      status: 426,
      message: fillIn(texts.socketPath, { path: context.req.path }),
    }),
    { upgrade: 'websocket', connection: 'upgrade' },
  )

/** `GET /metrics`, for Prometheus. */
export async function getMetrics(_: Context, { metrics }: HttpOptions): Promise<Response> {
  const { text, type } = await metrics()
  return new Response(text, { headers: { 'content-type': type } })
}

/** `POST /spaces/{space}/links`: a one-time code for the token of the caller, valid for a minute [MEUP-11.13]. */
export async function postLink(context: Context, options: HttpOptions): Promise<Response> {
  const link = await options.gateway.link(readConnectRequest(context, options))
  if (isRefusal(link)) return refused(link)
  const { code, expiresAt } = link
  return context.json({ code, expiresAt: new Date(expiresAt).toISOString() }, 201)
}

/** `POST /links/exchange`: the token of a code. The code is sent in the `Authorization` header. */
export async function postExchange(context: Context, options: HttpOptions): Promise<Response> {
  const code = readBearerToken(context.req.header('authorization'))
  if (code === undefined) return refused(refuse('unauthorized', texts.missingCode))
  const link = await options.gateway.exchange(code, options.getRemoteAddress(context), () =>
    options.onAuthenticated(context),
  )
  if (isRefusal(link)) return refused(link)
  const { space, participant, token } = link
  return context.json({ space, participant, token })
}

/** `GET /spaces`: the spaces that a token opens, or that admit guests [MEUP-11.14]. */
export async function getSpaces(context: Context, options: HttpOptions): Promise<Response> {
  const spaces = await options.gateway.openedBy(readConnectRequest(context, options))
  return isRefusal(spaces) ? refused(spaces) : context.json({ spaces })
}

const exposed = 'link, meup-epoch, meup-head, retry-after'

/**
 * Middleware for all routes of a space: the same rules for origins and tokens as for sockets [MEUP-5.9, 5.10]. Pages of allowed
 * origins may read the responses, and nothing is cached.
 */
export const guard =
  (origins: readonly string[]): MiddlewareHandler =>
  async (context, next) => {
    const query = new URL(context.req.url).searchParams
    const [origin, host] = [context.req.header('origin'), context.req.header('host')]
    const refusal = inspect({ query, origin, host }, origins)
    if (refusal !== undefined) return refused(refusal)
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

/** Calls `make` on first use only. */
export const once = <Value>(make: () => Value): (() => Value) => {
  let made: { readonly value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

const documents = once(
  () =>
    new Map(
      Object.entries(jsonSchemas()).map(([name, schema]) => [`${name}.json`, schemaDocument(name, schema)]),
    ),
)
const asyncApiDocument = once(asyncApi)

/** `GET /schema/{name}.json`: JSON Schema of an envelope, a submission, or a kind's payload [MEUP-11.8]. */
export function getSchema(context: Context): Response {
  const file = context.req.param('file') ?? ''
  const document = documents().get(file)
  if (document !== undefined) return context.json(document)
  return refused(refuse('not_found', texts.unknownSchema, { file }))
}

/** `GET /openapi.json`: the routes as OpenAPI. */
export const getOpenApi = (context: Context, { openApi }: HttpOptions): Response => context.json(openApi())

/** `GET /asyncapi.json`: the messages of the WebSocket. */
export const getAsyncApi = (context: Context): Response => context.json(asyncApiDocument())
