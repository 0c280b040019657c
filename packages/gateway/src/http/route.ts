import type { ErrorCode, JsonSchema } from '@meup/protocol'
import type { Context } from 'hono'
import type { HttpOptions } from './options.js'
import type { Asked, QueryParameters } from './parameters.js'

/** One row of a table of routes: it is registered, its query is read, and it is described as it stands here. */
export interface Route<Known extends QueryParameters = QueryParameters> {
  readonly method: 'get' | 'post'
  /** What stands in braces is a parameter. */
  readonly path: `/${string}`
  readonly operationId: string
  readonly summary: string
  /** What its handler asks for; a guest has no token. */
  readonly auth: 'token' | 'token or guest' | 'code' | 'none'
  /** What a query may have; absent = nobody looks at the query. */
  readonly parameters?: Known
  readonly required?: readonly (keyof Known)[]
  /** Headers that are read, with what they say. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: JsonSchema
  readonly answer: Answer
  /** Default: what anybody may meet who has to say who asks. */
  readonly refuses?: readonly ErrorCode[]
  readonly handler: (
    context: Context,
    options: HttpOptions,
    asked: Asked<Known>,
  ) => Response | Promise<Response>
}

interface Answer {
  /** Default 200. */
  readonly status?: number
  /** Default: the summary. */
  readonly description?: string
  /** Schemas by media type. */
  readonly content: Readonly<Record<string, JsonSchema>>
}

/** Routes that are mounted together. */
export interface RouteModule {
  readonly routes: readonly Route[]
  /** What their schemas refer to, by name. */
  schemas(): Readonly<Record<string, JsonSchema>>
}

/** Has the handler of a row checked against its parameters. */
export const route = <Known extends QueryParameters>(row: Route<Known>): Route => row as unknown as Route
