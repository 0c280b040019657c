import type Database from 'better-sqlite3'
import { type Chain, chains, type Heads } from './chains.js'
import { damaged } from './row-digest.js'
import type { TurnRow, TurnRows } from './turn-rows.js'

type Linked = 'previous' | 'previous_in_thread' | 'previous_number'
type Begun = Omit<TurnRow, Linked>

/** One of the orders in which turns and jobs are read. */
interface Order {
  readonly link: Linked
  chain(turn: Begun): Chain
  /** What the next one has as its link; `null` = it is not in this chain. */
  keyOf(turn: Begun): string | number | null
  /** Finds the next one: SQL with the columns of the turn. */
  readonly next: string
}

const all: readonly Order[] = [
  {
    link: 'previous',
    chain: () => chains.turns(),
    keyOf: ({ id }) => id,
    next: 'SELECT id FROM turns WHERE session_id = @session_id AND id > @id ORDER BY id LIMIT 1',
  },
  {
    link: 'previous_in_thread',
    chain: ({ thread_id }) => chains.turns(thread_id),
    keyOf: ({ id }) => id,
    next: `SELECT id FROM turns WHERE session_id = @session_id AND thread_id = @thread_id AND id > @id
      ORDER BY id LIMIT 1`,
  },
  {
    link: 'previous_number',
    chain: ({ thread_id }) => chains.numbers(thread_id),
    keyOf: ({ turn_number }) => turn_number,
    next: `SELECT id FROM turns WHERE session_id = @session_id AND thread_id = @thread_id
      AND turn_number > @turn_number ORDER BY turn_number LIMIT 1`,
  },
]

/** Keeps each turn and job linked to the one before it, so that none can be missing unnoticed. For one transaction. */
export class TurnChains {
  readonly #db: Database.Database
  readonly #rows: TurnRows
  readonly #heads: Heads
  readonly #relinked = new Map<string, TurnRow>()

  constructor(db: Database.Database, rows: TurnRows, heads: Heads) {
    this.#db = db
    this.#rows = rows
    this.#heads = heads
  }

  /** Puts a turn that is new to the tables at its place: the end, unless it was left out before. Gives its links. */
  link(turn: Begun): Pick<TurnRow, Linked> {
    const links = { previous: null, previous_in_thread: null, previous_number: null }
    for (const order of all) Object.assign(links, { [order.link]: this.#put(order, turn) })
    this.store()
    return links
  }

  /** Takes a turn out, which is to be deleted next. `store` is to be called when all are. */
  unlink(id: string): void {
    const turn = this.#get(id)
    for (const order of all) this.#take(order, turn)
    this.#relinked.delete(id)
  }

  /** Writes the rows whose links have changed. */
  store(): void {
    for (const row of this.#relinked.values()) this.#rows.update(row)
    this.#relinked.clear()
  }

  #put(order: Order, turn: Begun): string | number | null {
    const key = order.keyOf(turn)
    if (key === null) return null
    const newest = this.#newest(order, turn)
    if (newest === null || newest < key) {
      this.#heads.set(order.chain(turn), `${key}`)
      return newest
    }
    const next = this.#next(order, turn)
    if (next === undefined) throw damaged(`the turns after ${turn.id}`)
    this.#relink(next, order, key)
    return next[order.link]
  }

  #take(order: Order, turn: TurnRow): void {
    const key = order.keyOf(turn)
    if (key === null) return
    const before = turn[order.link]
    const next = this.#next(order, turn)
    const known = next === undefined ? this.#newest(order, turn) : next[order.link]
    if (known !== key) throw damaged(`the turns around ${turn.id}`)
    if (next === undefined) this.#heads.set(order.chain(turn), before === null ? null : `${before}`)
    else this.#relink(next, order, before)
  }

  #newest(order: Order, turn: Begun): string | number | null {
    const newest = this.#heads.get(order.chain(turn))
    return newest !== null && order.link === 'previous_number' ? Number(newest) : newest
  }

  #next({ next }: Order, turn: Begun): TurnRow | undefined {
    const id = this.#db.prepare<[object], string>(next).pluck().get(turn)
    return id === undefined ? undefined : this.#get(id)
  }

  #relink(row: TurnRow, { link }: Order, previous: string | number | null): void {
    this.#relinked.set(row.id, { ...row, [link]: previous })
  }

  #get(id: string): TurnRow {
    return this.#relinked.get(id) ?? this.#rows.get(id)
  }
}
