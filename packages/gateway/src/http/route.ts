import { type ErrorCode, type JsonSchema, omitUndefined } from '@meup/protocol'
import type { Context } from 'hono'
import { readBearerToken } from '../host/connection-gate.js'
import type { ConnectRequest, Gateway } from '../host/gateway.js'
import type { Logger } from '../ports/logger.js'
import type { AskedParameters, QueryParameters } from './parameters.js'
import type { Traffic } from './traffic.js'

/** A route. The gateway registers it, reads its query, and describes it in OpenAPI by these fields. */
export interface Route<Known extends QueryParameters = QueryParameters> {
  readonly method: 'get' | 'post'
  /** Path parameters are in braces, such as `{space}`. */
  readonly path: `/${string}`
  readonly operationId: string
  readonly summary: string
  /** The required authentication; a guest has no token. */
  readonly auth: 'token' | 'token or guest' | 'code' | 'none'
  /** Parameters of the query; absent = the query is ignored. */
  readonly parameters?: Known
  readonly required?: readonly (keyof Known)[]
  /** Headers that are read, with their meanings. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: JsonSchema
  readonly answer: Answer
  /** Error codes of the route; default: those of every route that requires a token. */
  readonly refuses?: readonly ErrorCode[]
  readonly handler: (
    context: Context,
    options: HttpOptions,
    asked: AskedParameters<Known>,
  ) => Response | Promise<Response>
}

interface Answer {
  /** Status of the response; default 200. */
  readonly status?: number
  /** Default: the summary of the route. */
  readonly description?: string
  /** Schemas by media type. */
  readonly content: Readonly<Record<string, JsonSchema>>
}

/** Routes that are mounted together. */
export interface RouteModule {
  readonly routes: readonly Route[]
  /** Schemas that the routes refer to, by name. */
  schemas(): Readonly<Record<string, JsonSchema>>
}

/** Checks the type of a handler against the parameters of its route. */
export const route = <Known extends QueryParameters>(row: Route<Known>): Route => row as unknown as Route

export interface HttpOptions {
  readonly gateway: Gateway
  readonly logger: Logger
  /** Allowed browser origins, in addition to the gateway's own host. */
  readonly origins: readonly string[]
  /** Milliseconds between the comments that keep a stream of events open. */
  readonly eventHeartbeatMs: number
  metrics(): Promise<{ readonly text: string; readonly type: string }>
  openApi(): object
  readonly traffic: Traffic
  getRemoteAddress(context: Context): string
  /** Calls `then` when a request has been answered, or its connection is gone. */
  over(context: Context, then: () => void): void
  /** Marks an answer as a stream, which has no idle timeout. */
  standing(context: Context): void
  /** Called when the sender of a request is authenticated, so that its connection stops counting as unauthenticated. */
  onAuthenticated(context: Context): void
  /** Closes the connection of a request without flushing it. */
  hangUp(context: Context): void
}

/** Reads the space and the credentials of a request. */
export function readConnectRequest(
  context: Context,
  { getRemoteAddress, onAuthenticated }: Pick<HttpOptions, 'getRemoteAddress' | 'onAuthenticated'>,
): ConnectRequest {
  const token = readBearerToken(context.req.header('authorization'))
  return {
    space: context.req.param('space') ?? '',
    remote: getRemoteAddress(context),
    onAuthenticated: () => onAuthenticated(context),
    ...omitUndefined({ token }),
  }
}
