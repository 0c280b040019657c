import { copyFileSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type EnvelopeLog, type LogStore, memoryStore, sqliteStore } from '@meup/gateway'
import { createTestDraft, FakeClock, randomDrafts, testSpaceConfig } from '@meup/gateway/testing'
import { type Envelope, GATEWAY, Kind } from '@meup/protocol'
import Database from 'better-sqlite3'
import { ParsedRows } from '../src/core/parsed-rows.js'
import type { Space } from '../src/core/space.js'
import { configurationRecord } from '../src/host/space-host.js'
import { IndexFile } from '../src/index/index-file.js'
import { Indexer } from '../src/index/indexer.js'
import { silent } from '../src/ports/logger.js'
import type { Sent } from './client.js'
import type { Stand } from './notifications.js'
import { standOn } from './stand.js'
import { temporaryFile } from './support.js'

export const participants = { ana: ['*'], ben: ['*'], cleo: ['*'], dora: ['*'] }
const agents = ['ana', 'ben', 'cleo']

export type Fields = Pick<Envelope, 'from' | 'kind'> & Partial<Envelope>

/** The configuration record of the test space: with it in the log, a starting gateway does not add one. */
export const configured: Fields = {
  id: 'configured',
  ts: '2026-02-21T00:00:00.000Z',
  from: GATEWAY,
  kind: Kind.systemSpace,
  payload: { event: 'configured', ...configurationRecord(testSpaceConfig({ participants })) },
}

/**
 * Envelopes of a random log, in which proposals expire, calls are cancelled by their JSON-RPC ids, and many envelopes are in
 * free paths (context paths that no start has opened).
 */
export function randomFields(seed: number, length: number): Fields[] {
  const fields = randomDrafts(seed, length).map(({ body }) => {
    const { protocol: _, ...rest } = JSON.parse(Buffer.from(body).toString()) as Envelope
    return rest
  })
  return fields.map((each, at): Fields => {
    const { kind, payload, ts, to, context } = each
    const turn = (at * 7 + seed) % 5
    if (kind === Kind.mcpProposal && turn < 3) {
      const expiresAt = new Date(Date.parse(ts) + (1 + turn) * 3000).toISOString()
      return { ...each, payload: { ...payload, expiresAt } }
    }
    if (kind === Kind.mcpRequest && to === undefined && turn < 2) {
      const asked = fields.slice(Math.max(0, at - 8), at).find((one) => one.kind === Kind.mcpRequest)
      const params = { requestId: turn === 0 ? asked?.id : 'rpc', reason: 'too slow' }
      return { ...each, payload: { method: 'notifications/cancelled', params } }
    }
    if (kind === Kind.mcpRequest && turn === 3) return { ...each, payload: { ...payload, id: 'rpc' } }
    return context !== undefined && turn === 4 ? { ...each, context: `free${seed % 3}/x` } : each
  })
}

/** Converts a story, lines of a sender and envelopes, to the envelopes of its log. */
export const fieldsOf = (story: readonly (readonly [who: string, ...what: Sent[]])[]): Fields[] =>
  story.flatMap(([from, ...what]) =>
    what.map(({ kind = Kind.chat, ...fields }) => ({ from, kind, ...fields }) as Fields),
  )

export async function fill(store: LogStore, log: readonly Fields[]): Promise<EnvelopeLog> {
  const opened = await store.open('test')
  await opened.append([configured, ...log].map((fields, index) => createTestDraft(index + 1, fields)))
  return opened
}

/** Writes a log to disk without an index; returns its path. */
export async function logged(log: readonly Fields[]): Promise<string> {
  const path = temporaryFile('log.db')
  const store = await sqliteStore({ path })
  await fill(store, log)
  await store.close()
  return path
}

/** Copies a log without its index; returns the path. */
export function copied(path: string): string {
  const copy = temporaryFile('log.db')
  copyFileSync(path, copy)
  return copy
}

export const indexPathOf = (path: string): string => `${path}.index.db`

/** Functions that build an index in a file. */
export interface Building {
  /** Indexes the log up to this seq. */
  through(seq: number): Promise<void>
  /** Closes the index: `saved` = with its state, as at a stop; `lost` = without, as after a crash. */
  end(how: 'saved' | 'lost'): void
  /** Prunes the index up to this seq, up to which the log was pruned. */
  pruned(seq: number): Promise<void>
}

/** An indexer without a gateway, which reads `portion` rows at once. */
export function building(
  log: EnvelopeLog,
  path = temporaryFile('index.db'),
  portion = 256,
): Building & { file: IndexFile } {
  const file = new IndexFile(path)
  const read: EnvelopeLog['read'] = (query) =>
    log.read({ ...query, limit: Math.min(query.limit ?? portion, portion) })
  const clock = new FakeClock()
  const space = {
    clock,
    config: { name: 'test' },
    logger: silent,
    log: {
      epoch: log.epoch,
      get head() {
        return log.head
      },
      get oldest() {
        return log.oldest
      },
      get snapshot() {
        return log.snapshot
      },
      read,
    },
    parsed: new ParsedRows({ log, wasErased: () => false }),
    delivered: 0,
  }
  const indexer = new Indexer(space as unknown as Space, file)
  return {
    file,
    async through(seq) {
      space.delivered = seq
      await indexer.reach(seq)
    },
    async pruned(seq) {
      indexer.prune(seq)
      const db = file.open()
      const left = db.prepare('SELECT count(*) FROM marks WHERE seq <= ?').pluck()
      for (let goes = 0; goes < 100; goes++) {
        clock.advance(1000)
        await nextTurn()
      }
      if (left.get(seq) !== 0) throw new Error('the index is not pruned')
    },
    end(how) {
      if (how === 'saved') indexer.close()
      file.close()
    },
  }
}

