import assert from 'node:assert/strict'
import type { EnvelopeLog, Query } from '../ports/envelope-log.js'
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

export function describePrune(withLog: WithLog): void {
  withLog('leaves a log as it is until it is called', async (log) => {
    assert.deepEqual([log.oldest, log.snapshot], [1, undefined])
    await log.append(drafts(1, 3))
    assert.deepEqual([log.oldest, log.snapshot], [1, undefined])
  })

  withLog('removes the rows up to the boundary, and none after it', async (log) => {
    await log.append(drafts(1, 9))
    const before = await all(log)
    await log.prune(4, bytes('state'))
    assert.deepEqual([log.oldest, log.head], [5, 9])
    assert.deepEqual(await all(log), before.slice(4))
    const read = (query: Query) => seqs(log.read(query))
    assert.deepEqual(await read({ limit: 2 }), [5, 6])
    assert.deepEqual(await read({ limit: 9, after: 2, before: 7 }), [5, 6])
    assert.deepEqual(await read({ limit: 9, after: 6 }), [7, 8, 9])
    assert.deepEqual(await read({ limit: 9, before: 5 }), [])
    assert.deepEqual(await read({ limit: 2, order: 'desc' }), [9, 8])
    assert.deepEqual(await read({ limit: 9, before: 7, order: 'desc' }), [6, 5])
    assert.deepEqual(await read({ limit: 9, after: 1, before: 5, order: 'desc' }), [])
    for (const gone of ['e1', 'e4']) {
      assert.deepEqual([log.find(gone), log.heading(gone)], [undefined, undefined])
    }
    for (const kept of [5, 9]) assertHolds(log.find(`e${kept}`), draft(kept))
  })

  withLog('keeps the snapshot and the hash that the first kept row links to', async (log) => {
    await log.append(drafts(1, 5))
    const [, , third] = await all(log)
    const state = bytes('everything that three envelopes add up to')
    const pruned = log.prune(3, state)
    state.fill(0)
    await pruned
    assert.deepEqual(readSnapshotText(log), [3, 'everything that three envelopes add up to'])
    assert.deepEqual(Buffer.from(log.snapshot?.hash ?? []), Buffer.from(third?.hash ?? []))
    await log.append(drafts(6, 8))
    assertChained(log, await all(log))
  })

  withLog('takes large and empty snapshots', async (log) => {
    await log.append(drafts(1, 5))
    const large = new Uint8Array(3 * 1024 * 1024).map((_, i) => i * 7)
    await log.prune(1, large)
    assert.ok(Buffer.from(large).equals(log.snapshot?.bytes ?? bytes('')))
    await log.prune(2, new Uint8Array())
    assert.equal(log.snapshot?.bytes.length, 0)
  })

  withLog('can be done again, further on', async (log) => {
    await log.append(drafts(1, 6))
    await log.prune(2, bytes('first'))
    await log.prune(5, bytes('second'))
    assert.deepEqual(readSnapshotText(log), [5, 'second'])
    assert.deepEqual(await seqs(all(log)), [6])
    await log.append(drafts(7, 8))
    await log.prune(7, bytes('third'))
    assert.deepEqual(await seqs(all(log)), [8])
    assertChained(log, await all(log))
  })

  withLog('refuses what is not there to be removed, and the newest row, and removes nothing', async (log) => {
    const refused = (...boundaries: number[]) =>
      Promise.all(boundaries.map((through) => assertRefused(log.prune(through, bytes('state')), 'range')))
    await refused(0, 1)
    await log.append(drafts(1, 5))
    await refused(-1, 0, 5, 6, 99, 1.5, Number.NaN, Number.POSITIVE_INFINITY)
    assert.deepEqual([log.oldest, log.snapshot], [1, undefined])
    await log.prune(3, bytes('state'))
    await refused(0, 1, 2, 3, 5)
    assert.deepEqual([log.oldest, ...readSnapshotText(log)], [4, 3, 'state'])
    assert.deepEqual(await seqs(all(log)), [4, 5])
    await log.append([draft(6)])
    assertChained(log, await all(log))
  })

  withLog('goes together with appends, and with another pruning', async (log) => {
    await log.append(drafts(1, 4))
    await Promise.all([
      log.append(drafts(5, 6)),
      log.prune(2, bytes('first')),
      log.append(drafts(7, 9)),
      log.prune(3, bytes('second')),
      log.append([draft(10)]),
    ])
    assert.deepEqual([log.oldest, log.head], [4, 10])
    assert.deepEqual(readSnapshotText(log), [3, 'second'])
    assertChained(log, await all(log))
    assert.equal((await all(log)).length, 7)
  })

  withLog('frees the ids of what it removed, and no others', async (log) => {
    await log.append(drafts(1, 900))
    await log.prune(890, bytes('state'))
    await log.append([draft(901, { id: 'e889' }), draft(902, { id: 'e2' })])
    assert.deepEqual([log.find('e889')?.seq, log.find('e2')?.seq], [901, 902])
    await assertRefused(log.append([draft(903, { id: 'e891' })]), 'duplicate_id')
    await assertRefused(log.append([draft(903, { id: 'e2' })]), 'duplicate_id')
    assertChained(log, await all(log))
  })

  withLog('touches no other space', async (log, { store }) => {
    const other = await store.open('other')
    await Promise.all([log.append(drafts(1, 5)), other.append(drafts(1, 5))])
    await log.prune(4, bytes('state'))
    assert.deepEqual([other.oldest, other.snapshot], [1, undefined])
    assert.equal((await all(other)).length, 5)
    assertHolds(other.find('e1'), draft(1))
  })

  withLog('outlives a restart, with all that is kept', async (log, opened) => {
    await log.append(drafts(1, 900))
    await log.prune(895, bytes('state'))
    const before = await all(log)
    const again = await (await opened.reopen()).open('main')
    assert.deepEqual([again.epoch, again.oldest, again.head], [log.epoch, 896, 900])
    assert.deepEqual(readSnapshotText(again), [895, 'state'])
    assert.deepEqual(await all(again), before)
    assert.equal(again.find('e895'), undefined)
    await assertRefused(again.prune(895, bytes('again')), 'range')
    await again.append([draft(901, { id: 'e1' })])
    await again.prune(900, bytes('later'))
    assertChained(again, await all(again))
  })
}

function readSnapshotText({ snapshot }: EnvelopeLog): [through?: number, text?: string] {
  return snapshot ? [snapshot.through, new TextDecoder().decode(snapshot.bytes)] : []
}
