import { errorCodes, type JsonSchema, maxPost } from '@meup/protocol'
import { getAudit } from './audit.js'
import { getContext, getContexts, getParticipants } from './context.js'
import { answerSchemas, array, schemaRef, textSchema, turnSchemas } from './describe/schemas.js'
import { getEnvelope } from './envelope.js'
import { postEnvelopes } from './envelopes.js'
import { postErasure } from './erase.js'
import { getEvents } from './events.js'
import { getEnvelopes, ndjson } from './history.js'
import {
  getAsyncApi,
  getHealth,
  getMetrics,
  getOpenApi,
  getReadiness,
  getSchema,
  getSpaces,
  postExchange,
  postLink,
} from './operations.js'
import { pick, whyParameters } from './parameters.js'
import { getExport, getVerification, markdown } from './proof.js'
import { getProposals } from './proposals.js'
import { type RouteModule, route } from './route.js'
import { getSearch } from './search.js'
import { getTurns } from './turns.js'
import { getWhy } from './why.js'

const json = (schema: JsonSchema) => ({ 'application/json': schema })
const filters = ['kind', 'from', 'context', 'correlationId', 'reasoning'] as const
const document = { description: 'the document', content: json({ type: 'object' }) }
const status = { description: 'yes', content: json(schemaRef('status')) }

