import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  createRow,
  type EnvelopeLog,
  type LogStore,
  memoryStore,
  openReplicaFile,
  sealDraft,
  sqliteStore,
  toFields,
} from '@meup/gateway'
import { FakeClock } from '@meup/gateway/testing'
import type { Envelope } from '@meup/protocol'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test } from 'vitest'
import { replayLog } from '../src/core/replay.js'
import { IndexFile } from '../src/index/index-file.js'
import { byId, seqs as seqsOf } from './client.js'
import { erasable, erase, needle, participants, proposed, tellEverything, viewsOf } from './erasing.js'
import { asking, openEvents } from './http-client.js'
import { start, temporaryFile } from './support.js'

const isRecord = ({ kind, payload }: Envelope): boolean =>
  kind === 'system.space' && payload.event === 'erased'
const reason = 'a password'

const stores: [string, () => Promise<LogStore>][] = [
  ['memory', async () => memoryStore()],
  ['sqlite', () => sqliteStore({ path: temporaryFile('log.db') })],
]

describe.each(stores)('what is erased of a %s log', (_, open) => {
  test('is in no view and on no stream any more, whoever asks, and its record says by whom and why', async () => {
    const { url, connect, ana, ben, tool, erase } = await erasable({ store: await open() })
    const { seqs } = await tellEverything({ ana, ben, tool })
    const before = await viewsOf(url)
    expect(Object.values(before).filter((text) => text.includes(needle)).length).toBeGreaterThan(12)
    for (const seq of seqs) {
      const { status, body } = await erase({ seq, reason })
      expect({ status, body }).toEqual({
        status: 201,
        body: { seq, recordedAt: expect.any(Number), removed: true },
      })
    }
    const record = await ana.next((frame) => isRecord(frame) && frame.payload.seq === seqs.at(-1))
    expect(record).toMatchObject({ from: 'system:gateway', payload: { id: 'clear', by: 'eve', reason } })
    for (const participant of ['eve', 'ana', 'ben']) {
      for (const [path, text] of Object.entries(await viewsOf(url, participant)))
        expect(text, `${path} of ${participant}`).not.toContain(needle)
    }
    await ana.accepted({ id: 'mark', kind: 'chat', payload: { message: 'mark' } })
    for (const query of ['after=0', 'tail=100']) {
      const reader = await connect('ben', { query })
      const frames = await reader.until(byId('mark'))
      expect(seqsOf(frames).filter((seq) => seqs.includes(seq))).toEqual([])
      expect(JSON.stringify(reader.frames)).not.toContain(needle)
    }
    const events = await openEvents(`${url}/spaces/test/events?after=0`, {
      authorization: 'Bearer token-of-eve',
    })
    expect(JSON.stringify(await events.until(({ data }) => data.includes('"mark"')))).not.toContain(needle)
  })

  test('leaves the numbers of turns, and what others may read, as they were', async () => {
    const { url, ana, ben, tool, erase } = await erasable({ store: await open() })
    const { seqs } = await tellEverything({ ana, ben, tool })
    const turns = async () => {
      const answer = (await asking(url, 'eve').json('/turns?thread_id=test/ben')) as {
        turns: { turn_number: number; user_input: string | null; response: string | null }[]
      }
      return answer.turns.map(({ turn_number, user_input, response }) => ({
        turn_number,
        user_input,
        response,
      }))
    }
    const [first, second] = await turns()
    expect([first?.user_input, first?.response]).toEqual([`so ${needle} it is`, `so ${needle} it is`])
    await erase({ seq: seqs[0], reason })
    expect(await turns()).toEqual([{ ...first, user_input: null }, second])
    await erase({ seq: seqs[10], reason })
    expect(await turns()).toEqual([{ turn_number: 1, user_input: null, response: null }, second])
  })

  test('verifies as a whole, and the verification names it', async () => {
    const { url, ana, ben, tool, erase } = await erasable({ store: await open() })
    const { seqs } = await tellEverything({ ana, ben, tool })
    const { json } = asking(url, 'eve')
    const before = (await json('/audit/verify')) as { head: number; hash: string }
    for (const seq of seqs.slice(0, 2)) await erase({ seq, reason })
    const after = (await json('/audit/verify')) as { ok: boolean; erased: unknown }
    expect(after).toMatchObject({ ok: true })
    expect(after.erased).toEqual([
      { seq: seqs[0], id: 'q1', by: 'eve', reason },
      { seq: seqs[1], id: 'ack', by: 'eve', reason },
    ])
    const log = await asking(url, 'eve').get(`/audit/export?after=${before.head}`)
    expect(await log.text()).toContain(`"previous":"${before.hash}"`)
  })

  test('is a duplicate where its sender sends it again', async () => {
    const { ana, ben, tool, erase } = await erasable({ store: await open() })
    const { seqs, sent } = await tellEverything({ ana, ben, tool })
    await erase({ seq: seqs[0], reason })
    expect(await ana.refused(sent[0] ?? {})).toMatchObject({ code: 'duplicate_id' })
    expect(await ben.refused({ ...sent[0], to: ['ana'] })).toMatchObject({ code: 'duplicate_id' })
  })

  test('a proposal is closed with it; a request is still answered, a context still open', async () => {
    const { connect, ana, ben, tool, erase } = await erasable({ store: await open() })
    const proposal = await ben.accepted({ id: 'p', kind: 'mcp.proposal', to: ['tool'], payload: proposed })
    const run = await ben.accepted({ id: 'run', kind: 'reasoning.start', payload: { message: needle } })
    const call = await ben.accepted({ id: 'c', kind: 'mcp.request', to: ['tool'], payload: proposed })
    for (const { seq } of [proposal, run, call]) await erase({ seq, reason })
    const gone = { code: 'proposal_not_found' }
    expect(
      await ana.refused({ kind: 'mcp.request', to: ['tool'], correlationId: 'p', payload: proposed }),
    ).toMatchObject(gone)
    const { welcome } = await connect('ana')
    expect(welcome.proposals).toEqual([])
    expect(welcome.contexts).toMatchObject([{ context: 'run', owner: 'ben', state: 'open' }])
    await tool.accepted({ kind: 'mcp.response', to: ['ben'], correlationId: 'c', payload: { result: {} } })
    await ben.accepted({ kind: 'reasoning.conclusion', context: 'run' })
  })

  test('leaves the state that the log adds up to as it was', async () => {
    const store = await open()
    const { gateway, ana, ben, tool, erase } = await erasable({ store })
    const { seqs } = await tellEverything({ ana, ben, tool })
    for (const seq of seqs) await erase({ seq, reason })
    const visitor = await gateway.identify({ space: 'test', token: 'token-of-eve', remote: 'here' })
    if (!('space' in visitor)) throw new Error('eve is not let in')
    const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()
    const live = text(visitor.space.state.toSnapshot())
    expect(live).not.toContain(needle)
    expect(text((await replayLog(await store.open('test'))).toSnapshot())).toBe(live)
  })
})

