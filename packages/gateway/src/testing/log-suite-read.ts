import assert from 'node:assert/strict'
import type { Query, Row } from '../ports/envelope-log.js'
import { all, assertChained, assertHolds, draft, drafts, seqs, type WithLog } from './log-fixtures.js'

export function describeRead(withLog: WithLog): void {
  withLog('gives rows after, before, between, in both orders, at most so many', async (log) => {
    await log.append(drafts(1, 4))
    await log.append(drafts(5, 9))
    const read = (query: Query) => seqs(log.read(query))
    assert.deepEqual(await read({ limit: 3 }), [1, 2, 3])
    assert.deepEqual(await read({ limit: 3, after: 3 }), [4, 5, 6])
    assert.deepEqual(await read({ limit: 9, after: 7 }), [8, 9])
    assert.deepEqual(await read({ limit: 9, before: 3 }), [1, 2])
    assert.deepEqual(await read({ limit: 9, after: 2, before: 6, order: 'asc' }), [3, 4, 5])
    assert.deepEqual(await read({ limit: 3, order: 'desc' }), [9, 8, 7])
    assert.deepEqual(await read({ limit: 3, before: 7, order: 'desc' }), [6, 5, 4])
    assert.deepEqual(await read({ limit: 9, after: 2, before: 6, order: 'desc' }), [5, 4, 3])
    for (const order of ['asc', 'desc'] as const) {
      assert.deepEqual(await read({ limit: 0, order }), [])
      assert.deepEqual(await read({ limit: 9, after: 9, order }), [])
      assert.deepEqual(await read({ limit: 9, after: 99, order }), [])
      assert.deepEqual(await read({ limit: 9, before: 1, order }), [])
      assert.deepEqual(await read({ limit: 9, before: 0, order }), [])
      assert.deepEqual(await read({ limit: 9, after: 5, before: 3, order }), [])
      assert.deepEqual((await read({ limit: 9, after: 0, before: 99, order })).length, 9)
    }
  })

  withLog('gives the chain: genesis from the epoch, each row linked to the one before', async (log) => {
    await log.append(drafts(1, 5))
    await log.append([draft(6)])
    const rows = await all(log)
    assert.equal(rows.length, 6)
    assertChained(log.epoch, rows)
  })
}

export function describeFind(withLog: WithLog): void {
  withLog('gives the committed row of an id, whole, and nothing for an unknown id', async (log) => {
    const asked = draft(2, { to: ['calculator'], context: 'run', correlationId: ['e1', 'x'] })
    await log.append([draft(1), asked])
    assertHolds(log.find('e1'), draft(1))
    assertHolds(log.find('e2'), asked)
    assert.deepEqual(linkOf(log.find('e2')), linkOf((await all(log))[1]))
    for (const unknown of ['e3', 'E1', 'e', '', "e1' OR 1"]) assert.equal(log.find(unknown), undefined)
  })

  withLog('sees every append that has resolved, within the turn that saw nothing yet', async (log) => {
    for (let seq = 1; seq <= 20; seq++) {
      assert.equal(log.find(`e${seq}`), undefined)
      await log.append([draft(seq)])
      assertHolds(log.find(`e${seq}`), draft(seq))
    }
  })
}

function linkOf(row: Row | undefined): string[] {
  return [row?.salt, row?.leaf, row?.hash, row?.digest].map((part) => Buffer.from(part ?? []).toString('hex'))
}
