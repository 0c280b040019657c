import { type AnyEnvelope, ConnectionError } from '@meup/agent-sdk'
import { createTranscript, type Message, reasoningCommand, type TurnInfo } from '@meup/folds'
import { anyContext, type Envelope, Kind, ProtocolError, parseContext } from '@meup/protocol'
import {
  ProtocolError as McpError,
  type McpServer,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
} from '@modelcontextprotocol/server'
import type { Query, SpaceReading, SpaceService } from './service.js'
import { formatError } from './tool.js'

type Values = Readonly<Record<string, string | string[]>>

const [json, markdown, plain] = ['application/json', 'text/markdown', 'text/plain']

/** Adds the readable resources of a space. They are read with the rights of its participant. */
export function addResources(server: McpServer, { space, reading, uris }: SpaceService): void {
  const name = space.welcome.space.id
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
    readTranscript(reading),
  )
  add('contexts', uris.contexts, json, ['Contexts', 'The tree of contexts, oldest first.'], () =>
    readContexts(reading),
  )
  add('audit', uris.audit, markdown, ['Audit', 'The latest turns of agents, step by step.'], () =>
    readAudit(reading),
  )
  const context = ['One context', 'Thoughts and actions in one context and below it.'] as const
  add('context', templates.context, json, context, (value) => readContext(reading, value('path')))
  const audit = ['Audit of one turn', 'One turn of an agent, step by step.'] as const
  add('turn-audit', templates.audit, markdown, audit, (value) =>
    readTurnAudit(reading, name, value('agent'), value('turn')),
  )
  const latest = 'Why an agent used its tools in its latest completed turn.'
  add('latest-reasoning', templates.latest, plain, ['Reasoning of the latest turn', latest], (value) =>
    readReasoning(reading, name, value('agent')),
  )
  const numbered = ['Reasoning of one turn', 'Why an agent used its tools in one of its turns.'] as const
  add('turn-reasoning', templates.turn, plain, numbered, (value) =>
    readReasoning(reading, name, value('agent'), value('turn')),
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

const getThreadId = (space: string, agent: string): string => `${space}/${agent}`

/** The main conversation, oldest first. */
async function readTranscript(reading: SpaceReading): Promise<Page<Message>> {
  const kind = [Kind.chat, Kind.chatAcknowledge, Kind.chatCancel].join()
  const { items, isWhole } = await readLatest(reading, { kind })
  const transcript = createTranscript()
  for (const envelope of items) transcript.apply(envelope as Envelope)
  return { items: transcript.messages(), isWhole }
}

/** The tree of contexts, oldest first, as the gateway tells it. */
async function readContexts(reading: SpaceReading): Promise<Page<unknown>> {
  const { contexts } = await reading.json<{ contexts: unknown[] }>('contexts', {})
  return { items: contexts.slice(-maxItems), isWhole: contexts.length <= maxItems }
}

/** One context with its nested contexts and envelopes. Rejects with `not_found`. */
async function readContext(reading: SpaceReading, path: string): Promise<object> {
  if (parseContext(path, anyContext) === undefined) {
    throw new ProtocolError('not_found', `${path} is no context, such as run or run/step`)
  }
  const context = await reading.json<object>(`contexts/${path}`, {})
  const { items: envelopes, isWhole } = await readLatest(reading, { context: path })
  return { ...context, envelopes, isWhole }
}

async function readLatest(reading: SpaceReading, query: Query): Promise<Page<AnyEnvelope>> {
  const { envelopes, has_more } = await reading.json<{ envelopes: AnyEnvelope[]; has_more: boolean }>(
    'envelopes',
    { ...query, order: 'desc', limit: `${maxItems}` },
  )
  return { items: envelopes.toReversed(), isWhole: !has_more }
}

/** The audit of the latest turns, Markdown. */
const readAudit = (reading: SpaceReading): Promise<string> =>
  reading.text('audit/export', { format: 'markdown', limit: `${latestTurns}` })

/** The audit of one turn. Rejects with `not_found`. */
const readTurnAudit = (reading: SpaceReading, space: string, agent: string, turn: string): Promise<string> =>
  reading.text('audit/export', { format: 'markdown', thread_id: getThreadId(space, agent), turn })

/** Why an agent used its tools in its latest completed turn, or in a numbered one. Rejects with `not_found`. */
async function readReasoning(
  reading: SpaceReading,
  space: string,
  agent: string,
  turn?: string,
): Promise<string> {
  if (turn !== undefined && !/^[1-9]\d{0,8}$/.test(turn)) {
    throw new ProtocolError('invalid_request', `turns are numbered from 1; ${turn} is no such number`)
  }
  const part = turn === undefined ? { limit: '10' } : { before: `${Number(turn) + 1}`, limit: '1' }
  const turns = await readTurns(reading, getThreadId(space, agent), part)
  if (turn !== undefined && turns.every(({ turn_number }) => turn_number !== Number(turn))) {
    throw new ProtocolError('not_found', `there is no turn ${turn} of ${agent} that you may read`)
  }
  return reasoningCommand(turn ?? '', { turns, isActive: false }).join('\n')
}

/** The number of the turn that ended with an agent's answer; `undefined` = none of the latest. */
export async function turnEndedAt(
  reading: SpaceReading,
  space: string,
  agent: string,
  ts: string,
): Promise<number | undefined> {
  const turns = await readTurns(reading, getThreadId(space, agent), { limit: `${maxTurnsSearched}` })
  return turns.findLast(({ completed_at }) => completed_at === ts)?.turn_number
}

async function readTurns(reading: SpaceReading, thread: string, part: Query): Promise<readonly TurnInfo[]> {
  const { turns } = await reading.json<{ turns: TurnInfo[] }>('turns', { thread_id: thread, ...part })
  return turns
}
