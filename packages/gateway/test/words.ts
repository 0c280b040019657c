import { existsSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { expect, vi } from 'vitest'
import { indexPathOf } from './indexed.js'

/** Number of segments in the word index of the log at this path. */
function countWordSegments(path: string): number {
  if (!existsSync(indexPathOf(path))) return 0
  const db = new Sqlite(indexPathOf(path), { readonly: true })
  try {
    return Number(db.prepare('SELECT count(*) FROM segments').pluck().get())
  } finally {
    db.close()
  }
}

/** Resolves when this number of segments is indexed. */
export const whenWordsIndexed = (path: string, segments: number): Promise<void> =>
  vi.waitFor(() => expect(countWordSegments(path)).toBe(segments), { timeout: 20_000, interval: 20 })
