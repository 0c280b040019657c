import assert from 'node:assert/strict'
import { Kind } from '@meup/protocol'
import { defaultSafety } from '@meup/safety'
import type { BatchEnd } from '@meup/views'
import { assertRefused } from './log-fixtures.js'
import {
  contentsOf,
  eventsOf,
  expectedOf,
  project,
  safety,
  type WithProjection,
} from './projection-fixtures.js'
import { draftOf, randomDrafts } from './random-drafts.js'

const rows = 900

export function describeLife(withProjection: WithProjection): void {
  for (const seed of [1, 2, 3]) {
    withProjection(
      `as the fold of the views does, and tells each batch once (log ${seed})`,
      async (projection, log) => {
        const drafts = randomDrafts(seed, rows)
        await log.append(drafts)
        const ends: BatchEnd[] = []
        for (const through of [1, 2, 9, 300, 301, rows]) {
          ends.push(...(await projection.advance(through)))
          assert.equal(projection.seq, through)
          assert.deepEqual(await contentsOf(projection), expectedOf(drafts.slice(0, through), log))
        }
        const { events } = expectedOf(drafts, log)
        assert.ok(events.length > 50)
        assert.deepEqual(eventsOf(ends), events)
      },
    )
  }

  withProjection('no further than asked, and never back', async (projection, log) => {
    const drafts = randomDrafts(4, 60)
    await log.append(drafts)
    const told = await Promise.all([projection.advance(20), projection.advance(10), projection.advance(30)])
    assert.equal(projection.seq, 30)
    assert.deepEqual(eventsOf(told.flat()), expectedOf(drafts.slice(0, 30), log).events)
    assert.deepEqual(told[1], [])
  })

  withProjection('after a restart, wherever it was', async (projection, log, opened) => {
    const drafts = randomDrafts(5, rows)
    await log.append(drafts)
    const ends = [...(await projection.advance(1))]
    let last = projection
    for (const through of [2, 256, 257, rows]) {
      const again = await (await opened.reopen()).open('main')
      last = await again.project(safety)
      ends.push(...(await last.advance(through)))
      assert.deepEqual(await contentsOf(last), expectedOf(drafts.slice(0, through), log))
    }
    assert.deepEqual(eventsOf(ends), expectedOf(drafts, log).events)
  })

  withProjection('when it has been made again, with the same', async (projection, log) => {
    const drafts = randomDrafts(6, rows)
    await log.append(drafts)
    await projection.advance(700)
    await projection.rebuild()
    assert.equal(projection.seq, 700)
    assert.deepEqual(await contentsOf(projection), expectedOf(drafts.slice(0, 700), log))
    const ends = await projection.advance(rows)
    assert.ok(ends.every(({ seq }) => seq > 700))
    assert.deepEqual(await contentsOf(projection), expectedOf(drafts, log))
  })

  withProjection(
    'in each space by itself, though their logs are the same',
    async (projection, log, { store }) => {
      const drafts = randomDrafts(7, 200)
      const other = await store.open('other')
      const others = await other.project(safety)
      await Promise.all([project(projection, log, drafts), project(others, other, drafts)])
      assert.deepEqual(await contentsOf(projection), expectedOf(drafts, log))
      assert.deepEqual(await contentsOf(others), expectedOf(drafts, other, { space: 'other' }))
      await projection.rebuild()
      await projection.prune('2030-01-01T00:00:00.000Z')
      assert.deepEqual(await contentsOf(others), expectedOf(drafts, other, { space: 'other' }))
    },
  )

  withProjection('by the rules for what may be seen, and by others from then on', async (projection, log) => {
    const call = {
      method: 'tools/call',
      params: { name: 'tell', arguments: { text: 'the word is open-sesame' } },
    }
    const asked = (seq: number) => draftOf(seq, { kind: Kind.mcpRequest, from: 'ana', payload: call })
    const rule = { name: 'word', pattern: 'open-\\w+', action: 'mask' } as const
    await project(projection, log, [asked(1)])
    await projection.configure({ ...defaultSafety, rules: [rule] })
    await project(projection, log, [asked(2)])
    const turns = await projection.trail({ limit: 9 })
    assert.deepEqual(
      turns.map(({ decisions }) => decisions[0]?.parameters),
      [{ text: 'the word is open-sesame' }, { text: 'the word is [redacted:word]' }],
    )
  })

  withProjection('until it is closed, and again when it is opened', async (projection, log, { store }) => {
    const drafts = randomDrafts(8, 100)
    await project(projection, log, drafts.slice(0, 50))
    assert.equal(await log.project(safety), projection)
    await log.close()
    await assertRefused(projection.advance(100), 'closed')
    await assertRefused(projection.turns({ thread: 'main/ana', limit: 1 }), 'closed')
    await assertRefused(projection.keep(1), 'closed')
    await assertRefused(log.project(safety), 'closed')
    const again = await store.open('main')
    const next = await again.project(safety)
    assert.equal(next.seq, 50)
    await project(next, again, drafts.slice(50))
    assert.deepEqual(await contentsOf(next), expectedOf(drafts, log))
  })
}
