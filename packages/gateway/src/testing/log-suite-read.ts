import assert from 'node:assert/strict'
import { Kind } from '@meup/protocol'
import type { Filter, Query, Row } from '../ports/envelope-log.js'
import { all, assertChained, assertHolds, draft, drafts, seqs, type WithLog } from './log-fixtures.js'

export function describeRead(withLog: WithLog): void {
  withLog('gives rows after, before, between, in both orders, up to a limit', async (log) => {
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

  withLog('gives rows up to a limit of bytes, and always one', async (log) => {
    const sized = (seq: number, size: number) => draft(seq, { body: new Uint8Array(size).fill(0x20) })
    await log.append([sized(1, 10), sized(2, 10), sized(3, 50), sized(4, 10), sized(5, 10)])
    const read = (query: Omit<Query, 'limit'>) => seqs(log.read({ limit: 9, ...query }))
    assert.deepEqual(await read({ maxBytes: 1 }), [1])
    assert.deepEqual(await read({ maxBytes: 20 }), [1, 2])
    assert.deepEqual(await read({ maxBytes: 21 }), [1, 2, 3])
    assert.deepEqual(await read({ maxBytes: 1, after: 2 }), [3])
    assert.deepEqual(await read({ maxBytes: 15, order: 'desc' }), [5, 4])
    assert.deepEqual(await read({ maxBytes: 1000 }), [1, 2, 3, 4, 5])
    assert.deepEqual(await seqs(log.read({ maxBytes: 1000, limit: 2 })), [1, 2])
  })

  withLog('gives exactly the rows with the seqs that a filter names, in order', async (log) => {
    const sized = (seq: number) =>
      draft(seq, { body: new Uint8Array(10).fill(0x20), from: seq % 2 ? 'bob' : 'ada' })
    const batch = Array.from({ length: 600 }, (_, index) => sized(index + 1))
    await log.append(batch.slice(0, 300))
    await log.append(batch.slice(300))
    const named = [2, 3, 5, 8, 300, 301, 599]
    const read = (query: Partial<Query>, wanted = named) =>
      seqs(log.read({ limit: 1000, ...query, filter: { seqs: wanted, ...query.filter } }))
    const cases: [Partial<Query>, number[]][] = [
      [{}, named],
      [{ after: 3 }, [5, 8, 300, 301, 599]],
      [{ before: 301 }, [2, 3, 5, 8, 300]],
      [{ after: 2, before: 599 }, [3, 5, 8, 300, 301]],
      [{ after: 8, before: 300 }, []],
      [{ filter: { from: ['bob'] } }, [3, 5, 301, 599]],
      [{ filter: { kinds: [] } }, []],
    ]
    for (const [query, expected] of cases) {
      assert.deepEqual(await read(query), expected, JSON.stringify(query))
      assert.deepEqual(await read({ ...query, order: 'desc' }), expected.toReversed(), JSON.stringify(query))
    }
    assert.deepEqual(await read({ limit: 0 }), [])
    assert.deepEqual(await read({ limit: 3 }), [2, 3, 5])
    assert.deepEqual(await read({ limit: 2, after: 3 }), [5, 8])
    assert.deepEqual(await read({ limit: 2, order: 'desc' }), [599, 301])
    assert.deepEqual(await read({ maxBytes: 1 }), [2])
    assert.deepEqual(await read({ maxBytes: 20 }), [2, 3])
    assert.deepEqual(await read({ maxBytes: 25, after: 5 }), [8, 300, 301])
    assert.deepEqual(await read({ maxBytes: 15, order: 'desc' }), [599, 301])
    for (const wanted of [[], [0], [601, 1000]]) assert.deepEqual(await read({}, wanted), [])
    assert.deepEqual(await read({}, [0, 1, 600, 601]), [1, 600])
    const every = batch.map(({ seq }) => seq)
    assert.deepEqual(await read({}, every), every)
    await log.prune(300, new Uint8Array(1))
    assert.deepEqual(await read({}), [301, 599])
  })

  withLog('gives what a filter selects, by each part and by all of them', async (log) => {
    const { chat, reasoningStart: start, reasoningThought: thought } = Kind
    await log.append([
      draft(1),
      draft(2, { kind: start, from: 'bob' }),
      draft(3, { kind: thought, from: 'bob', context: 'run', to: ['ada'] }),
      draft(4, { kind: thought, from: 'bob', context: 'run/inner', correlationId: 'e1' }),
      draft(5, { kind: thought, context: 'run2', correlationId: ['e1', 'e2'] }),
      draft(6, { context: 'run-3', correlationId: ['e11'] }),
      draft(7, { from: 'bob', context: 'run/inner/most', correlationId: 'e2' }),
      draft(8, { context: 'other/run', correlationId: 'e' }),
      draft(9, { kind: Kind.chatCancel, from: 'bob2' }),
      draft(10, { id: 'flight', kind: start }),
      draft(11, { id: 'leg', kind: start, context: 'flight' }),
      draft(12, { kind: thought, context: 'flight/leg' }),
      draft(13, { id: 'other', context: 'flight' }),
    ])
    const cases: [Filter, number[]][] = [
      [{}, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]],
      [{ kinds: [chat] }, [1, 6, 7, 8, 13]],
      [{ kinds: [thought, start] }, [2, 3, 4, 5, 10, 11, 12]],
      [{ kinds: ["chat' OR 1 --", 'cha_', 'c%', '*'] }, []],
      [{ kinds: [] }, []],
      [{ from: ['bob'] }, [2, 3, 4, 7]],
      [{ from: ['ada', 'bob2', 'nobody'] }, [1, 5, 6, 8, 9, 10, 11, 12, 13]],
      [{ from: [] }, []],
      [{ context: 'run' }, [3, 4, 7]],
      [{ context: 'run/inner' }, [4, 7]],
      [{ context: 'ru' }, []],
      [{ correlationId: 'e1' }, [4, 5]],
      [{ correlationId: 'e2' }, [5, 7]],
      [{ correlationId: 'e' }, [8]],
      [{ correlationId: 'nothing' }, []],
      [{ kinds: [thought, chat], from: ['bob'], context: 'run' }, [3, 4, 7]],
      [{ kinds: [thought], from: ['bob'], context: 'run', correlationId: 'e1' }, [4]],
      [{ kinds: [start], context: 'run' }, []],
      [{ context: 'flight' }, [10, 11, 12, 13]],
      [{ context: 'flight/leg' }, [11, 12]],
      [{ context: 'flight/other' }, []],
      [{ context: 'leg' }, []],
    ]
    for (const [filter, expected] of cases) {
      assert.deepEqual(await seqs(log.read({ limit: 20, filter })), expected, JSON.stringify(filter))
      const descending = await seqs(log.read({ limit: 20, order: 'desc', filter }))
      assert.deepEqual(descending.reverse(), expected, JSON.stringify(filter))
    }
    const filter = { from: ['bob'] }
    const read = (query: Omit<Query, 'filter'>) => seqs(log.read({ ...query, filter }))
    assert.deepEqual(await read({ limit: 2 }), [2, 3])
    assert.deepEqual(await read({ limit: 2, after: 3 }), [4, 7])
    assert.deepEqual(await read({ limit: 2, order: 'desc' }), [7, 4])
    assert.deepEqual(await read({ limit: 2, order: 'desc', before: 4 }), [3, 2])
    assert.deepEqual(await read({ limit: 9, after: 2, before: 7 }), [3, 4])
    assert.deepEqual(await read({ limit: 9, after: 4, before: 7 }), [])
    assert.deepEqual(await read({ limit: 0 }), [])
    const [first] = await log.read({ limit: 1, filter: { context: 'run' } })
    assertHolds(first, draft(3, { kind: thought, from: 'bob', context: 'run', to: ['ada'] }))
  })

  withLog('gives the chain: genesis from the epoch, each row linked to the one before', async (log) => {
    await log.append(drafts(1, 5))
    await log.append([draft(6)])
    const rows = await all(log)
    assert.equal(rows.length, 6)
    assertChained(log, rows)
  })
}

export function describeFind(withLog: WithLog): void {
  withLog('gives the committed row of an id, whole, and nothing for an unknown id', async (log) => {
    const asked = draft(2, { to: ['calculator'], context: 'run', correlationId: ['e1', 'x'] })
    await log.append([draft(1), asked])
    assertHolds(log.find('e1'), draft(1))
    assertHolds(log.find('e2'), asked)
    assert.deepEqual(describeLink(log.find('e2')), describeLink((await all(log))[1]))
    const { seq, id, ts, from, kind, to, context, correlationId } = asked
    const heading = { seq, id, ts, from, kind, to, context, correlationId }
    for (const [key, value] of Object.entries(heading)) {
      assert.deepEqual(log.heading('e2')?.[key as keyof typeof heading], value)
    }
    for (const unknown of ['e3', 'E1', 'e', '', "e1' OR 1"]) {
      assert.deepEqual([log.find(unknown), log.heading(unknown)], [undefined, undefined])
    }
  })

  withLog('gives the committed rows whose ids begin so, a page after another', async (log) => {
    await log.append(['ab', 'abc', 'b', 'abd', 'aB', 'ab%'].map((id, at) => draft(at + 1, { id })))
    const ids = (start: string, after = '', limit = 10): string[] =>
      log.headingsFrom(start, after, limit).map(({ id }) => id)
    assert.deepEqual(ids('ab'), ['ab', 'ab%', 'abc', 'abd'])
    assert.deepEqual(
      [ids('ab', '', 2), ids('ab', 'ab%', 2)],
      [
        ['ab', 'ab%'],
        ['abc', 'abd'],
      ],
    )
    assert.deepEqual([ids('abcd'), ids('%'), ids('c')], [[], [], []])
    assert.equal(log.headingsFrom('abc', '', 1)[0]?.seq, 2)
  })

  withLog('knows whether a context, or one below it, has rows', async (log) => {
    assert.equal(log.hasContext('run'), false)
    await log.append([draft(1, { context: 'run/deep/er' }), draft(2, { context: 'free' }), draft(3)])
    const roots = ['run', 'free', 'ru', 'run0', 'run-', 'deep', 'fre', 'free0', 'e3', '']
    assert.deepEqual(
      roots.filter((root) => log.hasContext(root)),
      ['run', 'free'],
    )
  })

  withLog('sees every append that has resolved, within the turn that saw nothing yet', async (log) => {
    for (let seq = 1; seq <= 20; seq++) {
      assert.equal(log.find(`e${seq}`), undefined)
      await log.append([draft(seq)])
      assertHolds(log.find(`e${seq}`), draft(seq))
    }
  })
}

function describeLink(row: Row | undefined): string[] {
  return [row?.salt, row?.leaf, row?.hash, row?.digest].map((part) => Buffer.from(part ?? []).toString('hex'))
}
