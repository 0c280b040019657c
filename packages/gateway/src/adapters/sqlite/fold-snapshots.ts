import { createHash } from 'node:crypto'
import type Database from 'better-sqlite3'

/** Bytes that are written in one transaction: appends wait for it. */
const partBytes = 1024 * 1024

/** What a snapshot of another meaning would not match. */
const format = 'turns 1'

interface Saved {
  readonly seq: number
  readonly digest: Uint8Array
}

/** Where a snapshot is, and what it holds. */
export interface Restored {
  readonly seq: number
  readonly snapshot: unknown
  readonly bytes: number
}

/** Snapshots of the fold of one space, so that not all of the log must be folded again. */
export class FoldSnapshots {
  readonly #db: Database.Database
  readonly #space: number

  constructor(db: Database.Database, space: number) {
    this.#db = db
    this.#space = space
  }

  /**
   * The newest from seq `from` to `to` that is whole; of the bases alone if asked. Those that are not are removed, and their
   * seqs added to `damaged`.
   */
  find(from: number, to: number, { bases }: { bases: boolean }, damaged: number[]): Restored | undefined {
    const saved = this.#db.prepare<[number, number, number, number], Saved>(
      `SELECT seq, digest FROM fold_snapshots
        WHERE space = ? AND seq BETWEEN ? AND ? AND is_base >= ? ORDER BY seq DESC`,
    )
    for (const { seq, digest } of saved.all(this.#space, from, to, bases ? 1 : 0)) {
      const bytes = this.#read(seq)
      if (digestOf(bytes).equals(digest)) {
        return { seq, snapshot: JSON.parse(bytes.toString()), bytes: bytes.length }
      }
      this.#db.prepare('DELETE FROM fold_snapshots WHERE space = ? AND seq = ?').run(this.#space, seq)
      damaged.push(seq)
    }
    return undefined
  }

  /** Gives the number of bytes. It counts when all of it is there. */
  save(seq: number, snapshot: unknown, isBase: boolean): number {
    const bytes = Buffer.from(JSON.stringify(snapshot))
    this.#db.prepare('DELETE FROM fold_snapshot_parts WHERE space = ? AND seq = ?').run(this.#space, seq)
    const put = this.#db.prepare('INSERT INTO fold_snapshot_parts VALUES (?, ?, ?, ?)')
    for (let part = 0; part * partBytes < bytes.length; part++) {
      put.run(this.#space, seq, part, bytes.subarray(part * partBytes, (part + 1) * partBytes))
    }
    this.#db
      .prepare(
        `INSERT INTO fold_snapshots VALUES (?, ?, ?, ?)
          ON CONFLICT DO UPDATE SET is_base = max(is_base, excluded.is_base), digest = excluded.digest`,
      )
      .run(this.#space, seq, isBase ? 1 : 0, digestOf(bytes))
    return bytes.length
  }

  /** Removes what is of no more use where the log was pruned up to `pruned`: all but the newest one, and the bases from there. */
  tidy(pruned: number): void {
    const space = this.#space
    this.#db
      .prepare(
        `DELETE FROM fold_snapshots WHERE space = @space
          AND seq < (SELECT max(seq) FROM fold_snapshots WHERE space = @space)
          AND (is_base = 0 OR seq < @pruned)`,
      )
      .run({ space, pruned })
    const litter = this.#db.prepare<{ space: number }, { seq: number; part: number }>(
      `SELECT seq, part FROM fold_snapshot_parts WHERE space = @space
        AND seq NOT IN (SELECT seq FROM fold_snapshots WHERE space = @space)`,
    )
    const remove = this.#db.prepare(
      'DELETE FROM fold_snapshot_parts WHERE space = ? AND seq = ? AND part = ?',
    )
    for (const { seq, part } of litter.all({ space })) remove.run(space, seq, part)
  }

  /** All but the bases: they cannot be made again. */
  forget(): void {
    this.#db.prepare('DELETE FROM fold_snapshots WHERE space = ? AND is_base = 0').run(this.#space)
  }

  #read(seq: number): Buffer {
    const parts = this.#db.prepare<[number, number], Buffer>(
      'SELECT bytes FROM fold_snapshot_parts WHERE space = ? AND seq = ? ORDER BY part',
    )
    return Buffer.concat(parts.pluck().all(this.#space, seq))
  }
}

const digestOf = (bytes: Uint8Array): Buffer => createHash('sha256').update(format).update(bytes).digest()
