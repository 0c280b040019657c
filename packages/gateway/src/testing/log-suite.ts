import assert from 'node:assert/strict'
import type { EnvelopeLog } from '../ports/envelope-log.js'
import {
  all,
  assertChained,
  assertHolds,
  assertRefused,
  bytes,
  draft,
  drafts,
  type StoreUnderTest,
  seqs,
  type WithLog,
} from './log-fixtures.js'
import { describeAppend } from './log-suite-append.js'
import { describeCheckpoint } from './log-suite-checkpoint.js'
import { describeErase } from './log-suite-erase.js'
import { describePrune } from './log-suite-prune.js'
import { describeFind, describeRead } from './log-suite-read.js'

export type { StoreUnderTest }

/** The functions of the test runner: vitest, jest and `node:test` all fit. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown
  test(name: string, body: () => Promise<void>): unknown
}

/**
 * The tests that every adapter of the `EnvelopeLog` port passes. `open` is called once per test.
 *
 *     describeEnvelopeLog('my log', openMyStore, { describe, test })
 */
export function describeEnvelopeLog(
  name: string,
  open: () => Promise<StoreUnderTest>,
  { describe, test }: TestRunner,
): void {
  const withLog: WithLog = (title, body) =>
    test(title, async () => {
      const opened = await open()
      try {
        await body(await opened.store.open('main'), opened)
      } finally {
        await opened.dispose()
      }
    })

  describe(name, () => {
    withLog('an empty log has an epoch, head 0 and no rows', async (log) => {
      assert.ok(log.epoch.length > 0)
      assert.equal(log.head, 0)
      assert.deepEqual(await all(log), [])
      assert.deepEqual(await log.read({ limit: 10, order: 'desc' }), [])
      assert.equal(log.find('e1'), undefined)
    })
    describe('append', () => describeAppend(withLog))
    describe('read', () => describeRead(withLog))
    describe('find', () => describeFind(withLog))
    describe('prune', () => describePrune(withLog))
    describe('erase', () => describeErase(withLog))
    describe('checkpoint', () => describeCheckpoint(withLog))
    describe('recover', () => describeRecover(withLog))
    describe('open and close', () => describeLife(withLog))
  })
}

function describeRecover(withLog: WithLog): void {
  withLog('changes nothing if nothing has failed', async (log) => {
    await log.recover()
    assert.equal(log.head, 0)
    await log.append(drafts(1, 4))
    await log.prune(2, bytes('state'))
    const before = await all(log)
    await log.recover()
    assert.deepEqual([log.head, log.oldest, log.snapshot?.through], [4, 3, 2])
    assert.deepEqual(await all(log), before)
    await log.append([draft(5)])
    assertChained(log, await all(log))
  })

  withLog('continues after an append that was refused', async (log) => {
    await log.append(drafts(1, 2))
    await assertRefused(log.append([draft(3), draft(5)]), 'gap')
    await log.recover()
    assert.equal(log.head, 2)
    await log.append(drafts(3, 4))
    assertChained(log, await all(log))
  })
}

function describeLife(withLog: WithLog): void {
  withLog('a restart keeps epoch, rows and ids, and the chain continues', async (log, opened) => {
    await log.append(drafts(1, 3))
    const before = await all(log)
    const again = await (await opened.reopen()).open('main')
    assert.equal(again.epoch, log.epoch)
    assert.equal(again.head, 3)
    assert.deepEqual(await all(again), before)
    assertHolds(again.find('e2'), draft(2))
    await assertRefused(again.append([draft(4, { id: 'e1' })]), 'duplicate_id')
    await again.append(drafts(4, 5))
    assertChained(again, await all(again))
  })

  withLog('a restart keeps the epoch of an empty log', async (log, opened) => {
    const again = await (await opened.reopen()).open('main')
    assert.equal(again.epoch, log.epoch)
    assert.equal(again.head, 0)
  })

  withLog('the logs of two spaces share nothing', async (log, { store }) => {
    const other = await store.open('other')
    assert.notEqual(other.epoch, log.epoch)
    await Promise.all([log.append(drafts(1, 3)), other.append([draft(1, { from: 'eve' })])])
    assert.deepEqual([log.head, other.head], [3, 1])
    assert.equal(other.find('e1')?.from, 'eve')
    assert.equal(other.find('e2'), undefined)
    assert.deepEqual(await seqs(all(other)), [1])
    assertChained(other, await all(other))
    assertChained(log, await all(log))
  })

  withLog('a space that is open already gives the same log', async (log, { store }) => {
    assert.equal(await store.open('main'), log)
    const [one, two] = await Promise.all([store.open('new'), store.open('new')])
    assert.equal(one, two)
  })

  withLog(
    'a closed log keeps what was appended before, refuses the rest, and can be opened again',
    async (log, { store }) => {
      const appended = log.append(drafts(1, 2))
      await log.close()
      assert.equal(log.head, 2)
      await appended
      await log.close()
      await assertClosed(log)
      const again = await store.open('main')
      assert.equal(again.head, 2)
      await again.append([draft(3)])
      assertChained(again, await all(again))
    },
  )

  withLog(
    'a store that closes commits what was appended before, and refuses the rest',
    async (log, opened) => {
      const { store } = opened
      const appended = log.append(drafts(1, 2))
      await Promise.all([store.close(), store.close()])
      assert.equal(log.head, 2)
      await appended
      await store.close()
      await assertClosed(log)
      await assertRefused(store.open('main'), 'closed')
      const again = await (await opened.reopen()).open('main')
      assert.deepEqual(await seqs(all(again)), [1, 2])
    },
  )
}

async function assertClosed(log: EnvelopeLog): Promise<void> {
  await assertRefused(log.append([draft(log.head + 1)]), 'closed')
  await assertRefused(log.append([]), 'closed')
  await assertRefused(log.prune(1, bytes('state')), 'closed')
  await assertRefused(log.keep({ through: 1, format: '', bytes: bytes('state') }), 'closed')
  await assertRefused(log.checkpoint(), 'closed')
  await assertRefused(log.recover(), 'closed')
  await assertRefused(log.read({ limit: 1 }), 'closed')
  assert.throws(() => log.find('e1'), { name: 'LogError', code: 'closed' })
}