describe('to erase', () => {
  test.each([
    ['takes the capability itself: no glob gives it', 'ana', {}, 403, 'capability_violation'],
    ['takes a reason', 'eve', { reason: ' ' }, 400, 'invalid_request'],
    ['takes a short reason', 'eve', { reason: 'x'.repeat(513) }, 400, 'invalid_request'],
    ['takes a seq', 'eve', { seq: 'q1' }, 400, 'invalid_request'],
    ['takes the seq of an envelope', 'eve', { seq: 999 }, 404, 'not_found'],
    ['takes no event of the space', 'eve', { seq: 1 }, 400, 'invalid_request'],
    ['takes no presence', 'eve', { seq: 2 }, 400, 'invalid_request'],
  ])('%s', async (_, by, body, status, code) => {
    const { ana, erase } = await erasable()
    const { seq } = await ana.accepted({ kind: 'chat', payload: { message: needle } })
    expect(await erase({ seq, reason, ...body }, by)).toMatchObject({ status, body: { code } })
    expect(ana.frames.some(isRecord)).toBe(false)
  })

  test('twice is not possible', async () => {
    const { ana, erase } = await erasable()
    const { seq } = await ana.accepted({ kind: 'chat', payload: { message: needle } })
    expect(await erase({ seq, reason })).toMatchObject({ status: 201 })
    expect(await erase({ seq, reason })).toMatchObject({ status: 404, body: { code: 'not_found' } })
  })

  test('twice is not possible at the same time either', async () => {
    const { ana, erase } = await erasable()
    const { seq } = await ana.accepted({ kind: 'chat', payload: { message: needle } })
    const answers = await Promise.all([1, 2, 3].map(() => erase({ seq, reason })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 404, 404])
    await ana.accepted({ kind: 'chat', payload: { message: 'mark' } })
    expect(ana.frames.filter(isRecord)).toHaveLength(1)
  })

  test('is not possible while one is paused', async () => {
    const { ana, erase } = await erasable()
    const { seq } = await ana.accepted({ kind: 'chat', payload: { message: needle } })
    await ana.accepted({ kind: 'participant.pause', to: ['eve'] })
    expect(await erase({ seq, reason })).toMatchObject({ body: { code: 'participant_paused' } })
    await ana.accepted({ kind: 'participant.resume', to: ['eve'] })
    expect(await erase({ seq, reason })).toMatchObject({ status: 201 })
  })

  test('is recorded where it was denied, and guarded in its reason', async () => {
    const { connect, ana, erase } = await erasable()
    const eve = await connect('eve')
    const { seq } = await ana.accepted({ kind: 'chat', payload: { message: needle } })
    await erase({ seq, reason }, 'ben')
    const denied = await eve.next(({ kind }) => kind === 'system.decision')
    expect(denied.payload).toMatchObject({ reasonCode: 'capability_violation', attemptedKind: 'space.erase' })
    const secret = `ghp_${'a1B2'.repeat(9)}`
    await erase({ seq, reason: `it had ${secret}` })
    const record = await ana.next(isRecord)
    expect(record.payload.reason).toMatch(/^it had \[redacted:/)
  })

  test('costs what control costs', async () => {
    const rates = { control: { perSecond: 0.001, burst: 2 } }
    const { ana, erase } = await erasable({ limits: { rates } })
    const { seq } = await ana.accepted({ kind: 'chat', payload: { message: needle } })
    for (const status of [201, 404, 429]) expect(await erase({ seq, reason })).toMatchObject({ status })
  })
})

const bytesOf = (path: string, file: string): string => readFileSync(join(dirname(path), file), 'latin1')

/** All bytes of the files of a log. */
const bytesBeside = (path: string): string =>
  readdirSync(dirname(path))
    .map((file) => bytesOf(path, file))
    .join()

describe('the files of a space', () => {
  test.each(['process', 'power'] as const)(
    'have nothing of what was erased, while the gateway runs and after a restart (durability %s)',
    async (durability) => {
      const path = temporaryFile('log.db')
      const first = await erasable({ store: await sqliteStore({ path, durability }) })
      const { seqs } = await tellEverything(first)
      const large = `${needle} `.repeat(4000)
      seqs.push((await first.ana.accepted({ kind: 'chat', payload: { message: large } })).seq)
      await viewsOf(first.url)
      await first.close() // Saves the memory of the index, which contains the needle.
      const running = await erasable({ store: await sqliteStore({ path, durability }) })
      await viewsOf(running.url)
      const files = () => readdirSync(dirname(path)).filter((file) => bytesOf(path, file).includes(needle))
      expect(files().sort()).toEqual(['log.db', 'log.db.index.db'])
      for (const seq of seqs) expect((await running.erase({ seq, reason })).body.removed).toBe(true)
      expect(files()).toEqual([])
      await running.close()
      expect(files()).toEqual([])
      const again = await erasable({ store: await sqliteStore({ path, durability }) })
      expect(await asking(again.url, 'eve').json('/audit/verify')).toMatchObject({ ok: true })
      expect(files()).toEqual([])
    },
  )

  test('give the same turns, steps and contexts where the index and the checkpoint are gone', async () => {
    const path = temporaryFile('log.db')
    const first = await erasable({ store: await sqliteStore({ path }) })
    const { seqs } = await tellEverything(first)
    for (const seq of seqs) await first.erase({ seq, reason })
    await Promise.all([first.ana, first.ben, first.tool].map((client) => client.close()))
    const views = async ({ url }: { url: string }) => {
      const { '/participants': _, ...all } = await viewsOf(url)
      return Object.fromEntries(Object.entries(all).filter(([view]) => !view.startsWith('/envelopes')))
    }
    const before = await views(first)
    await first.close()
    const db = new Database(path)
    db.exec('DELETE FROM checkpoints')
    db.close()
    for (const end of ['', '-wal', '-shm']) rmSync(`${path}.index.db${end}`, { force: true })
    const again = await start({ participants, store: await sqliteStore({ path }) })
    expect(await views(again)).toEqual(before)
  })

  test('give turns the same numbers where a question about a call was erased, and the index is gone', async () => {
    const path = temporaryFile('log.db')
    const { ana, ben, tool, ...first } = await erasable({ store: await sqliteStore({ path }) })
    await ben.accepted({ id: 'c', kind: 'mcp.request', to: ['tool'], payload: proposed })
    const payload = { method: 'elicitation/create', params: { message: needle } }
    const question = { id: 'e', kind: 'mcp.request', to: ['ben'], correlationId: 'c', payload }
    const { seq } = await tool.accepted(question)
    const answer = { kind: 'mcp.response', payload: { result: {} } }
    await ben.accepted({ ...answer, to: ['tool'], correlationId: 'e' })
    await tool.accepted({ ...answer, to: ['ben'], correlationId: 'c' })
    await ana.accepted({ id: 'q', kind: 'chat', to: ['ben'], payload: { message: 'and now?' } })
    await ben.accepted({ kind: 'chat', correlationId: 'q', payload: { message: 'nothing' } })
    await first.erase({ seq, reason })
    const turnsOf = ({ url }: { url: string }) =>
      Promise.all(['ben', 'tool'].map((agent) => asking(url, 'eve').json(`/turns?thread_id=test/${agent}`)))
    const before = await turnsOf(first)
    await first.close()
    for (const end of ['', '-wal', '-shm']) rmSync(`${path}.index.db${end}`, { force: true })
    expect(await turnsOf(await start({ participants, store: await sqliteStore({ path }) }))).toEqual(before)
  })

  test('keep no digest of a proposal that would confirm a guess', async () => {
    const path = temporaryFile('log.db')
    const first = await erasable({ store: await sqliteStore({ path }) })
    const { seq } = await first.ben.accepted({ id: 'p', kind: 'mcp.proposal', payload: proposed })
    await first.close() // A checkpoint is kept, with the open proposal.
    const digestOf = () => /"params":"([\w+/=]{44})"/.exec(bytesBeside(path))?.[1]
    const digest = digestOf()
    expect(digest).toBeDefined()
    const again = await erasable({ store: await sqliteStore({ path }) })
    await again.erase({ seq, reason })
    expect(bytesBeside(path)).not.toContain(digest)
    await again.close()
    expect(bytesBeside(path)).not.toContain(digest)
  })
})

test('an index that a killed process has left keeps nothing in its write-ahead log', () => {
  const [path, left] = [temporaryFile('index.db'), temporaryFile('index.db')]
  const index = new IndexFile(path)
  const db = index.open()
  for (const memory of [needle, 'nothing']) db.prepare('REPLACE INTO memories VALUES (1, ?)').run(memory)
  for (const end of ['', '-wal']) copyFileSync(`${path}${end}`, `${left}${end}`)
  index.close()
  expect(bytesBeside(left).includes(needle)).toBe(true)
  const opened = new IndexFile(left)
  opened.open()
  expect(bytesBeside(left).includes(needle)).toBe(false)
  opened.close()
})

test('a replica has erased nothing while somebody reads it as it was, also when it is asked again', async () => {
  const path = temporaryFile('replica.db')
  const file = await openReplicaFile(path)
  onTestFinished(() => file.close())
  const { space, hash } = await file.openSpace('test', 'epoch')
  const body = Buffer.from(needle)
  const draft = {
    seq: 1,
    id: 'e1',
    ts: new Date(0).toISOString(),
    from: 'ana',
    kind: 'chat',
    body,
    content: body,
  }
  await file.append(space, [createRow(toFields(draft), body, sealDraft(draft, hash))])
  const reader = new Database(path, { readonly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM envelopes').get()
  const erased: string[] = []
  const attempts = ['first', 'second'].map((each) => file.erase(space, [1]).then(() => erased.push(each)))
  await file.openSpace('test', 'epoch') // Answered only after both erasures have read the row.
  expect(erased).toEqual([])
  reader.close()
  await Promise.all(attempts)
  expect(bytesBeside(path).includes(needle)).toBe(false)
})

/**
 * A store whose logs refuse to erase while `refuses` is set. After an attempt to erase, they refuse reads while `isUnreadable`
 * is set.
 */
function reluctant(inner: LogStore) {
  const fault = { refuses: true, isUnreadable: false, attempts: 0 }
  const store: LogStore = {
    async open(name) {
      const log = await inner.open(name)
      const refuse = () => Promise.reject(new Error('not now'))
      const faults: Pick<EnvelopeLog, 'erase' | 'read'> = {
        erase(seqs) {
          fault.attempts++
          return fault.refuses ? refuse() : log.erase(seqs)
        },
        read: (query) => (fault.isUnreadable && fault.attempts > 0 ? refuse() : log.read(query)),
      }
      return Object.assign(Object.create(log) as EnvelopeLog, faults)
    },
    close: () => inner.close(),
  }
  return { store, fault }
}

describe('an erasure that is cut off after its record', () => {
  test('shows nothing meanwhile, and the next start completes it', async () => {
    const spaces = new Map()
    const { store } = reluctant(memoryStore(spaces))
    const running = await erasable({ store })
    const { seq } = await running.ana.accepted({ kind: 'chat', payload: { message: needle } })
    erase(running.url, { seq, reason }).catch(() => {}) // The gateway ends before it answers.
    await running.ana.next(isRecord)
    expect(Object.values(await viewsOf(running.url)).join()).not.toContain(needle)
    await running.close()
    const kept = memoryStore(spaces)
    expect(
      String(Buffer.from((await (await kept.open('test')).read({ limit: 99 }))[seq - 1]?.body ?? [])),
    ).toContain(needle)
    const again = await erasable({ store: kept })
    const log = await kept.open('test')
    await expect.poll(async () => (await log.read({ after: seq - 1, limit: 1 }))[0]?.body.length).toBe(0)
    expect(await asking(again.url, 'eve').json('/audit/verify')).toMatchObject({ ok: true })
  })

  test('confirms to nobody what it was', async () => {
    const { store } = reluctant(memoryStore())
    const { url, ana } = await erasable({ store })
    const sent = { id: 'q', kind: 'chat', payload: { message: needle } }
    const { seq } = await ana.accepted(sent)
    erase(url, { seq, reason }).catch(() => {}) // The gateway ends before it answers.
    await ana.next(isRecord)
    expect(await ana.refused(sent)).toMatchObject({ code: 'duplicate_id' })
  })

  test('is tried again while the gateway runs', async () => {
    const { store, fault } = reluctant(memoryStore())
    const { ana, erase } = await erasable({ store })
    const { seq } = await ana.accepted({ kind: 'chat', payload: { message: needle } })
    const erased = erase({ seq, reason })
    await ana.next(isRecord)
    fault.refuses = false
    expect((await erased).body).toMatchObject({ removed: true })
  })

  test('is not said to be done before the index has done it', async () => {
    const path = temporaryFile('log.db')
    const first = await erasable({ store: await sqliteStore({ path }) })
    const { seq } = await first.ana.accepted({ kind: 'chat', payload: { message: needle } })
    await first.close()
    const { store, fault } = reluctant(await sqliteStore({ path }))
    Object.assign(fault, { refuses: false, isUnreadable: true })
    const { erase } = await erasable({ store })
    fault.attempts = 0
    let isAnswered = false
    const erased = erase({ seq, reason }).finally(() => {
      isAnswered = true
    })
    await expect.poll(() => isAnswered || fault.attempts > 2, { timeout: 9000 }).toBe(true)
    expect(isAnswered).toBe(false)
    fault.isUnreadable = false
    expect((await erased).body).toMatchObject({ removed: true })
    expect(bytesBeside(path).includes(needle)).toBe(false)
  })

  test('comes before its envelope is pruned, whose bytes nothing overwrites', async () => {
    const path = temporaryFile('log.db')
    const clock = new FakeClock()
    const first = await erasable({ clock, ...reluctant(await sqliteStore({ path })) })
    const { seqs } = await tellEverything(first)
    for (const seq of seqs) erase(first.url, { seq, reason }).catch(() => {}) // The gateway ends before it answers.
    await first.ana.next((frame) => isRecord(frame) && frame.payload.seq === seqs.at(-1))
    await first.close()
    clock.advance(20 * 86_400_000)
    const { store, fault } = reluctant(await sqliteStore({ path }))
    const again = await start({ participants, clock, store, retention: { days: 10 } })
    const oldest = async () => {
      clock.advance(10_000) // Failed erasures are tried again.
      const { prunedBefore = 1 } = (await asking(again.url, 'eve').json('/audit/verify')) as {
        prunedBefore?: number
      }
      return prunedBefore
    }
    await expect.poll(async () => [await oldest(), fault.attempts > 2]).toEqual([1, true])
    fault.refuses = false
    await expect.poll(oldest).toBeGreaterThan(1)
    await again.close()
    expect(bytesBeside(path).includes(needle)).toBe(false)
  })
})

describe('a row without a body', () => {
  test('that no record names is damage', async () => {
    const path = temporaryFile('log.db')
    const first = await erasable({ store: await sqliteStore({ path }) })
    const { seq } = await first.ana.accepted({ kind: 'chat', payload: { message: needle } })
    await first.ana.accepted({ kind: 'chat', payload: { message: needle } })
    await first.close()
    const db = new Database(path)
    db.prepare("UPDATE envelopes SET body = x'', salt = x'', digest = x'' WHERE seq = ?").run(seq)
    for (const set of ["body = x''", "body = x'', salt = x'', digest = x'', kind = 'chat.x'", 'hash = leaf'])
      expect(() => db.prepare(`UPDATE envelopes SET ${set} WHERE seq = ?`).run(seq + 1)).toThrow(
        'append-only',
      )
    const configured = "UPDATE envelopes SET body = x'', salt = x'', digest = x'' WHERE seq = 1"
    expect(() => db.prepare(configured).run()).toThrow('append-only')
    db.close()
    const { url } = await erasable({ store: await sqliteStore({ path }) })
    expect(await asking(url, 'eve').json('/audit/verify')).toMatchObject({
      ok: false,
      brokenAt: seq,
      checked: seq - 1,
    })
  })
})

describe('a decision about a refused call', () => {
  const secret = 'swordfish-9-lima'
  const refusedCall = {
    ...{ kind: 'mcp.request', to: ['tool'], rationale: `with ${secret}` },
    payload: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'look_up', arguments: { word: secret } },
    },
  }

  test.each(['memory', 'disk'])(
    'loses what its sender wrote, and what was decided stays, in %s',
    async (where) => {
      const path = temporaryFile('log.db')
      const store = where === 'disk' ? await sqliteStore({ path }) : memoryStore()
      const { url, ana, connect, erase } = await erasable({
        store,
        participants: { ...participants, ben: ['chat'] },
      })
      const ben = await connect('ben')
      await ben.refused(refusedCall)
      await ana.accepted({ kind: 'chat', payload: { message: 'next' } })
      const history = async () => (await asking(url, 'eve').history('limit=1000')).envelopes
      const decision = (await history()).find(({ kind }) => kind === 'system.decision')
      expect(JSON.stringify(decision)).toContain(secret)
      const { status, body } = await erase({ seq: decision?.seq, reason: 'a password' })
      expect([status, body.removed]).toEqual([201, true])
      const after = await history()
      expect(JSON.stringify(after)).not.toContain(secret)
      expect(after.at(-1)?.payload).toMatchObject({
        ...{ event: 'erased', seq: decision?.seq, by: 'eve' },
        decided: { decision: 'denied', reasonCode: 'capability_violation' },
      })
      for (const [view, text] of Object.entries(await viewsOf(url)))
        expect([view, text.includes(secret)]).toEqual([view, false])
      expect(await asking(url, 'eve').json('/audit/verify')).toMatchObject({ ok: true })
      if (where === 'disk')
        for (const file of [path, `${path}-wal`, `${path}.index.db`, `${path}.index.db-wal`]) {
          if (existsSync(file)) expect([file, readFileSync(file).includes(secret)]).toEqual([file, false])
        }
    },
  )
})

test('a decision is erased of a log file, too, which an earlier gateway has made', async () => {
  const path = temporaryFile('log.db')
  await (await sqliteStore({ path })).close()
  const db = new Database(path)
  db.exec(`DROP TRIGGER envelopes_refuse_update;
    CREATE TRIGGER envelopes_refuse_update BEFORE UPDATE ON envelopes WHEN OLD.kind = 'system.decision'
      BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;`)
  db.close()
  const { url, connect, erase } = await erasable({
    store: await sqliteStore({ path }),
    participants: { ...participants, ben: ['chat'] },
  })
  await (await connect('ben')).refused({ kind: 'x.y', payload: {} })
  const { envelopes } = await asking(url, 'eve').history('kind=system.decision')
  expect((await erase({ seq: envelopes[0]?.seq, reason })).body).toMatchObject({ removed: true })
})
