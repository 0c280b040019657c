import { type ErrorCode, errors, type JsonSchema, jsonSchemas, SpaceName } from '@meup/protocol'
import type { Route, RouteModule } from '../route.js'
import { schemaRef, textSchema } from './schemas.js'

/** A table of routes as an OpenAPI 3.1 document [MEUP-11.8]. */
export function openApi(modules: readonly RouteModule[]): JsonSchema {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of modules.flatMap(({ routes }) => routes)) {
    const { path, method } = route
    const item = paths[path] ?? describePath(path)
    paths[path] = { ...item, [method]: describeOperation(route) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'MEUP gateway',
      version: '0.3',
      description: 'Spaces over HTTP. For WebSockets, see /asyncapi.json.',
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: Object.assign({}, ...modules.map(({ schemas }) => schemas())),
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'a token of the space; guests send none' },
        code: { type: 'http', scheme: 'bearer', description: 'a one-time code, in place of a token' },
      },
    },
  }
}

function describePath(path: string): Record<string, object> {
  const described: Record<string, object> = {
    space: { schema: { ...textSchema, pattern: SpaceName.pattern } },
    path: { description: 'segments joined by /', schema: textSchema },
    ref: { description: 'an id, the beginning of one, `#seq` or a seq', schema: textSchema },
    file: { schema: { ...textSchema, enum: Object.keys(jsonSchemas()).map((name) => `${name}.json`) } },
  }
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...described[name],
  }))
  return parameters.length === 0 ? {} : { parameters }
}

const security: Record<Route['auth'], object[]> = {
  token: [{ token: [] }],
  'token or guest': [{ token: [] }, {}],
  code: [{ code: [] }],
  none: [],
}

/** Errors of every route that requires authentication. */
const entry: readonly ErrorCode[] = [
  'invalid_request',
  'unauthorized',
  'forbidden',
  'not_found',
  'rate_limited',
  'internal',
  'unavailable',
]

function describeOperation(route: Route): object {
  const { path, operationId, summary, auth, body, refuses = auth === 'none' ? [] : entry } = route
  const { status = 200, description = summary, content } = route.answer
  const parameters = describeParameters(route)
  return {
    operationId,
    summary,
    tags: [path.startsWith('/spaces/') ? 'spaces' : 'gateway'],
    security: security[auth],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: mediaTypes({ 'application/json': body }) } }),
    responses: { [status]: { description, content: mediaTypes(content) }, ...refusals(refuses) },
  }
}

const describeParameters = ({ parameters = {}, required = [], headers = {} }: Route): object[] => [
  ...Object.entries(parameters).map(([name, { meaning, takes, schema }]) => ({
    name,
    in: 'query',
    description: `${meaning}. Takes ${takes}.`,
    ...(required.includes(name) && { required: true }),
    schema,
  })),
  ...Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header',
    description,
    schema: textSchema,
  })),
]

const mediaTypes = (schemas: Readonly<Record<string, JsonSchema>>) =>
  Object.fromEntries(Object.entries(schemas).map(([type, schema]) => [type, { schema }]))

/** The error responses by status, each with its codes. */
function refusals(codes: readonly ErrorCode[]): Record<string, object> {
  const responses: Record<string, { description: string; content: object }> = {}
  for (const code of codes) {
    const { status, meaning } = errors[code]
    const description = [responses[status]?.description, `\`${code}\`: ${meaning}.`].filter(Boolean).join(' ')
    const content = mediaTypes({ 'application/problem+json': schemaRef('problem') })
    responses[status] = { description, content }
  }
  return responses
}
