import { text } from 'node:stream/consumers'
import { type AnyEnvelope, ConnectionError } from '@meup/agent-sdk'
import type { ExportQuery, HttpClient, LogQuery } from '@meup/agent-sdk/http'
import { createTranscript, type Message, reasoningCommand } from '@meup/folds'
import { anyContext, type Envelope, Kind, ProtocolError, parseContext } from '@meup/protocol'
import {
  ProtocolError as McpError,
  type McpServer,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
} from '@modelcontextprotocol/server'
import type { SpaceService } from './service.js'
import { formatError } from './tool.js'

type Values = Readonly<Record<string, string | string[]>>

const [json, markdown, plain] = ['application/json', 'text/markdown', 'text/plain']

/** Adds the readable resources of a space. They are read with the rights of its participant. */
export function addResources(server: McpServer, { uris, http }: SpaceService): void {
  const { templates } = uris
  /** `read` returns Markdown or text, or a value that becomes JSON. */
  const add = (
    id: string,
    uri: string,
    mimeType: string,
    [title, description]: readonly [string, string],
    read: (value: (name: string) => string) => Promise<unknown>,
  ): void => {
    const info = { title, description, mimeType }
    const respond = (address: URL, values: Values = {}) =>
      toContents(address, mimeType, () => read((key) => String(values[key])))
    if (!uri.includes('{')) server.registerResource(id, uri, info, (address) => respond(address))
    else server.registerResource(id, new ResourceTemplate(uri, { list: undefined }), info, respond)
  }
  add('transcript', uris.transcript, json, ['Transcript', 'The main conversation, oldest first.'], () =>
    readTranscript(http),
  )
  add('contexts', uris.contexts, json, ['Contexts', 'The tree of contexts, oldest first.'], () =>
    readContexts(http),
  )
  add('audit', uris.audit, markdown, ['Audit', 'The latest turns of agents, step by step.'], () =>
    readMarkdown(http, { limit: latestTurns }),
  )
  const context = ['One context', 'Thoughts and actions in one context and below it.'] as const
  add('context', templates.context, json, context, (value) => readContext(http, value('path')))
  const audit = ['Audit of one turn', 'One turn of an agent, step by step.'] as const
  add('turn-audit', templates.audit, markdown, audit, (value) =>
    readMarkdown(http, { thread: value('agent'), turn: value('turn') }),
  )
  const latest = 'Why an agent used its tools in its latest completed turn.'
  add('latest-reasoning', templates.latest, plain, ['Reasoning of the latest turn', latest], (value) =>
    readReasoning(http, value('agent')),
  )
  const numbered = ['Reasoning of one turn', 'Why an agent used its tools in one of its turns.'] as const
  add('turn-reasoning', templates.turn, plain, numbered, (value) =>
    readReasoning(http, value('agent'), value('turn')),
  )
}

async function toContents({ href }: URL, mimeType: string, read: () => Promise<unknown>) {
  try {
    const value = await read()
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
    return { contents: [{ uri: href, mimeType, text }] }
  } catch (error) {
    if (error instanceof ProtocolError && error.code === 'not_found') {
      throw new ResourceNotFoundError(href, formatError(error))
    }
    const isKnown = error instanceof ProtocolError || error instanceof ConnectionError
    if (isKnown) throw new McpError(ProtocolErrorCode.InternalError, formatError(error))
    throw error
  }
}

/** Envelopes, steps or contexts in one resource; the most that a gateway returns at once. */
const maxItems = 1000
/** Latest turns that are searched for an answered one. */
const maxTurnsSearched = 100
/** Turns in the audit resource. */
const latestTurns = 20

interface Page<Item> {
  readonly items: readonly Item[]
  /** Whether these are all items, or the latest ones. */
  readonly isWhole: boolean
}

/** The main conversation, oldest first. */
async function readTranscript(http: HttpClient): Promise<Page<Message>> {
  const kind = [Kind.chat, Kind.chatAcknowledge, Kind.chatCancel]
  const { items, isWhole } = await readLatest(http, { kind })
  const transcript = createTranscript()
  for (const envelope of items) transcript.apply(envelope as Envelope)
  return { items: transcript.messages(), isWhole }
}

/** The tree of contexts, oldest first, as the gateway returns it. */
async function readContexts(http: HttpClient): Promise<Page<unknown>> {
  const { contexts } = await http.readContexts()
  return { items: contexts.slice(-maxItems), isWhole: contexts.length <= maxItems }
}

/** One context with its nested contexts and envelopes. Rejects with `not_found`. */
async function readContext(http: HttpClient, path: string): Promise<object> {
  if (parseContext(path, anyContext) === undefined) {
    throw new ProtocolError('not_found', `${path} is no context, such as run or run/step`)
  }
  const context = await http.readContext(path)
  const { items: envelopes, isWhole } = await readLatest(http, { context: path })
  return { ...context, envelopes, isWhole }
}

async function readLatest(http: HttpClient, query: LogQuery): Promise<Page<AnyEnvelope>> {
  const { envelopes, next } = await http.readLogPage({ ...query, order: 'desc', limit: maxItems })
  return { items: envelopes.toReversed(), isWhole: next === undefined }
}

/** The audit of the latest turns, or of one. Rejects with `not_found`. */
const readMarkdown = async (http: HttpClient, part: ExportQuery): Promise<string> =>
  text(await http.openExport({ format: 'markdown', ...part }))

/** Why an agent used its tools in its latest completed turn, or in a numbered one. Rejects with `not_found`. */
async function readReasoning(http: HttpClient, agent: string, turn?: string): Promise<string> {
  if (turn !== undefined && !/^[1-9]\d{0,8}$/.test(turn)) {
    throw new ProtocolError('invalid_request', `turns are numbered from 1; ${turn} is no such number`)
  }
  const part = turn === undefined ? { limit: 10 } : { before: Number(turn) + 1, limit: 1 }
  const { turns } = await http.readTurnPage(agent, part)
  if (turn !== undefined && turns.every(({ turn_number }) => turn_number !== Number(turn))) {
    throw new ProtocolError('not_found', `there is no turn ${turn} of ${agent} that you may read`)
  }
  return reasoningCommand(turn ?? '', { turns, isActive: false }).join('\n')
}

/** The number of the turn that ended with an agent's answer; `undefined` = none of the latest. */
export async function turnEndedAt(http: HttpClient, agent: string, ts: string): Promise<number | undefined> {
  const { turns } = await http.readTurnPage(agent, { limit: maxTurnsSearched })
  return turns.findLast(({ completed_at }) => completed_at === ts)?.turn_number
}