/** The HTTP routes of the gateway [MEUP-11]. To add a route, add a row here and its handler. */
export const gatewayRoutes: RouteModule = {
  schemas: () => ({ ...answerSchemas(), ...turnSchemas() }),
  routes: [
    route({
      method: 'get',
      path: '/spaces/{space}/envelopes',
      operationId: 'envelopes',
      summary: 'A part of the log',
      auth: 'token or guest',
      parameters: pick('after', 'before', 'limit', 'order', ...filters),
      answer: {
        description: 'envelopes as they were delivered; `Link: rel="next"` if there may be more',
        content: { ...json(schemaRef('history')), [ndjson]: textSchema },
      },
      handler: getEnvelopes,
    }),
    route({
      method: 'get',
      path: '/spaces/{space}/envelopes/{ref}',
      operationId: 'envelope',
      summary: 'One envelope, by its id, the beginning of that, or #seq',
      auth: 'token or guest',
      answer: { description: 'the envelope as it was delivered', content: json(schemaRef('envelope')) },
      handler: getEnvelope,
    }),
    route({
      method: 'post',
      path: '/spaces/{space}/envelopes',
      operationId: 'post',
      summary: 'Sends envelopes, one or an array',
      auth: 'token',
      body: { oneOf: [schemaRef('submission'), { ...array(schemaRef('submission')), maxItems: maxPost }] },
      answer: {
        status: 201,
        description: 'all are in the log',
        content: json(array(schemaRef('receipt'))),
      },
      refuses: errorCodes,
      handler: postEnvelopes,
    }),
    route({
      method: 'get',
      path: '/spaces/{space}/events',
      operationId: 'events',
      summary: 'Committed envelopes as server-sent events',
      auth: 'token or guest',
      parameters: pick('after', 'epoch', ...filters),
      headers: {
        'Last-Event-ID':
          'the id of the last received event: its seq, or seq.n between events of one seq; takes precedence over `after`',
      },
      answer: {
        description: [
          'events `envelope` (id: its seq); after the one that ends a batch of calls `reasoning_update` or `job_reasoning`, with',
          'the schemas of these names and the same seq; `delta`, a part of an answer as it is written, without an id; `lost`; and',
          '`error` before the gateway ends the stream',
        ].join(' '),
        content: { 'text/event-stream': textSchema },
      },
      handler: getEvents,
    }),
    route({
      method: 'get',
      path: '/spaces/{space}/participants',
      operationId: 'participants',
      summary: 'The participants of the space, and which of them are present',
      auth: 'token or guest',
      answer: { content: json(schemaRef('participants')) },
      handler: getParticipants,
    }),
    route({
      method: 'get',
      path: '/spaces/{space}/contexts',
      operationId: 'contexts',
      summary: 'The tree of contexts',
      auth: 'token or guest',
      answer: { content: json(schemaRef('contexts')) },
      handler: getContexts,
    }),
    route({
      method: 'get',
      path: '/spaces/{space}/contexts/{path}',
      operationId: 'context',
      summary: 'One context with its nested contexts; with format=markdown, its whole text',
      auth: 'token or guest',
      parameters: pick('format'),
      answer: {
        description: 'a context that reasoning has opened, or a free path',
        content: {
          ...json({ anyOf: [schemaRef('context'), schemaRef('free_path')] }),
          [markdown]: textSchema,
        },
      },
      handler: getContext,
    }),
    route({
      method: 'get',
      path: '/spaces/{space}/turns',
      operationId: 'turns',
      summary: 'Questions to an agent, its answers, and its tool calls with their reasons',
      auth: 'token or guest',
      parameters: pick('thread_id', 'before', 'limit', 'of', 'calls_before', 'sizes'),
      required: ['thread_id'],
      answer: {
        description: 'the latest turns, in their order; `Link: rel="next"` if there may be earlier ones',
        content: json(schemaRef('turns')),
      },
      handler: getTurns,
    }),
    route({
      method: 'get',
      path: '/spaces/{space}/proposals',
      operationId: 'proposals',
      summary: 'Open proposals, with their params as proposed',
      auth: 'token or guest',
      parameters: pick('after', 'limit'),
      answer: {
        description: 'open proposals, oldest first; `Link: rel="next"` if there are more',
        content: { ...json(schemaRef('proposals')), [ndjson]: textSchema },
      },
      handler: getProposals,
    }),
    route({
      method: 'get',
      path: '/spaces/{space}/search',
      operationId: 'search',
      summary: 'Envelopes that say certain words, newest first',
      auth: 'token or guest',
      parameters: pick('text', 'from', 'kind', 'tool', 'outcome', 'since', 'until', 'limit', 'before'),
      answer: {
        description: 'hits; `Link: rel="next"` where earlier envelopes were not looked at yet',
        content: json(schemaRef('search')),
      },
      handler: getSearch,
    }),
    route({
      method: 'get',
      path: '/spaces/{space}/why/{ref}',
      operationId: 'why',
      summary: 'The causes of an envelope, step by step across agents, with the most relevant steps',
      auth: 'token or guest',
      parameters: whyParameters,
      answer: {
        description: 'steps in log order, the last one the envelope itself; `rank` 1: look here first',
        content: json(schemaRef('why')),
      },
      handler: getWhy,
    }),
    route({
      method: 'get',
      path: '/spaces/{space}/audit',
      operationId: 'audit',
      summary:
        'Steps of agents, and envelopes that the gateway denied, blocked, limited or reviewed, newest first',
      auth: 'token or guest',
      parameters: pick('before', 'limit', 'from', 'since', 'until', 'thread_id', 'turn', 'phase'),
      answer: {
        description: 'steps and decisions; `Link: rel="next"` if there may be more',
        content: json(schemaRef('audit')),
      },
      handler: getAudit,
    }),
    route({
      method: 'get',
      path: '/spaces/{space}/audit/verify',
      operationId: 'verification',
      summary: 'Whether the log is what was chained',
      auth: 'token or guest',
      answer: { content: json(schemaRef('verification')) },
      handler: getVerification,
    }),
    route({
      method: 'get',
      path: '/spaces/{space}/audit/export',
      operationId: 'export',
      summary:
        'The log with the proof that it is whole, or turns and steps to read, as far as its reader may see them',
      auth: 'token or guest',
      parameters: pick('format', 'after', 'thread_id', 'turn', 'limit'),
      answer: {
        description:
          'jsonl: epoch, first seq and previous hash; a line for each envelope; epoch, head and hash. markdown: turns',
        content: { [ndjson]: textSchema, [markdown]: textSchema },
      },
      handler: getExport,
    }),
    route({
      method: 'post',
      path: '/spaces/{space}/audit/erase',
      operationId: 'erase',
      summary: 'Removes the body of an envelope for good',
      auth: 'token',
      body: schemaRef('erase'),
      answer: {
        status: 201,
        description: 'no one can read it any more; `removed`: its bytes are gone',
        content: json(schemaRef('erasure')),
      },
      refuses: [
        'invalid_request',
        'unauthorized',
        'capability_violation',
        'participant_paused',
        'not_found',
        'payload_too_large',
        'rate_limited',
        'internal',
        'unavailable',
      ],
      handler: postErasure,
    }),
    route({
      method: 'post',
      path: '/spaces/{space}/links',
      operationId: 'link',
      summary: 'Makes a one-time code for a token',
      auth: 'token',
      answer: {
        status: 201,
        description: 'it can be exchanged for the token, once and within a minute',
        content: json(schemaRef('link')),
      },
      handler: postLink,
    }),
    route({
      method: 'get',
      path: '/spaces',
      operationId: 'spaces',
      summary: 'The spaces that a token opens, or that let guests in',
      auth: 'token or guest',
      answer: { description: 'their names', content: json(schemaRef('spaces')) },
      handler: getSpaces,
    }),
    route({
      method: 'post',
      path: '/links/exchange',
      operationId: 'exchange',
      summary: 'Exchanges a one-time code for its token',
      auth: 'code',
      answer: { description: 'the token, and whose it is', content: json(schemaRef('exchanged')) },
      handler: postExchange,
    }),
    route({
      method: 'get',
      path: '/healthz',
      operationId: 'health',
      summary: 'Whether the process answers',
      auth: 'none',
      answer: status,
      handler: getHealth,
    }),
    route({
      method: 'get',
      path: '/readyz',
      operationId: 'readiness',
      summary: 'Whether every space takes envelopes',
      auth: 'none',
      answer: status,
      refuses: ['unavailable'],
      handler: getReadiness,
    }),
    route({
      method: 'get',
      path: '/metrics',
      operationId: 'metrics',
      summary: 'Metrics of the gateway',
      auth: 'none',
      answer: { description: 'text for Prometheus', content: { 'text/plain': textSchema } },
      handler: getMetrics,
    }),
    route({
      method: 'get',
      path: '/schema/{file}',
      operationId: 'schema',
      summary: 'JSON Schema of an envelope or a payload',
      auth: 'none',
      answer: document,
      refuses: ['not_found'],
      handler: getSchema,
    }),
    route({
      method: 'get',
      path: '/openapi.json',
      operationId: 'openapi',
      summary: 'This document',
      auth: 'none',
      answer: document,
      handler: getOpenApi,
    }),
    route({
      method: 'get',
      path: '/asyncapi.json',
      operationId: 'asyncapi',
      summary: 'Messages over WebSockets',
      auth: 'none',
      answer: document,
      handler: getAsyncApi,
    }),
  ],
}
