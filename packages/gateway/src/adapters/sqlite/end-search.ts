import type { BatchEnd, Quoted } from '@meup/views'
import type Database from 'better-sqlite3'
import type { EndRange } from '../../ports/projection.js'
import { chains, type HeadRows, isUnbroken, type Key } from './chains.js'
import { type EndRow, endDigest, endKey, partsOfKey } from './end-rows.js'
import type { ProjectedLog } from './projected-log.js'
import { placeOf } from './projection-place.js'
import { damaged } from './row-digest.js'
import type { StoredTurns } from './stored-turns.js'

type StoredEnd = EndRow & { readonly digest: string }

/** Batches of one log that ended in a part of it, all of them. Throws a `LogError` of code `projection` where one is damaged. */
export function findEnds(
  db: Database.Database,
  heads: HeadRows,
  log: ProjectedLog,
  turns: StoredTurns,
  { after, through, limit }: EndRange,
): BatchEnd[] {
  const select = 'SELECT * FROM batch_ends WHERE space = ?'
  const found = db
    .prepare<number[], StoredEnd>(`${select} AND seq > ? AND seq <= ? ORDER BY seq, number LIMIT ?`)
    .all(log.space, after, through, limit)
  const next = db
    .prepare<number[], StoredEnd>(`${select} AND seq > ? ORDER BY seq, number LIMIT 1`)
    .get(log.space, through)
  const newest = next === undefined ? heads.get(log.space, chains.ends) : next.previous
  const { kept } = placeOf(db, log)
  const isOutside = (key: Key) => {
    const { at, seq } = partsOfKey(`${key}`)
    return seq <= after || at < kept
  }
  const links = found.map((row) => ({ key: endKey(row), previous: row.previous })).reverse()
  const isWhole = isUnbroken(links, { isOutside, ...(found.length < limit && { newest }) })
  const isSound = ({ digest, ...row }: StoredEnd) => digest === endDigest(row)
  if (!isWhole || ![...found, ...(next ? [next] : [])].every(isSound)) throw damaged('the ends of batches')
  return found.map(({ seq, turn_id, narrative }) => ({
    seq,
    turn: turns.reported(turn_id),
    narrative: JSON.parse(narrative) as Quoted | null,
  }))
}
