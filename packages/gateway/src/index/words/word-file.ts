import type Database from 'better-sqlite3'
import { type Audience, mayRead, type Reader } from '../../core/may-read.js'
import {
  type BlockSet,
  bucketOf,
  findBlocks,
  intersect,
  maxBits,
  noBlocks,
  type Postings,
  unite,
} from './segment.js'

interface Segment {
  readonly part: number
  readonly bits: number
  readonly always: BlockSet
}

/**
 * Maximum number of classes (distinct audiences of rows) in one space; rows of further classes are searched without the index.
 */
const maxClasses = 1024
/** The class of rows that everyone may read. */
const open = 0
const bucketsPerPart = 2 ** maxBits

/** The words of one space in the index file: its segments, and the classes of their rows, one per distinct audience. */
export class WordFile {
  readonly #db: Database.Database
  readonly #space: number
  readonly #statements = new Map<string, Database.Statement>()
  readonly #classes = new Map<string, number>()
  readonly #audiences = new Map<number, NonNullable<Audience>>()
  readonly #segments: Set<number>

  private constructor(db: Database.Database, space: number) {
    this.#db = db
    this.#space = space
    const segments = this.#prepare<{ segment: number }>('SELECT segment FROM segments WHERE space = ?')
    this.#segments = new Set(segments.all(space).map(({ segment }) => segment))
    const classes = this.#prepare<{ class: number; readers: string }>(
      'SELECT class, readers FROM audiences WHERE space = ?',
    )
    for (const each of classes.all(space)) this.#know(each.class, each.readers)
  }

  /**
   * Drops words that were indexed with another `visibility` of MCP envelopes, because their audiences have changed. `undefined`
   * = the file has another log with this name.
   */
  static open(db: Database.Database, name: string, epoch: string, visibility: string): WordFile | undefined {
    const space = db
      .prepare<[string], { id: number; epoch: string; visibility: string | null }>(
        'SELECT id, epoch, visibility FROM spaces WHERE name = ?',
      )
      .get(name)
    if (space?.epoch !== epoch) return undefined
    if (space.visibility !== visibility) {
      forgetWords(db, space.id)
      db.prepare('UPDATE spaces SET visibility = ? WHERE id = ?').run(visibility, space.id)
    }
    return new WordFile(db, space.id)
  }

  get segments(): ReadonlySet<number> {
    return this.#segments
  }

  get isOpen(): boolean {
    return this.#db.open
  }

  /** Blocks of a segment in which these tokens may be for this reader; `undefined` = not indexed. */
  lookUp(segment: number, tokens: readonly number[], reader: Reader): BlockSet | undefined {
    const found = this.#prepare<Segment>(
      'SELECT part, bits, always FROM segments WHERE space = ? AND segment = ?',
    ).get(this.#space, segment)
    if (found === undefined) return undefined
    const bucketAt = this.#prepare<{ tokens: Uint8Array }>('SELECT tokens FROM words WHERE id = ?')
    let blocks: BlockSet | undefined
    for (const token of tokens) {
      const bucket = bucketAt.get(found.part * bucketsPerPart + bucketOf(token, found.bits))?.tokens
      const set =
        bucket === undefined ? noBlocks() : findBlocks(bucket, token, (each) => this.#mayRead(reader, each))
      if (blocks !== undefined) intersect(set, blocks)
      blocks = set
      if (set.every((byte) => byte === 0)) break
    }
    blocks ??= noBlocks()
    unite(blocks, found.always)
    return blocks
  }

  /** The number of the class of rows with this audience; `undefined` = the space has too many classes. */
  classOf(audience: Audience): number | undefined {
    if (audience === undefined) return open
    const readers = JSON.stringify([[...audience.participants].sort(), audience.isRefusal === true])
    const known = this.#classes.get(readers)
    if (known !== undefined || this.#classes.size >= maxClasses) return known
    const each = this.#classes.size + 1
    this.#prepare('INSERT INTO audiences (space, class, readers) VALUES (?, ?, ?)').run(
      ...[this.#space, each, readers],
    )
    this.#know(each, readers)
    return each
  }

  write(segment: number, postings: Postings, always: BlockSet): void {
    const buckets = postings.encode()
    this.#db.transaction(() => {
      this.#removeRows(segment)
      const { lastInsertRowid } = this.#prepare(
        'INSERT INTO segments (space, segment, bits, always) VALUES (?, ?, ?, ?)',
      ).run(this.#space, segment, Math.log2(buckets.length), always)
      const insert = this.#prepare('INSERT INTO words (id, tokens) VALUES (?, ?)')
      for (const [bucket, tokens] of buckets.entries()) {
        if (tokens.length > 0) insert.run(Number(lastInsertRowid) * bucketsPerPart + bucket, tokens)
      }
    })()
    this.#segments.add(segment)
  }

  remove(segments: readonly number[]): void {
    this.#db.transaction(() => {
      for (const segment of segments) this.#removeRows(segment)
    })()
    for (const segment of segments) this.#segments.delete(segment)
  }

  #removeRows(segment: number): void {
    const parts = this.#prepare<{ part: number }>('SELECT part FROM segments WHERE space = ? AND segment = ?')
    for (const { part } of parts.all(this.#space, segment)) {
      this.#prepare('DELETE FROM words WHERE id >= ? AND id < ?').run(
        part * bucketsPerPart,
        (part + 1) * bucketsPerPart,
      )
      this.#prepare('DELETE FROM segments WHERE part = ?').run(part)
    }
  }

  #mayRead(reader: Reader, each: number): boolean {
    return each === open || (this.#audiences.has(each) && mayRead(reader, this.#audiences.get(each)))
  }

  #know(each: number, readers: string): void {
    const [participants, isRefusal] = JSON.parse(readers) as [string[], boolean]
    this.#classes.set(readers, each)
    this.#audiences.set(each, {
      ...{ participants: new Set(participants), isWithheld: false },
      ...(isRefusal && { isRefusal: true }),
    })
  }

  #prepare<Found>(sql: string): Database.Statement<unknown[], Found> {
    const prepared = this.#statements.get(sql) ?? this.#db.prepare(sql)
    this.#statements.set(sql, prepared)
    return prepared as Database.Statement<unknown[], Found>
  }
}

/** Removes the words of a space from the file. */
export function forgetWords(db: Database.Database, space: number): void {
  db.prepare(
    `DELETE FROM words WHERE id IN (SELECT words.id FROM segments JOIN words
      ON words.id >= segments.part * ${bucketsPerPart} AND words.id < (segments.part + 1) * ${bucketsPerPart} WHERE space = ?)`,
  ).run(space)
  for (const table of ['segments', 'audiences']) db.prepare(`DELETE FROM ${table} WHERE space = ?`).run(space)
}
