import { type ErrorCode, errors, type JsonSchema, jsonSchemas, maxPost, SpaceName } from '@meup/protocol'
import { runParameters } from '../ag-ui/post.js'
import { auditParameters } from '../audit.js'
import { contextParameters } from '../context.js'
import { eventParameters } from '../events.js'
import { historyParameters, ndjson } from '../history.js'
import { type ParameterName, parameters } from '../parameters.js'
import { exportParameters, markdown } from '../proof.js'
import { turnParameters } from '../turns.js'
import { answerSchemas, arrayOf, runSchemas, schemaRef, text, turnSchemas } from './schemas.js'

/** The routes of this gateway as an OpenAPI 3.1 document [MEUP-11.8]. */
export function openApi(): JsonSchema {
  return {
    openapi: '3.1.0',
    info: {
      title: 'MEUP gateway',
      version: '0.3',
      description: 'Spaces over HTTP. What goes over WebSockets is described by /asyncapi.json.',
    },
    servers: [{ url: '/' }],
    paths: { ...spacePaths(), ...openPaths() },
    components: {
      schemas: { ...answerSchemas(), ...turnSchemas(), ...runSchemas() },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'a token of the space; guests send none' },
        code: { type: 'http', scheme: 'bearer', description: 'a one-time code, in place of a token' },
      },
    },
  }
}

function spacePaths(): Record<string, object> {
  const under = (path: string, operations: Record<string, object>, more: readonly object[] = []) => ({
    [`/spaces/{space}${path}`]: {
      parameters: [inPath('space', { pattern: SpaceName.pattern }), ...more],
      ...operations,
    },
  })
  const path = inPath('path', {}, 'segments joined by /')
  return {
    ...under('/envelopes', { get: history, post }),
    ...under('/events', { get: events }),
    ...under('/participants', { get: show('participants', 'Who belongs to the space, and who is there') }),
    ...under('/contexts', { get: show('contexts', 'The tree of contexts') }),
    ...under('/contexts/{path}', { get: oneContext }, [path]),
    ...under('/turns', { get: turns }),
    ...under('/audit', { get: audit }),
    ...under('/audit/verify', { get: show('verification', 'Whether the log is what was chained') }),
    ...under('/audit/export', { get: exported }),
    ...under('/ag-ui', { post: run }),
    ...under('/links', { post: link }),
  }
}

function openPaths(): Record<string, object> {
  const names = Object.keys(jsonSchemas()).map((name) => `${name}.json`)
  const schema = inPath('file', { enum: names })
  const document = { description: 'the document', content: json({ type: 'object' }) }
  const described = (operationId: string, summary: string) => ({
    get: open(operationId, summary, { 200: document }),
  })
  const status = { description: 'yes', content: json(schemaRef('status')) }
  const metrics = { description: 'text for Prometheus', content: { 'text/plain': { schema: text } } }
  return {
    '/spaces': { get: spaces },
    '/links/exchange': { post: exchange },
    '/healthz': { get: open('health', 'Whether the process answers', { 200: status }) },
    '/readyz': {
      get: open('readiness', 'Whether every space takes envelopes', {
        200: status,
        ...refusals(['unavailable']),
      }),
    },
    '/metrics': { get: open('metrics', 'What the gateway counts', { 200: metrics }) },
    '/schema/{file}': {
      parameters: [schema],
      get: open('schema', 'JSON Schema of an envelope or a payload', {
        200: document,
        ...refusals(['not_found']),
      }),
    },
    '/openapi.json': described('openapi', 'This document'),
    '/asyncapi.json': described('asyncapi', 'What goes over WebSockets'),
  }
}

const json = (schema: JsonSchema) => ({ 'application/json': { schema } })

/** What anybody may meet who asks for something of a space. */
const entry: readonly ErrorCode[] = [
  'invalid_request',
  'unauthorized',
  'forbidden',
  'not_found',
  'rate_limited',
  'internal',
  'unavailable',
]

const inPath = (name: string, schema: JsonSchema, description?: string) => ({
  name,
  in: 'path',
  required: true,
  ...(description && { description }),
  schema: { type: 'string', ...schema },
})

const inQuery = (names: readonly ParameterName[]) =>
  names.map((name) => {
    const { meaning, takes, schema } = parameters[name]
    return { name, in: 'query', description: `${meaning}. Takes ${takes}.`, schema }
  })

/** The responses that refuse, by status; each tells its codes. */
function refusals(codes: readonly ErrorCode[]): Record<string, object> {
  const responses: Record<string, { description: string; content: object }> = {}
  for (const code of codes) {
    const { status, meaning } = errors[code]
    const description = [responses[status]?.description, `\`${code}\`: ${meaning}.`].filter(Boolean).join(' ')
    const content = { 'application/problem+json': { schema: schemaRef('problem') } }
    responses[status] = { description, content }
  }
  return responses
}

const ofSpace = { tags: ['spaces'], security: [{ token: [] }, {}] }

const open = (operationId: string, summary: string, responses: object) => ({
  operationId,
  summary,
  tags: ['gateway'],
  security: [],
  responses,
})

