import { jsonSchemas, schemaDocument } from '@meup/protocol'
import type { Context } from 'hono'
import { refuse } from '../core/admission/context.js'
import { asyncApi } from './describe/asyncapi.js'
import { openApi } from './describe/openapi.js'
import { refused } from './problem.js'

/** Made when it is first asked for. */
const once = <Value>(make: () => Value): (() => Value) => {
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
const openApiDocument = once(openApi)
const asyncApiDocument = once(asyncApi)

/** `GET /schema/{name}.json`: JSON Schema of an envelope, a submission, or a kind's payload [MEUP-11.8]. */
export function getSchema(context: Context): Response {
  const file = context.req.param('file') ?? ''
  const document = documents().get(file)
  if (document !== undefined) return context.json(document)
  const message = `there is no schema ${file}; take envelope.json, submission.json, or a kind, such as chat.json`
  return refused(refuse('not_found', message))
}

/** `GET /openapi.json`: these routes. */
export const getOpenApi = (context: Context): Response => context.json(openApiDocument())

/** `GET /asyncapi.json`: what goes over sockets. */
export const getAsyncApi = (context: Context): Response => context.json(asyncApiDocument())