/** Builds the whole index of a log on disk, and saves it. */
export async function built(path: string, index = indexPathOf(path)): Promise<void> {
  const store = await sqliteStore({ path })
  const log = await store.open('test')
  const { through, end } = building(log, index)
  await through(log.head)
  end('saved')
  await store.close()
}

/** All rows of an index of the space `test`. */
export function rowsOf(index: string): Record<string, unknown[]> {
  const db = new Database(index)
  try {
    return rowsIn(db)
  } finally {
    db.close()
  }
}

function rowsIn(db: Database.Database): Record<string, unknown[]> {
  const of = (columns: string, table: string, order: string) =>
    db
      .prepare(`SELECT ${columns} FROM ${table} JOIN spaces ON spaces.id = space ORDER BY ${order}`)
      .raw()
      .all()
  return {
    turns: of('turn, turns.id, agent, number, job, source, trigger, turns.seq, started', 'turns', 'turn'),
    marks: of(
      'marks.seq, place, turn, roles, at, step, steps, phases, start',
      'marks',
      'space, marks.seq, place',
    ),
  }
}

/** All responses about the turns of a log: pages of turns and of the audit, the Markdown export, and events. */
export async function everythingOfTurns(stand: Stand, reader = 'dora'): Promise<[string, unknown][]> {
  const { get } = stand
  const received: [string, unknown][] = []
  const page = async (path: string): Promise<void> => {
    const texts: string[] = []
    for (let place = ''; ; ) {
      const text = await (await get(reader, `${path}${place}`)).text()
      texts.push(text)
      const { next } = JSON.parse(text) as { next?: number }
      if (next === undefined) break
      place = `&before=${next}`
    }
    received.push([path, texts])
  }
  for (const agent of agents) await page(`/turns?limit=3&thread_id=test/${agent}`)
  for (const query of ['limit=7', 'limit=1000', 'phase=error', 'from=ben', 'thread_id=test/ana'])
    await page(`/audit?${query}`)
  const export_ = await get(reader, '/audit/export?format=markdown')
  received.push(['export', [export_.status, await export_.text()]])
  received.push(['events', await eventsOf(stand, reader, { 'last-event-id': '0' })])
  return received
}

/** The events of a stream as text, up to a chat that is sent once the stream is open. */
async function eventsOf(stand: Stand, reader: string, headers: Record<string, string>): Promise<string[]> {
  const { get, gateway } = stand
  const response = await get(reader, '/events', headers)
  const visitor = await gateway.identify({ space: 'test', token: 'token-of-dora', remote: 'here' })
  if ('message' in visitor) throw new Error(visitor.message)
  const nobody = { participant: 'dora', rateLimitKey: 'dora', reply() {}, echo() {}, subscribe: () => 0 }
  const frame = { id: 'streamed', kind: 'chat', payload: { message: 'mark' } }
  visitor.space.submit(nobody, Buffer.from(JSON.stringify(frame)))
  await visitor.space.settled()
  const stream = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes('"id":"streamed"')) {
    const { done, value = '' } = (await stream?.read()) ?? { done: true }
    if (done) throw new Error(`the stream ended: ${text}`)
    text += value
  }
  await stream?.cancel()
  const blocks = text.split('\n\n').filter((block) => block.startsWith('event: '))
  // Presence envelopes of the gateway have other ids in each run, so these ids are left out.
  return blocks
    .filter((block) => !block.includes('"id":"streamed"'))
    .map((block) => block.replace(/"id":"[\w-]{21}",(?="kind":"system.presence")/, ''))
}

/** A gateway on the log at `path`, until the end of the test. */
export async function gatewayOn(path: string, options: object = {}): Promise<Stand> {
  return standOn(await sqliteStore({ path }), { participants, ...options })
}

/** Replaces the epoch and generated ids, which differ between logs, by names in the order of their occurrence. */
export function withoutNames(value: unknown, epoch: string): unknown {
  const known = new Map<string, string>()
  const text = JSON.stringify(value).replaceAll(epoch, 'EPOCH')
  const named = text.replace(/\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b/g, (id) => {
    const name = known.get(id) ?? `ULID${known.size}`
    known.set(id, name)
    return name
  })
  return JSON.parse(named)
}

/** Writes a log to a store, and returns the rows of its index and all responses about turns, without generated names. */
export async function indexedIn(store: LogStore, log: readonly Fields[]) {
  const opened = await fill(store, log)
  const { file, through } = building(opened)
  await through(opened.head)
  const rows = rowsIn(file.open())
  const received = await everythingOfTurns(await standOn(store, { participants }))
  return { rows: withoutNames(rows, opened.epoch), received: withoutNames(received, opened.epoch) }
}

export const inMemory = (log: readonly Fields[]) => indexedIn(memoryStore(), log)
