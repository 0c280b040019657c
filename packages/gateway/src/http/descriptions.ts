import { jsonSchemas, schemaDocument } from '@meup/protocol'
import type { Context } from 'hono'
import { refuse } from '../core/admission/context.js'
import { asyncApi } from './describe/asyncapi.js'
import type { HttpOptions } from './options.js'
import { refused } from './problem.js'

/** Made when it is first asked for. */
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
  const message = `There is no schema ${file}. Use envelope.json, submission.json, or a kind, such as chat.json.`
  return refused(refuse('not_found', message))
}

/** `GET /openapi.json`: these routes. */
export const getOpenApi = (context: Context, { openApi }: HttpOptions): Response => context.json(openApi())

/** `GET /asyncapi.json`: what goes over sockets. */
export const getAsyncApi = (context: Context): Response => context.json(asyncApiDocument())
