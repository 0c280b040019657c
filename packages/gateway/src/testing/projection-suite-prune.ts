import assert from 'node:assert/strict'
import {
  contentsOf,
  expectedOf,
  project,
  pruneThrough,
  safety,
  type WithProjection,
} from './projection-fixtures.js'
import { randomDrafts } from './random-drafts.js'

export function describePruned(withProjection: WithProjection): void {
  withProjection('with the log, and goes on as if all of it were there', async (projection, log, opened) => {
    const drafts = randomDrafts(21, 900)
    await project(projection, log, drafts.slice(0, 600))
    const { steps } = await contentsOf(projection)
    const since = drafts[300]?.ts ?? ''
    const removed = await pruneThrough(projection, log, drafts, 300)
    assert.equal(removed, steps.filter(({ created_at }) => created_at < since).length)
    assert.deepEqual(await contentsOf(projection), expectedOf(drafts.slice(0, 600), log, { since }))
    await project(projection, log, drafts.slice(600, 750))
    const again = await (await opened.reopen()).open('main')
    const next = await again.project(safety)
    await project(next, again, drafts.slice(750))
    assert.deepEqual(await contentsOf(next), expectedOf(drafts, log, { since }))
  })

  withProjection('and made again from what is left, with the same', async (projection, log, opened) => {
    const drafts = randomDrafts(22, 800)
    await project(projection, log, drafts.slice(0, 500))
    await pruneThrough(projection, log, drafts, 200)
    await pruneThrough(projection, log, drafts, 320)
    await project(projection, log, drafts.slice(500))
    const since = drafts[320]?.ts ?? ''
    const expected = expectedOf(drafts, log, { since })
    assert.deepEqual(await contentsOf(projection), expected)
    await projection.rebuild()
    assert.equal(projection.seq, 800)
    assert.deepEqual(await contentsOf(projection), expected)
    const again = await (await opened.reopen()).open('main')
    const next = await again.project(safety)
    await next.rebuild()
    assert.deepEqual(await contentsOf(next), expected)
  })

  withProjection('of what is older alone, by its time', async (projection, log) => {
    const drafts = randomDrafts(23, 300)
    await project(projection, log, drafts)
    assert.equal(await projection.older(''), 0)
    assert.equal(await projection.prune(''), 0)
    const since = drafts[100]?.ts ?? ''
    assert.ok((await projection.prune(since)) > 0)
    assert.equal(await projection.prune(drafts[50]?.ts ?? ''), 0)
    assert.deepEqual(await contentsOf(projection), expectedOf(drafts, log, { since }))
    await projection.rebuild()
    assert.deepEqual(
      await contentsOf(projection),
      expectedOf(drafts, log, { since }),
      'what was pruned stays pruned',
    )
  })

  withProjection('though the log was not, after all', async (projection, log) => {
    const drafts = randomDrafts(24, 400)
    await project(projection, log, drafts.slice(0, 300))
    await projection.keep(100)
    await projection.keep(100)
    await project(projection, log, drafts.slice(300))
    await projection.rebuild()
    assert.deepEqual(await contentsOf(projection), expectedOf(drafts, log))
  })

  withProjection('begins where the log does, if it was pruned before', async (projection, log, { store }) => {
    const drafts = randomDrafts(25, 300)
    const other = await store.open('other')
    await other.append(drafts)
    await other.prune(200, new Uint8Array())
    const late = await other.project(safety)
    assert.equal(late.seq, 200)
    await late.advance(300)
    assert.deepEqual(await contentsOf(late), expectedOf(drafts.slice(200), other, { space: 'other' }))
    await project(projection, log, drafts)
    assert.equal((await contentsOf(projection)).turns.length > 0, true)
  })
}
