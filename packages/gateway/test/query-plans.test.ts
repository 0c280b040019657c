import { sqliteStore } from '@meup/gateway'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { Filter } from '../src/ports/envelope-log.js'
import { buildSelect } from '../src/storage/sqlite/pages.js'
import type { Range } from '../src/storage/sqlite/rows.js'
import { temporaryFile } from './support.js'

const range = { space: 1, after: 10, before: 20, limit: 256, maxBytes: 1 }

/** SQLite's query plan for the table of envelopes. */
async function planOf(filter: Filter, order: Range['order']): Promise<string[]> {
  const path = temporaryFile('log.db')
  await (await sqliteStore({ path })).close()
  const db = new Database(path, { readonly: true })
  const { sql, values } = buildSelect({ ...range, order, filter })
  const plan = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...values)
  db.close()
  return plan.map(({ detail }) => detail).filter((detail) => detail.includes('envelopes'))
}

const byPlace = 'sqlite_autoindex_envelopes_1 (space=? AND seq>? AND seq<?)'

test.each<[string, Filter, string[]]>([
  ['everything', {}, [byPlace]],
  ['some kinds', { kinds: ['chat', 'system.decision'] }, [byPlace]],
  ['answers', { correlationId: 'x' }, [byPlace]],
  ['rows by their seqs', { seqs: [12, 15] }, ['sqlite_autoindex_envelopes_1 (space=? AND seq=?)']],
  ['decisions', { kinds: ['system.decision'] }, ['envelopes_decisions (space=? AND seq>? AND seq<?)']],
  [
    'a context',
    { context: 'run/step', kinds: ['chat'] },
    [
      'sqlite_autoindex_envelopes_1 (space=? AND seq=?)',
      'envelopes_context (space=? AND context=? AND seq>? AND seq<?)',
      'envelopes_context (space=? AND context>? AND context<?)',
      'sqlite_autoindex_envelopes_2 (space=? AND id=?)',
    ],
  ],
])('a page of %s is found by an index, and is in order without sorting', async (_, filter, indexes) => {
  for (const order of ['asc', 'desc'] as const) {
    const plan = await planOf(filter, order)
    expect(plan).toHaveLength(indexes.length)
    for (const [which, index] of indexes.entries()) {
      expect(plan[which]).toMatch(/^SEARCH envelopes USING (COVERING )?INDEX/)
      expect(plan[which]).toContain(index)
    }
  }
})
