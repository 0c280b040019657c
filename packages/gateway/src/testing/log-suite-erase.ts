import assert from 'node:assert/strict'
import { Kind } from '@meup/protocol'
import type { EnvelopeLog, Row } from '../ports/envelope-log.js'
import {
  all,
  assertChained,
  assertHolds,
  assertRefused,
  bytes,
  draft,
  drafts,
  type WithLog,
} from './log-fixtures.js'

export function describeErase(withLog: WithLog): void {
  withLog('leaves seq, heading, leaf and hash of a row, and nothing else changes', async (log, opened) => {
    const full = draft(3, { to: ['calculator'], context: 'run', correlationId: 'e1', kind: Kind.mcpRequest })
    const large = draft(4, { body: new Uint8Array(100_000).fill(0x61) })
    await log.append([...drafts(1, 2), full, large, ...drafts(5, 6)])
    const before = await all(log)
    assert.equal(await log.erase([3, 4]), true)
    const expected = before.map((row) => (row.seq === 3 || row.seq === 4 ? blank(row) : row))
    await assertErased(log, expected)
    await assertErased(await (await opened.reopen()).open('main'), expected)
  })

  withLog('passes over rows that are gone, or were never there, or have been erased', async (log) => {
    assert.equal(await log.erase([]), false)
    assert.equal(await log.erase([1]), false)
    await log.append(drafts(1, 5))
    assert.equal(await log.erase([6, 7]), false)
    await log.prune(2, bytes('state'))
    assert.equal(await log.erase([2, 3]), true)
    assert.equal(await log.erase([3]), false)
    assert.deepEqual(
      (await all(log)).map(({ body }) => body.length > 0),
      [false, true, true],
    )
  })

  withLog('keeps the id of the row taken, and the log continues', async (log) => {
    await log.append(drafts(1, 3))
    await log.erase([3])
    await assertRefused(log.append([draft(4, { id: 'e3' })]), 'duplicate_id')
    await log.append([draft(4)])
    assert.equal(await log.erase([4]), true)
    await log.append(drafts(5, 6))
    assertHolds((await all(log))[5], draft(6))
    assertChained(log, await all(log))
    await log.prune(3, bytes('state'))
    assertChained(log, await all(log))
    await log.append([draft(7, { id: 'e3' })])
  })

  withLog('removes the checkpoint, which may hold the row', async (log) => {
    await log.append(drafts(1, 3))
    await log.keep({ through: 2, format: 'plain', bytes: bytes('state') })
    await log.erase([4])
    assert.notEqual(await log.checkpoint(), undefined)
    await log.erase([1])
    assert.equal(await log.checkpoint(), undefined)
    await log.keep({ through: 3, format: 'plain', bytes: bytes('state') })
    assert.notEqual(await log.checkpoint(), undefined)
  })

  withLog('erases while appends are in flight, and in no other space', async (log, { store }) => {
    const other = await store.open('other')
    await Promise.all([log.append(drafts(1, 40)), other.append(drafts(1, 40))])
    const appends = Array.from({ length: 20 }, (_, i) => log.append([draft(41 + i)]))
    await Promise.all([log.erase([7]), ...appends, log.erase([8, 39])])
    assertChained(log, await all(log))
    const gone = (await all(log)).flatMap(({ seq, body }) => (body.length === 0 ? [seq] : []))
    assert.deepEqual(gone, [7, 8, 39])
    assert.ok((await all(other)).every(({ body }) => body.length > 0))
  })
}

const nothing = new Uint8Array(0)
const blank = (row: Row): Row => ({ ...row, body: nothing, salt: nothing, digest: nothing })

/** Asserts that every function that reads the log returns these rows. */
async function assertErased(log: EnvelopeLog, expected: readonly Row[]): Promise<void> {
  assert.deepEqual(await all(log), expected)
  assertChained(log, expected)
  const seqs = expected.map(({ seq }) => seq)
  const read = [
    await log.read({ limit: 99, order: 'desc' }).then((rows) => rows.reverse()),
    await log.read({ limit: 99, filter: { seqs } }),
    expected.map(({ id }) => log.find(id)),
  ]
  for (const rows of read)
    assert.deepEqual(
      rows.map((row) => Buffer.from(row?.body ?? [1]).length),
      expected.map(({ body }) => body.length),
    )
  for (const { seq, id, kind, from } of expected) {
    const heading = log.heading(id)
    assert.deepEqual([heading?.seq, heading?.kind, heading?.from], [seq, kind, from])
  }
}
