import assert from 'node:assert/strict'
import type { StoreUnderTest } from './log-fixtures.js'
import type { TestRunner } from './log-suite.js'
import { contentsOf, safety, type WithProjection } from './projection-fixtures.js'
import { describeLife } from './projection-suite-life.js'
import { describePruned } from './projection-suite-prune.js'
import { describeQueries } from './projection-suite-queries.js'

/**
 * The tests that the projection of every log passes. `open` is called once per test.
 *
 *     describeProjection('my log', openMyStore, { describe, test })
 */
export function describeProjection(
  name: string,
  open: () => Promise<StoreUnderTest>,
  { describe, test }: TestRunner,
): void {
  const withProjection: WithProjection = (title, body) =>
    test(title, async () => {
      const opened = await open()
      try {
        const log = await opened.store.open('main')
        await body(await log.project(safety), log, opened)
      } finally {
        await opened.dispose()
      }
    })

  describe(name, () => {
    withProjection('of an empty log knows nothing', async (projection) => {
      assert.equal(projection.seq, 0)
      assert.deepEqual(await projection.advance(0), [])
      assert.deepEqual(await contentsOf(projection), { turns: [], steps: [], events: [] })
      assert.equal(await projection.prune('2030-01-01T00:00:00.000Z'), 0)
    })
    describe('goes on', () => describeLife(withProjection))
    describe('is asked', () => describeQueries(withProjection))
    describe('is pruned', () => describePruned(withProjection))
  })
}
