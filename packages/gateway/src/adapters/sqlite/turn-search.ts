import type Database from 'better-sqlite3'
import type { TrailQuery, TurnQuery } from '../../ports/projection.js'
import { chains, type HeadRows, isUnbroken, type Key, type Link } from './chains.js'
import type { ProjectedLog } from './projected-log.js'
import { damaged } from './row-digest.js'
import type { TurnRow, TurnRows } from './turn-rows.js'

type Found = Link & { readonly id: string }

/** Finds turns and jobs of one log, whole and all of them: throws a `LogError` of code `projection` where one is missing. */
export class TurnSearch {
  readonly #db: Database.Database
  readonly #log: ProjectedLog
  readonly #heads: HeadRows
  readonly #rows: TurnRows

  constructor(db: Database.Database, heads: HeadRows, rows: TurnRows, log: ProjectedLog) {
    this.#db = db
    this.#log = log
    this.#heads = heads
    this.#rows = rows
  }

  /** Of this log; `undefined` = there is none. */
  find(id: string): TurnRow | undefined {
    const row = this.#rows.find(id)
    return row?.session_id === this.#log.epoch ? row : undefined
  }

  /** Ids, the newest first. */
  turns({ thread, before, limit }: TurnQuery): string[] {
    const found = this.#all(
      `SELECT id, turn_number AS key, previous_number AS previous FROM turns
        WHERE session_id = ? AND thread_id = ? AND turn_number < ? ORDER BY turn_number DESC LIMIT ?`,
      ...[this.#log.epoch, thread, before ?? Number.MAX_SAFE_INTEGER, limit],
    )
    const newest = this.#numberBefore(thread, before)
    const isOutside = () => false
    const isWhole = isUnbroken(found, { newest, ...(found.length < limit && { isOutside }) })
    if (!isWhole) throw damaged(`the turns of ${thread}`)
    return found.map(({ id }) => id)
  }

  /** Ids of turns and jobs, the oldest first. */
  trail({ after = '', thread, turn, limit }: TrailQuery): string[] {
    if (thread !== undefined && turn !== undefined) {
      const found = this.numbered(thread, turn)
      return found !== undefined && found.id > after && limit > 0 ? [found.id] : []
    }
    const found =
      thread === undefined
        ? this.#all(
            `SELECT id, id AS key, previous FROM turns WHERE session_id = ? AND id > ? ORDER BY id LIMIT ?`,
            ...[this.#log.epoch, after, limit],
          )
        : this.#all(
            `SELECT id, id AS key, previous_in_thread AS previous FROM turns
              WHERE session_id = ? AND thread_id = ? AND id > ? ORDER BY id LIMIT ?`,
            ...[this.#log.epoch, thread, after, limit],
          )
    const ends = {
      ...(found.length < limit && { newest: this.#heads.get(this.#log.space, chains.turns(thread)) }),
      isOutside: (key: Key) => key <= after,
    }
    if (limit > 0 && !isUnbroken(found.toReversed(), ends)) throw damaged('the turns of the space')
    return found.map(({ id }) => id)
  }

  /** The turn with this number; `undefined` = there is none. */
  numbered(thread: string, turn: number): TurnRow | undefined {
    const [id] = this.turns({ thread, before: turn + 1, limit: 1 })
    const latest = id === undefined ? undefined : this.#rows.get(id)
    return latest?.turn_number === turn ? latest : undefined
  }

  /** Number of the last turn of a thread, or of the last before a number, as what comes after it tells. */
  #numberBefore(thread: string, before: number | undefined): number | null {
    const next =
      before === undefined
        ? undefined
        : this.#db
            .prepare<[string, string, number], string>(
              `SELECT id FROM turns WHERE session_id = ? AND thread_id = ? AND turn_number >= ?
                ORDER BY turn_number LIMIT 1`,
            )
            .pluck()
            .get(this.#log.epoch, thread, before)
    if (next !== undefined) return this.#rows.get(next).previous_number
    const newest = this.#heads.get(this.#log.space, chains.numbers(thread))
    return newest === null ? null : Number(newest)
  }

  #all(sql: string, ...values: readonly (string | number)[]): Found[] {
    return this.#db.prepare<(string | number)[], Found>(sql).all(...values)
  }
}
