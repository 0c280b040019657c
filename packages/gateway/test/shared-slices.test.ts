import { type ConnectionGrant, type EnvelopeLog, memoryStore } from '@meup/gateway'
import { expect, test } from 'vitest'
import type { LogReads } from '../src/core/delivery/log-reads.js'
import { watched } from './audit-export.js'
import { byId, range, type Sent, said } from './client.js'
import { patient, readsOf } from './reads.js'
import { slowPeer } from './slow-peer.js'
import { start } from './support.js'

const rows = 600

async function logOf(count: number) {
  const inner = memoryStore()
  const log = await inner.open('test')
  await log.append(
    range(1, count).map((seq) => {
      const fields = { id: `e${seq}`, ts: '2026-01-02T03:04:05.678Z', from: 'ana', kind: 'chat' }
      const body = Buffer.from(
        JSON.stringify({ protocol: 'meup/v0.3', ...fields, payload: { message: 'x' } }),
      )
      return { seq, ...fields, body, content: body }
    }),
  )
  return inner
}

/** A log with `count` rows. `asked`: its reads; `reading` is called before each read. */
async function watchedLog(count: number, reading: (log: EnvelopeLog) => unknown = () => {}) {
  const asked: string[] = []
  const store = watched(await logOf(count), ({ after, limit, only }, log) => {
    asked.push(`${only} ${after} ${limit}`)
    return reading(log)
  })
  return { asked, log: await store.open('test') }
}

async function seqsOf(reads: LogReads, query: { after: number; before: number }) {
  const seqs: number[] = []
  for await (const { rows } of reads.replay(patient, query)) seqs.push(...rows.map(({ seq }) => seq))
  return seqs
}

const all = { after: 0, before: rows + 1 }

test('readers that go on from one place at once read each slice once', async () => {
  const { log, asked } = await watchedLog(rows)
  const reads = readsOf(log)
  const found = await Promise.all(range(1, 20).map(() => seqsOf(reads, all)))
  for (const seqs of found) expect(seqs).toEqual(range(1, rows))
  const places = ['0 256', '256 256', '512 256']
  const expected = places.flatMap((place) => [`headings ${place}`, `bodies ${place}`])
  expect(asked).toEqual([...expected.slice(0, -1), 'bodies 512 88'])
})

test('those that read less than others get what they asked for', async () => {
  const { log } = await watchedLog(rows)
  const reads = readsOf(log)
  const ends = [rows + 1, 301, 300, 101, 2]
  const found = await Promise.all(ends.map((before) => seqsOf(reads, { ...all, before })))
  expect(found.map((seqs) => seqs.length)).toEqual(ends.map((before) => before - 1))
})

test('each reader pays for what it is given', async () => {
  const { log } = await watchedLog(rows)
  const charged: string[] = []
  const rates = { charge: (rateLimitKey: string) => charged.push(rateLimitKey), wait: () => 0 }
  const reads = readsOf(log, { rates: rates as never })
  await Promise.all([seqsOf(reads, all), seqsOf(reads, all)])
  expect(charged).toEqual(Array.from({ length: 6 }, () => patient.rateLimitKey))
})

test('what looks whether the log is whole reads it itself, and nothing is kept once nobody reads', async () => {
  const { log, asked } = await watchedLog(10)
  const reads = readsOf(log)
  const rowsOf = async (): Promise<void> => {
    for await (const _ of reads.rows(patient, 0, 10));
  }
  await Promise.all([rowsOf(), rowsOf()])
  expect(asked).toHaveLength(2)
  await seqsOf(reads, { ...all, before: 11 })
  await seqsOf(reads, { ...all, before: 11 })
  expect(asked).toHaveLength(6)
})

test('what has been pruned is not given to those who come later', async () => {
  const { log } = await watchedLog(rows)
  const reads = readsOf(log)
  const first = reads.replay(patient, all)
  await first.next()
  await log.prune(100, Buffer.from('state'))
  expect(await seqsOf(reads, all)).toEqual(range(101, rows))
  await first.return()
})

test('a slice that could not be read is read again by the next', async () => {
  let failures = 1
  const { log } = await watchedLog(10, () => {
    if (failures-- > 0) throw new Error('the disk is away')
  })
  const reads = readsOf(log)
  const kept = reads.replay(patient, { ...all, before: 3 })
  await expect(kept.next()).rejects.toThrow('the disk is away')
  expect(await seqsOf(reads, { ...all, before: 3 })).toEqual([1, 2])
})

const space = { participants: { alice: ['*'], bob: ['*'], carol: ['*'], auditor: ['observe.targeted'] } }
const chat = (message: string, to?: string): Sent => ({
  kind: 'chat',
  payload: { message },
  ...(to !== undefined && { to: [to] }),
})

test('of those who come back at once each gets what it may read', async () => {
  const { connect } = await start(space)
  const alice = await connect('alice')
  const addressees = [undefined, 'bob', 'carol', 'bob', undefined]
  for (const [at, to] of addressees.entries()) await alice.accepted({ id: `m${at}`, ...chat('hi', to) })
  const query = `after=0&epoch=${alice.welcome.space.epoch}`
  const names = ['bob', 'carol', 'auditor', 'bob', 'carol']
  const clients = await Promise.all(names.map((name) => connect(name, { query })))
  await alice.accepted({ id: 'mark', ...chat('that was all') })
  const found = await Promise.all(clients.map(async (client) => said(await client.until(byId('mark')))))
  const [ofBob, ofCarol] = [
    ['m0', 'm1', 'm3', 'm4', 'mark'],
    ['m0', 'm2', 'm4', 'mark'],
  ]
  expect(found).toEqual([ofBob, ofCarol, ['m0', 'm1', 'm2', 'm3', 'm4', 'mark'], ofBob, ofCarol])
})

test('a slow reader gets nothing of a run that was hidden after others had read the same slice', async () => {
  const { gateway, connect } = await start(space)
  const alice = await connect('alice')
  const { id: run } = await alice.accepted({ kind: 'reasoning.start', payload: { message: 'hm' } })
  for (const count of range(1, 70)) await alice.accepted(chat(`${count}`))
  const thought: Sent = { kind: 'reasoning.thought', context: run, payload: { message: 'a plan' } }
  const { seq } = await alice.accepted(thought)
  const resume = { after: 0, epoch: alice.welcome.space.epoch }
  const admit = async (name: string) =>
    (await gateway.admit({ space: 'test', token: `token-of-${name}`, remote: 'here' })) as ConnectionGrant
  const [slow, quick] = [slowPeer(), slowPeer()]
  await (await admit('bob')).open(slow.connection, resume)
  await expect.poll(() => slow.seqs.length).toBe(64)
  quick.takeAll()
  await (await admit('carol')).open(quick.connection, resume)
  await expect.poll(() => quick.seqs).toContain(seq)
  const hide = { context: run, reasoningVisible: false }
  const { seq: hidden } = await alice.accepted({ kind: 'observe.visibility', payload: hide })
  slow.takeAll()
  await expect.poll(() => slow.seqs).toContain(hidden)
  expect(slow.seqs).not.toContain(seq)
})
