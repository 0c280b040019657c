import { existsSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { expect, vi } from 'vitest'
import { indexPathOf } from './indexed.js'

/** How many segments of the log at this path are in its index of words. */
function countWordSegments(path: string): number {
  if (!existsSync(indexPathOf(path))) return 0
  const db = new Sqlite(indexPathOf(path), { readonly: true })
  try {
    return Number(db.prepare('SELECT count(*) FROM segments').pluck().get())
  } finally {
    db.close()
  }
}

/** Resolves when this many are indexed. */
export const whenWordsIndexed = (path: string, segments: number): Promise<void> =>
  vi.waitFor(() => expect(countWordSegments(path)).toBe(segments), { timeout: 20_000, interval: 20 })
