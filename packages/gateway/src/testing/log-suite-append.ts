import assert from 'node:assert/strict'
import { Kind } from '@meup/protocol'
import {
  all,
  assertChained,
  assertHolds,
  assertRefused,
  bytes,
  draft,
  drafts,
  seqs,
  type WithLog,
} from './log-fixtures.js'

export function describeAppend(withLog: WithLog): void {
  withLog('keeps every field and every byte', async (log) => {
    const batch = [
      draft(1),
      draft(2, { to: ['calculator'], context: 'run/step', correlationId: 'e1', kind: Kind.mcpRequest }),
      draft(3, { to: ['a', 'b.c', 'd-e'], correlationId: ['e1', 'e2'] }),
      draft(4, { to: [], correlationId: ['e1'] }),
      draft(5, { from: 'système', context: '中', body: bytes('"ünïcode":"🦊\u0000\u2028"}') }),
      draft(6, { body: new Uint8Array([0, 255, 128, 10, 13]), content: new Uint8Array() }),
      draft(7, { body: new Uint8Array() }),
    ]
    await log.append(batch)
    const rows = await all(log)
    assert.equal(rows.length, batch.length)
    for (const [i, each] of batch.entries()) assertHolds(rows[i], each)
  })

  withLog('recognizes a submission by its content, at any place of the body', async (log) => {
    const body = bytes('{"from":"ada","id":"e1","payload":{}}')
    const parts = [
      [0, body.length],
      [1, body.length],
      [14, body.length],
      [14, 20],
      [0, 14],
      [body.length, body.length],
    ]
    const batch = parts.map(([from, to], i) => draft(i + 1, { body, content: body.subarray(from, to) }))
    await log.append(batch)
    const rows = await all(log)
    for (const [i, each] of batch.entries()) assertHolds(rows[i], each)
    assertChained(log, rows)
  })

  withLog('keeps a large body', async (log) => {
    const large = draft(2, { body: new Uint8Array(1024 * 1024).map((_, i) => i * 7) })
    const batch = [draft(1), large, draft(3)]
    await log.append(batch)
    const rows = await all(log)
    for (const [i, each] of batch.entries()) assertHolds(rows[i], each)
    assertHolds(log.find('e2'), large)
  })

  withLog('keeps the bytes it was given, though the caller uses them again', async (log) => {
    const buffer = bytes('"first"}')
    const appended = log.append([draft(1, { body: buffer, content: buffer })])
    buffer.fill(0)
    await appended
    assertHolds((await all(log))[0], draft(1, { body: bytes('"first"}'), content: bytes('"first"}') }))
  })

  withLog('salts every row of its own', async (log) => {
    await log.append(drafts(1, 600))
    const salts = new Set((await all(log)).map(({ salt }) => Buffer.from(salt).toString('hex')))
    assert.equal(salts.size, 600)
  })

  withLog('moves the head when it resolves, and shows nothing before', async (log) => {
    const appended = log.append(drafts(1, 3))
    assert.equal(log.head, 0)
    assert.equal(log.find('e1'), undefined)
    assert.deepEqual(await all(log), [])
    await appended
    assert.equal(log.head, 3)
    assert.deepEqual(await seqs(all(log)), [1, 2, 3])
  })

  withLog('takes an empty batch', async (log) => {
    await log.append([])
    await log.append(drafts(1, 2))
    await log.append([])
    assert.equal(log.head, 2)
  })

  withLog('commits concurrent appends in their order', async (log) => {
    const order: number[] = []
    const appends = Array.from({ length: 60 }, async (_, i) => {
      await log.append(drafts(3 * i + 1, 3 * i + 3))
      order.push(i)
    })
    await Promise.all(appends)
    assert.deepEqual(order, [...order.keys()])
    const rows = await all(log)
    assert.equal(rows.length, 180)
    assertChained(log, rows)
  })

  withLog(
    'refuses a batch that leaves a gap, goes back, or has one within, and stores nothing of it',
    async (log) => {
      await log.append(drafts(1, 2))
      await assertRefused(log.append([draft(4)]), 'gap')
      await assertRefused(log.append([draft(2, { id: 'again' })]), 'gap')
      await assertRefused(log.append([draft(3), draft(5)]), 'gap')
      await assertRefused(log.append([draft(3), draft(3, { id: 'twice' })]), 'gap')
      assert.equal(log.head, 2)
      assert.equal(log.find('e3'), undefined)
      await log.append(drafts(3, 4))
      assertChained(log, await all(log))
    },
  )

  withLog('refuses a batch that repeats an id, stores nothing of it, and continues', async (log) => {
    await log.append(drafts(1, 2))
    await assertRefused(log.append([draft(3), draft(4, { id: 'e1' })]), 'duplicate_id')
    await assertRefused(log.append([draft(3), draft(4, { id: 'e3' })]), 'duplicate_id')
    assert.equal(log.head, 2)
    assert.equal(log.find('e3'), undefined)
    await log.append(drafts(3, 4))
    const rows = await all(log)
    assert.deepEqual(
      rows.map(({ id }) => id),
      ['e1', 'e2', 'e3', 'e4'],
    )
    assertChained(log, rows)
  })

  withLog(
    'refuses one batch of many in flight: those before it stay, those that build on it fall',
    async (log, { store }) => {
      const other = await store.open('other')
      const results = await Promise.allSettled([
        log.append(drafts(1, 2)),
        log.append([draft(3), draft(4, { id: 'e1' })]),
        other.append(drafts(1, 2)),
        log.append(drafts(5, 6)),
        log.append([draft(3)]),
      ])
      const codes = results.map((result) => (result.status === 'rejected' ? result.reason.code : 'stored'))
      assert.deepEqual(codes, ['stored', 'duplicate_id', 'stored', 'gap', 'stored'])
      assert.equal(log.head, 3)
      assertChained(log, await all(log))
      assertChained(other, await all(other))
    },
  )
}
