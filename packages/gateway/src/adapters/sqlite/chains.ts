import type Database from 'better-sqlite3'
import { damaged, digestOf } from './row-digest.js'

/** By which a row is named in a chain: later ones are greater. */
export type Key = string | number

/** A row, and the one before it in its chain; `null` = it is the first. */
export interface Link {
  readonly key: Key
  readonly previous: Key | null
}

/** What is known of the rows around those that were found. */
interface Ends {
  /** What comes next says that this is the newest; `undefined` = there may be newer ones, which were not asked for. */
  readonly newest?: Key | null
  /** Whether a row with this key is not asked for, or need not be there any more; absent = there may be older ones. */
  isOutside?(key: Key): boolean
}

/** Whether these are rows of one chain, the newest first, and all that it has between these ends. */
export function isUnbroken(links: readonly Link[], { newest, isOutside }: Ends): boolean {
  let expected = newest
  for (const { key, previous } of links) {
    if (expected !== undefined && key !== expected) return false
    expected = previous
  }
  if (isOutside === undefined || expected === undefined || expected === null) return true
  return isOutside(expected)
}

/** The rows of one kind, narrowed by what is asked for, in their order. */
export interface Chain {
  /** Empty = of the space. */
  readonly thread: string
  readonly name: string
}

/** The chains of one space. */
export const chains = {
  turns: (thread = ''): Chain => ({ thread, name: 'turns' }),
  numbers: (thread: string): Chain => ({ thread, name: 'numbers' }),
  steps: (phase: string, thread = ''): Chain => ({ thread, name: `steps ${phase}` }),
  ends: { thread: '', name: 'ends' },
}

/** Keys of the newest rows, by the names of the chains of one thread. */
type Newest = Record<string, string | null>

interface StoredHeads {
  /** JSON */
  readonly newest: string
  readonly digest: string
}

/** Where chains end, as the file has it. Throws a `LogError` of code `projection` where that is damaged. */
export class HeadRows {
  readonly #select: Database.Statement<[number, string], StoredHeads>
  readonly #put: Database.Statement<[number, string, string, string]>

  constructor(db: Database.Database) {
    this.#select = db.prepare('SELECT newest, digest FROM projection_heads WHERE space = ? AND thread_id = ?')
    this.#put = db.prepare(
      `INSERT INTO projection_heads VALUES (?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET newest = excluded.newest, digest = excluded.digest`,
    )
  }

  /** Key of the newest row; `null` = there is none. */
  get(space: number, { thread, name }: Chain): string | null {
    return this.of(space, thread)[name] ?? null
  }

  of(space: number, thread: string): Newest {
    const stored = this.#select.get(space, thread)
    if (stored === undefined) return {}
    if (stored.digest !== digestIn(space, thread, stored.newest)) throw damaged('the newest turns and steps')
    return JSON.parse(stored.newest) as Newest
  }

  put(space: number, thread: string, newest: Newest): void {
    const json = JSON.stringify(newest)
    this.#put.run(space, thread, json, digestIn(space, thread, json))
  }
}

const digestIn = (space: number, thread: string, newest: string): string =>
  digestOf('heads', [space, thread, newest])

/** Where the chains of one space end, for one transaction: what is set is written by `store`. */
export class Heads {
  readonly #rows: HeadRows
  readonly #space: number
  readonly #known = new Map<string, Newest>()
  readonly #changed = new Set<string>()

  constructor(rows: HeadRows, space: number) {
    this.#rows = rows
    this.#space = space
  }

  /** Key of the newest row; `null` = there is none. Throws as `HeadRows` does. */
  get({ thread, name }: Chain): string | null {
    return this.#of(thread)[name] ?? null
  }

  set({ thread, name }: Chain, newest: string | null): void {
    this.#of(thread)[name] = newest
    this.#changed.add(thread)
  }

  store(): void {
    for (const thread of this.#changed) this.#rows.put(this.#space, thread, this.#of(thread))
    this.#changed.clear()
  }

  #of(thread: string): Newest {
    const known = this.#known.get(thread) ?? this.#rows.of(this.#space, thread)
    this.#known.set(thread, known)
    return known
  }
}
