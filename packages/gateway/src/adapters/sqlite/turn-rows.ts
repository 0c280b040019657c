import type Database from 'better-sqlite3'
import { damaged, digestOf, type Value } from './row-digest.js'

/** A row of `turns` without its digest. */
export interface TurnRow {
  readonly id: string
  readonly session_id: string
  readonly thread_id: string
  readonly turn_number: number | null
  readonly timestamp: string
  readonly state: string
  readonly input_source: string
  readonly changed_at: string
  /** JSON of the turn without its decisions. */
  readonly record: string
  readonly decisions: number
  readonly last_step: string | null
  readonly previous: string | null
  readonly previous_in_thread: string | null
  readonly previous_number: number | null
}

/** What only the tables know of a turn: its neighbours, and its last step. */
export type TurnLinks = Pick<TurnRow, 'last_step' | 'previous' | 'previous_in_thread' | 'previous_number'>

/** The columns, in the order of the table. */
const columns: readonly (keyof TurnRow)[] = [
  ...(['id', 'session_id', 'thread_id', 'turn_number', 'timestamp', 'state', 'input_source'] as const),
  ...(['changed_at', 'record', 'decisions', 'last_step'] as const),
  ...(['previous', 'previous_in_thread', 'previous_number'] as const),
]
/** Those that change as a turn goes on, or as its neighbours come and go. */
const changing = columns.slice(columns.indexOf('state')).filter((column) => column !== 'input_source')

/** Reads and writes rows of turns. What is read is whole: throws a `LogError` of code `projection` where it is damaged. */
export class TurnRows {
  readonly #select: Database.Statement<[string], TurnRow & { readonly digest: string }>
  readonly #links: Database.Statement<[string], TurnLinks>
  readonly #insert: Database.Statement<Value[]>
  readonly #update: Database.Statement<Value[]>

  constructor(db: Database.Database) {
    this.#select = db.prepare('SELECT * FROM turns WHERE id = ?')
    this.#links = db.prepare(
      'SELECT last_step, previous, previous_in_thread, previous_number FROM turns WHERE id = ?',
    )
    const names = [...columns, 'digest']
    const places = names.map(() => '?').join(', ')
    this.#insert = db.prepare(`INSERT OR FAIL INTO turns (${names.join(', ')}) VALUES (${places})`)
    const changes = [...changing, 'digest'].map((name) => `${name} = ?`)
    this.#update = db.prepare(`UPDATE turns SET ${changes.join(', ')} WHERE id = ?`)
  }

  /** `undefined` = there is no such turn. */
  find(id: string): TurnRow | undefined {
    const stored = this.#select.get(id)
    if (stored === undefined) return undefined
    const { digest, ...row } = stored
    if (digest !== digestIn(row)) throw damaged(`turn ${id}`)
    return row
  }

  /** Throws also where there is none. */
  get(id: string): TurnRow {
    const row = this.find(id)
    if (row === undefined) throw damaged(`turn ${id}`)
    return row
  }

  /** Whatever the rest of the row says, to be written anew: what reads them later sees whether they fit. */
  linksOf(id: string): TurnLinks | undefined {
    return this.#links.get(id)
  }

  insert(row: TurnRow): void {
    this.#insert.run(...columns.map((column) => row[column]), digestIn(row))
  }

  update(row: TurnRow): void {
    this.#update.run(...changing.map((column) => row[column]), digestIn(row), row.id)
  }
}

const digestIn = (row: TurnRow): string =>
  digestOf(
    'turns',
    columns.map((column) => row[column]),
  )
