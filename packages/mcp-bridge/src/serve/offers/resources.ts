import { text } from 'node:stream/consumers'
import { type Answer, type AnyEnvelope, ToolError } from '@meup/agent-sdk'
import type { ExportQuery, HttpClient, LogQuery } from '@meup/agent-sdk/http'
import { createTranscript, dropNulls, isObject, reasoningCommand, type TranscriptMessage } from '@meup/folds'
import { anyContext, type Envelope, Kind, ProtocolError, parseContext } from '@meup/protocol'
import {
  type CallToolResult,
  isSpecType,
  ProtocolError as McpError,
  type McpServer,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  type ResourceTemplateType,
  UriTemplate,
} from '@modelcontextprotocol/server'
import { serveError } from '../errors.js'
import { formatCodedError, textResult } from '../results.js'
import type { SpaceService } from '../service.js'

const [json, markdown, plain] = ['application/json', 'text/markdown', 'text/plain']

type Values = (name: string) => string

/** A resource of the space, or a template for several. */
interface OwnResource {
  readonly definition: Omit<Resource, 'uri'>
  /** A URI, or a URI template (RFC 6570). */
  readonly uri: string
  /** Reads the resource: Markdown or plain text as a string; any other value is returned to clients as JSON. */
  read(value: Values): Promise<unknown>
}

/** The resources of the space itself. They are read with the capabilities of the serving participant. */
function listOwn({ uris, http }: SpaceService): OwnResource[] {
  const { templates } = uris
  const add = (
    name: string,
    uri: string,
    mimeType: string,
    [title, description]: readonly [string, string],
    read: OwnResource['read'],
  ): OwnResource => ({ definition: { name, title, description, mimeType }, uri, read })
  const context = ['One context', 'Thoughts and actions in one context and below it.'] as const
  const audit = ['Audit of one turn', 'One turn of an agent, step by step.'] as const
  const latest = 'Why an agent used its tools in its latest completed turn.'
  const numbered = ['Reasoning of one turn', 'Why an agent used its tools in one of its turns.'] as const
  return [
    add('transcript', uris.transcript, json, ['Transcript', 'The main conversation, oldest first.'], () =>
      readTranscript(http),
    ),
    add('contexts', uris.contexts, json, ['Contexts', 'The tree of contexts, oldest first.'], () =>
      readContexts(http),
    ),
    add('audit', uris.audit, markdown, ['Audit', 'The latest turns of agents, step by step.'], () =>
      readMarkdown(http, { limit: latestTurns }),
    ),
    add('context', templates.context, json, context, (value) => readContext(http, value('path'))),
    add('turn-audit', templates.audit, markdown, audit, (value) =>
      readMarkdown(http, { thread: value('agent'), turn: value('turn') }),
    ),
    add('latest-reasoning', templates.latest, plain, ['Reasoning of the latest turn', latest], (value) =>
      readReasoning(http, value('agent')),
    ),
    add('turn-reasoning', templates.turn, plain, numbered, (value) =>
      readReasoning(http, value('agent'), value('turn')),
    ),
  ]
}

const isTemplate = ({ uri }: OwnResource): boolean => uri.includes('{')

/** Serves the resources of the space itself and those of its participants. */
export function serveResources({ server }: McpServer, service: SpaceService): void {
  const { offers, space, uris } = service
  const own = listOwn(service)
  server.setRequestHandler('resources/list', async () => {
    const resources = own
      .filter((each) => !isTemplate(each))
      .map(({ uri, definition }): Resource => ({ uri, ...definition }))
    return { resources: [...resources, ...(await offers.listResources())] }
  })
  server.setRequestHandler('resources/templates/list', async () => {
    const resourceTemplates = own
      .filter(isTemplate)
      .map(({ uri, definition }): ResourceTemplateType => ({ uriTemplate: uri, ...definition }))
    return { resourceTemplates: [...resourceTemplates, ...(await offers.listResourceTemplates())] }
  })
  server.setRequestHandler('resources/read', async ({ params: { uri } }, { mcpReq: { signal } }) => {
    const offered = uris.parseOffered(uri)
    if (offered === undefined) return readOwn(own, uri)
    const { participant, uri: itsOwn } = offered
    const result = await relayed(
      space.request(participant, 'resources/read', { uri: itsOwn }, { signal, timeoutMs }),
    )
    const contents = Array.isArray(result.contents) ? result.contents : []
    const named = contents
      .map(dropNulls)
      .map((each) =>
        isObject(each) && typeof each.uri === 'string'
          ? { ...each, uri: uris.offered(participant, each.uri) }
          : each,
      )
    const read = { ...(dropNulls(result) as object), contents: named }
    if (isSpecType.ReadResourceResult(read)) return read
    throw serveError('invalid_result', { participant, what: 'resource' })
  })
}

