import type { TurnInfo } from '@meup/folds'
import { type LogStore, memoryStore, sqliteStore } from '@meup/gateway'
import type { Capability } from '@meup/protocol'
import type { Sent } from './client.js'
import { asking } from './http-client.js'
import { type Running, type StartOptions, start, temporaryFile } from './support.js'

const agent: Capability[] = ['chat', 'reasoning.*', 'mcp.*', 'observe.visibility']
/**
 * Ana asks, ben and cleo work, tool answers calls. Stranger and auditor only read; auditor also what is addressed to others.
 */
const participants: Record<string, Capability[]> = {
  ana: ['*'],
  ben: agent,
  cleo: agent,
  tool: ['mcp.*'],
  stranger: ['chat'],
  auditor: ['observe.targeted'],
}

export const chat = (id: string, message: string, more: Sent = {}): Sent => ({
  id,
  kind: 'chat',
  payload: { message },
  ...more,
})
export const begin = (id: string, cause: string | undefined, message: string, more: Sent = {}): Sent => ({
  id,
  kind: 'reasoning.start',
  ...(cause !== undefined && { correlationId: cause }),
  payload: { message },
  ...more,
})
/** Fields that make a run public, even if its trigger is private. */
export const inPublic = (message: string): Sent => ({ payload: { message, public: true } })
export const thought = (context: string, message: string, more: Sent = {}): Sent => ({
  kind: 'reasoning.thought',
  context,
  payload: { message },
  ...more,
})
export const conclude = (context: string): Sent => ({ kind: 'reasoning.conclusion', context, payload: {} })

/** A call of a tool that is part of a run. */
export const call = (id: string, context: string, name: string, why: string, more: Sent = {}): Sent => ({
  id,
  kind: 'mcp.request',
  to: ['tool'],
  context,
  rationale: why,
  payload: { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: { query: name } } },
  ...more,
})
export const result = (id: string | string[], text = 'done', more: Sent = {}): Sent => ({
  kind: 'mcp.response',
  to: ['ben'],
  correlationId: id,
  payload: { jsonrpc: '2.0', id: String(id), result: { content: [{ type: 'text', text }] } },
  ...more,
})

export const stores = {
  memory: async (): Promise<LogStore> => memoryStore(),
  SQLite: (): Promise<LogStore> => sqliteStore({ path: temporaryFile('log.db') }),
}

/** A gateway with functions to post envelopes and send requests. `say` takes lines of a sender and its envelopes. */
export async function stage(options: Partial<StartOptions> = {}) {
  const running = await start({ participants, ...options })
  return { ...running, say: sayIn(running), as: (reader: string) => asking(running.url, reader) }
}

export const sayIn =
  ({ post }: Pick<Running, 'post'>) =>
  async (...lines: readonly (readonly [who: string, ...what: Sent[]])[]): Promise<number> => {
    let seq = 0
    for (const [who, ...what] of lines) {
      const { status, body } = await post(who, what)
      if (status !== 201) throw new Error(`${who} was refused: ${JSON.stringify(body)}`)
      seq = (body as { seq: number }[]).at(-1)?.seq ?? seq
    }
    return seq
  }

/** A turn of ben with two calls, one after the other. */
export const twoCalls = (name: string): [who: string, ...what: Sent[]][] => [
  ['ana', chat(`${name}-ask`, `please do ${name}`)],
  [
    'ben',
    begin(`${name}-run`, `${name}-ask`, `how to do ${name}`),
    thought(`${name}-run`, `first look, then ${name}`),
  ],
  ['ben', call(`${name}-1`, `${name}-run`, 'look', `to know ${name}`)],
  ['tool', result(`${name}-1`, 'seen')],
  ['ben', thought(`${name}-run`, 'now'), call(`${name}-2`, `${name}-run`, 'act', `to do ${name}`)],
  ['tool', result(`${name}-2`, 'acted')],
  ['ben', conclude(`${name}-run`), chat(`${name}-done`, `${name} is done`, { correlationId: `${name}-ask` })],
]

export interface TurnPage {
  readonly thread_id: string
  readonly turns: readonly TurnInfo[]
  readonly has_more: boolean
  readonly next?: number
}

/** Ben's turns, as `reader` may see them. */
export const createTurns = async (
  { as }: { as(reader: string): ReturnType<typeof asking> },
  reader: string,
  query = '',
): Promise<TurnPage> => (await as(reader).json(`/turns?thread_id=test/ben${query}`)) as TurnPage