const show = (schema: string, summary: string) => ({
  ...ofSpace,
  operationId: schema,
  summary,
  responses: { 200: { description: summary, content: json(schemaRef(schema)) }, ...refusals(entry) },
})

const history = {
  ...ofSpace,
  operationId: 'envelopes',
  summary: 'A part of the log',
  parameters: inQuery(historyParameters),
  responses: {
    200: {
      description: 'envelopes as they were delivered; `Link: rel="next"` where there may be more',
      content: { ...json(schemaRef('history')), [ndjson]: { schema: text } },
    },
    ...refusals(entry),
  },
}

const turns = {
  ...ofSpace,
  operationId: 'turns',
  summary: 'What an agent was asked and answered, and why it called which tools',
  parameters: inQuery(turnParameters).map((each) => ({ ...each, required: each.name === 'thread_id' })),
  responses: {
    200: {
      description: 'the latest turns, in their order; `Link: rel="next"` where there may be earlier ones',
      content: json(schemaRef('turns')),
    },
    ...refusals(entry),
  },
}

const audit = {
  ...ofSpace,
  operationId: 'audit',
  summary:
    'What agents did step by step, and what the gateway denied, blocked, limited or reviewed, newest first',
  parameters: inQuery(auditParameters),
  responses: {
    200: {
      description: 'steps and decisions; `Link: rel="next"` where there may be more',
      content: json(schemaRef('audit')),
    },
    ...refusals(entry),
  },
}

const oneContext = {
  ...ofSpace,
  operationId: 'context',
  summary: 'One context and what is nested in it, or with format=markdown all that was said there, to read',
  parameters: inQuery(contextParameters),
  responses: {
    200: {
      description: 'a context that reasoning has opened, or a free path',
      content: {
        ...json({ anyOf: [schemaRef('context'), schemaRef('free_path')] }),
        [markdown]: { schema: text },
      },
    },
    ...refusals(entry),
  },
}

const exported = {
  ...ofSpace,
  operationId: 'export',
  summary:
    'The log with the proof that it is whole, or turns and steps to read, as far as its reader may see them',
  parameters: inQuery(exportParameters),
  responses: {
    200: {
      description:
        'jsonl: epoch, first seq and previous hash; a line for each envelope; epoch, head and hash. markdown: turns',
      content: { [ndjson]: { schema: text }, [markdown]: { schema: text } },
    },
    ...refusals(entry),
  },
}

const post = {
  ...ofSpace,
  security: [{ token: [] }],
  operationId: 'post',
  summary: 'Sends envelopes, one or an array',
  requestBody: {
    required: true,
    content: json({
      oneOf: [schemaRef('submission'), { ...arrayOf(schemaRef('submission')), maxItems: maxPost }],
    }),
  },
  responses: {
    201: { description: 'all are in the log', content: json(arrayOf(schemaRef('receipt'))) },
    ...refusals(Object.keys(errors) as ErrorCode[]),
  },
}

const run = {
  ...ofSpace,
  security: [{ token: [] }],
  operationId: 'run',
  summary: 'Asks an agent, and shows its turn as a run of AG-UI',
  parameters: inQuery(runParameters),
  requestBody: { required: true, content: json(schemaRef('run')) },
  responses: {
    200: {
      description: 'events of AG-UI 1.0, from `RUN_STARTED` to `RUN_FINISHED` or `RUN_ERROR`',
      content: { 'text/event-stream': { schema: text } },
    },
    ...refusals(Object.keys(errors) as ErrorCode[]),
  },
}

const link = {
  ...ofSpace,
  security: [{ token: [] }],
  operationId: 'link',
  summary: 'Makes a one-time code for a token',
  responses: {
    201: { description: 'it stands for the token, once and for a minute', content: json(schemaRef('link')) },
    ...refusals(entry),
  },
}

const exchange = {
  tags: ['gateway'],
  security: [{ code: [] }],
  operationId: 'exchange',
  summary: 'Exchanges a one-time code for the token that it stands for',
  responses: {
    200: { description: 'the token, and whose it is', content: json(schemaRef('exchanged')) },
    ...refusals(entry),
  },
}

const spaces = {
  tags: ['gateway'],
  security: [{ token: [] }, {}],
  operationId: 'spaces',
  summary: 'The spaces that a token opens, or that let guests in',
  responses: {
    200: { description: 'their names', content: json(schemaRef('spaces')) },
    ...refusals(entry),
  },
}

const eventNames = [
  'events `envelope` (id: its seq); after the one that ends a batch of calls `reasoning_update` or `job_reasoning`, with',
  'the schemas of these names and the same seq; `lost`; and `error` before the gateway ends the stream',
].join(' ')

const events = {
  ...ofSpace,
  operationId: 'events',
  summary: 'What is committed, as server-sent events',
  parameters: [
    ...inQuery(eventParameters),
    {
      name: 'Last-Event-ID',
      in: 'header',
      description:
        'the id of the event to go on after: its seq, or seq.n between events of one seq; it counts more than `after`',
      schema: text,
    },
  ],
  responses: {
    200: {
      description: eventNames,
      content: { 'text/event-stream': { schema: text } },
    },
    ...refusals(entry),
  },
}