async function readOwn(own: readonly OwnResource[], uri: string): Promise<ReadResourceResult> {
  for (const { uri: known, definition, read } of own) {
    const values: Record<string, unknown> | null = known === uri ? {} : new UriTemplate(known).match(uri)
    if (values === null) continue
    const mimeType = String(definition.mimeType)
    return relayed(
      read((key) => String(values[key])).then((value) => {
        const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
        return { contents: [{ uri, mimeType, text }] }
      }),
      uri,
    )
  }
  throw new ResourceNotFoundError(uri)
}

/** Milliseconds that a participant gets to answer a request. */
export const timeoutMs = 60_000

/** Converts errors of the gateway to MCP errors. Errors of participants are passed on unchanged. */
export async function relayed<Value>(working: Promise<Value>, uri?: string): Promise<Value> {
  try {
    return await working
  } catch (error) {
    if (error instanceof ProtocolError && error.code === 'not_found' && uri !== undefined)
      throw new ResourceNotFoundError(uri, formatCodedError(error))
    if (error instanceof ToolError && error.code !== undefined)
      throw new McpError(error.code, error.message, error.data)
    throw new McpError(ProtocolErrorCode.InternalError, formatCodedError(error))
  }
}

/** Maximum envelopes, audit steps or contexts in a resource: the limit of one gateway response. */
const maxItems = 1000
/** Maximum turns that are searched for the one with a given answer, latest first. */
const maxTurnsSearched = 100
/** Number of turns in the audit resource. */
const latestTurns = 20

interface Page<Item> {
  readonly items: readonly Item[]
  /** Whether `items` is complete, rather than only the latest items. */
  readonly isWhole: boolean
}

/** Reads the main conversation, oldest message first. */
async function readTranscript(http: HttpClient): Promise<Page<TranscriptMessage>> {
  const kind = [Kind.chat, Kind.chatAcknowledge, Kind.chatCancel]
  const { items, isWhole } = await readLatest(http, { kind })
  const transcript = createTranscript()
  for (const envelope of items) transcript.apply(envelope as Envelope)
  return { items: transcript.messages(), isWhole }
}

/** Reads the tree of contexts, oldest first. */
async function readContexts(http: HttpClient): Promise<Page<unknown>> {
  const { contexts } = await http.readContexts()
  return { items: contexts.slice(-maxItems), isWhole: contexts.length <= maxItems }
}

/** Reads a context with its nested contexts and envelopes. Rejects with `not_found`. */
async function readContext(http: HttpClient, path: string): Promise<object> {
  if (parseContext(path, anyContext) === undefined) throw serveError('not_a_context', { context: path })
  const context = await http.readContext(path)
  const { items: envelopes, isWhole } = await readLatest(http, { context: path })
  return { ...context, envelopes, isWhole }
}

async function readLatest(http: HttpClient, query: LogQuery): Promise<Page<AnyEnvelope>> {
  const { envelopes, next } = await http.readLogPage({ ...query, order: 'desc', limit: maxItems })
  return { items: envelopes.toReversed(), isWhole: next === undefined }
}

/** Reads the audit of the latest turns or of one turn, as Markdown. Rejects with `not_found`. */
const readMarkdown = async (http: HttpClient, part: ExportQuery): Promise<string> =>
  text(await http.openExport({ format: 'markdown', ...part }))

/** Reads an agent's reasons for tool calls in a turn, or in its latest completed turn. Rejects with `not_found`. */
async function readReasoning(http: HttpClient, agent: string, turn?: string): Promise<string> {
  if (turn !== undefined && !/^[1-9]\d{0,8}$/.test(turn)) throw serveError('invalid_turn', { turn })
  const part = turn === undefined ? { limit: 10 } : { before: Number(turn) + 1, limit: 1 }
  const { turns } = await http.readTurnPage(agent, part)
  if (turn !== undefined && turns.every(({ turn_number }) => turn_number !== Number(turn)))
    throw serveError('unknown_turn', { agent, turn })
  return reasoningCommand(turn ?? '', { turns, isActive: false }).join('\n')
}

/** Returns the number of the turn that an answer ended; `undefined` = it is not among the latest turns. */
async function turnEndedAt(http: HttpClient, agent: string, ts: string): Promise<number | undefined> {
  const { turns } = await http.readTurnPage(agent, { limit: maxTurnsSearched })
  return turns.findLast(({ completed_at }) => completed_at === ts)?.turn_number
}

/** Creates the result of the tool `ask`, with a link to the reasoning of the turn. */
export async function createAskResult(
  { http, uris, log }: SpaceService,
  { id, from, text, ts }: Pick<Answer, 'id' | 'from' | 'text' | 'ts'>,
): Promise<CallToolResult> {
  const turn = await turnEndedAt(http, from, ts).catch((error: unknown) => {
    log(`the turn of the answer ${id} is not known: ${formatCodedError(error)}`)
    return undefined
  })
  const answer = { id, from, text }
  if (turn === undefined) return textResult([text], answer)
  const [reasoning, audit] = [uris.reasoning(from, turn), uris.turnAudit(from, turn)]
  const where = `from ${from}; resources: ${reasoning} (why which tools), ${audit} (step by step)`
  return textResult([text, where], { ...answer, turn, reasoning, audit })
}
