import { Assigner, type AssignSnapshot, type Beginning, endingRoles, type Mark, phaseBits } from '@meup/folds'
import type { Envelope, Phase } from '@meup/protocol'
import type Database from 'better-sqlite3'
import { parseEnvelope, readErasure } from '../log/entries.js'
import type { Entry, EnvelopeLog, Row } from '../ports/envelope-log.js'
import { damaged } from './index-file.js'
import { forgetWords } from './words/word-file.js'

/** An envelope of a turn, and what it does there. */
export interface Place {
  readonly seq: number
  readonly roles: number
  /** Steps that are made of it in the turn. */
  readonly steps: number
}

/** Where the steps of an envelope are, in one turn. */
export interface StepPlace {
  readonly seq: number
  readonly turn: Beginning
  /** Milliseconds of the log's time. */
  readonly at: number
  /** Number of the first one in its turn, how many they are, and where their ids begin. */
  readonly step: number
  readonly steps: number
  readonly start: number
}

/** An envelope that may have ended a batch of calls of a turn. */
export interface Ended {
  readonly seq: number
  readonly turn: Beginning
}

/** A row of the log, by its hash; without one it is not in the log any more. */
interface Tip {
  readonly seq: number
  readonly hash?: Uint8Array
}

type Values = (string | number | null | Uint8Array)[]

interface Stored {
  readonly id: number
  readonly epoch: string
  readonly seq: number
  readonly hash: Uint8Array | null
  readonly memory: string | null
  readonly memory_seq: number
}

export type StoredPlace = Omit<StepPlace, 'turn'> & { readonly turn: number }

const turnColumns =
  'turn, id, agent, number, job AS jobId, source AS inputSource, trigger, turns.seq AS seq, started AS startedAt'

/** Turns whose beginnings are remembered: those of a page are asked for many times. */
const remembered = 4096
/** Turns of which it is remembered that they went on. */
const maxTouched = 4096

/** The turns of one space: which envelope belongs to which, and where their steps are. */
export type TurnIndex = Pick<SqliteTurnIndex, keyof SqliteTurnIndex>

/** The same in a file beside the log. */
export class SqliteTurnIndex {
  readonly #db: Database.Database
  readonly #space: number
  readonly #epoch: string
  readonly #statements = new Map<string, Database.Statement>()
  #assigner: Assigner
  #stored: Tip = { seq: 0 }
  /** Envelopes up to it have left the log: what began before may have to be told again. */
  #pruned: number
  #savedAt = 0
  readonly #beginnings = new Map<number, Beginning>()
  /** Last envelopes of turns that had some after `#touchedSince`. */
  readonly #touched = new Map<number, number>()
  #touchedSince = Number.POSITIVE_INFINITY

  private constructor(db: Database.Database, space: number, epoch: string, pruned: number) {
    this.#db = db
    this.#space = space
    this.#epoch = epoch
    this.#pruned = pruned
    this.#assigner = new Assigner(epoch)
  }

  /** The index as the file has it, of this log, which was pruned up to `pruned`; one of another log is forgotten. */
  static open(db: Database.Database, name: string, epoch: string, pruned: number): SqliteTurnIndex {
    db.prepare('INSERT OR IGNORE INTO spaces (name, epoch, seq, memory_seq) VALUES (?, ?, 0, 0)').run(
      name,
      epoch,
    )
    const stored = db
      .prepare<[string], Stored>(
        'SELECT spaces.*, memory FROM spaces LEFT JOIN memories ON memories.space = spaces.id WHERE name = ?',
      )
      .get(name)
    if (stored === undefined) throw new Error(`the space ${name} was stored but is not found`)
    const index = new SqliteTurnIndex(db, stored.id, epoch, pruned)
    if (stored.epoch !== epoch) index.begin()
    else index.#restore(stored)
    return index
  }

  /** Last seq that is in it. */
  get seq(): number {
    return this.#assigner.seq
  }

  /**
   * Up to where the file has rows: at a start that may be more than `seq`. Those are taken again, which changes nothing where
   * they are of the same log.
   */
  get stored(): Tip {
    return this.#stored
  }

  /** Whether it can be read and written still: the file may have been found damaged by another space. */
  get isOpen(): boolean {
    return this.#db.open
  }

  /** Forgets everything, and goes on after what `memory` stands for. */
  begin(memory?: AssignSnapshot): void {
    this.#db.transaction(() => {
      for (const table of ['marks', 'turns']) this.#run(`DELETE FROM ${table} WHERE space = ?`, this.#space)
      forgetWords(this.#db, this.#space)
      this.#beginnings.clear()
      this.#touched.clear()
      this.#touchedSince = Number.POSITIVE_INFINITY
      this.#assigner = new Assigner(this.#epoch)
      if (memory !== undefined) this.#assigner.restore(memory)
      this.#pruned = Math.max(this.#pruned, this.seq)
      this.#stored = { seq: this.seq }
      this.#run(
        'UPDATE spaces SET epoch = ?, seq = ?, hash = NULL WHERE id = ?',
        ...[this.#epoch, this.seq, this.#space],
      )
      this.#store()
    })()
  }

  /** Takes the next rows of the log, all or none of them. After a failure it is of no more use. */
  add(rows: readonly Omit<Row, 'salt' | 'leaf' | 'digest'>[], parse = parseEnvelope): void {
    const last = rows.at(-1)
    if (last === undefined) return
    if (this.#touched.size === 0 || this.#touched.size > maxTouched) {
      this.#touched.clear()
      this.#touchedSince = this.seq
    }
    this.#db.transaction(() => {
      for (const row of rows) this.#takeOne(row, parse(row))
      if (last.seq <= this.#stored.seq) return
      this.#run('UPDATE spaces SET seq = ?, hash = ? WHERE id = ?', last.seq, last.hash, this.#space)
      this.#stored = last
    })()
    if (rows.some((row) => readErasure(row) !== undefined)) this.#saveErased()
  }

  /** What was kept to go on from may tell of what is erased; it is overwritten, in the write-ahead log, too. */
  #saveErased(): void {
    this.save()
    this.#db.pragma('wal_checkpoint(TRUNCATE)')
  }

  /** How many envelopes a start would have to take again. */
  get unsaved(): number {
    return this.seq - this.#savedAt
  }

  /** Keeps what it takes to go on from here. */
  save(): void {
    if (this.unsaved > 0) this.#db.transaction(() => this.#store())()
  }

  /** The newest first. */
  turns(agent: string, before: number, limit: number): Beginning[] {
    return this.#all<Beginning>(
      `SELECT ${turnColumns} FROM turns WHERE space = ? AND agent = ? AND number < ? ORDER BY number DESC LIMIT ?`,
      ...[this.#space, agent, before, limit],
    )
  }

  turn(agent: string, number: number): Beginning | undefined {
    const [turn] = this.turns(agent, number + 1, 1)
    return turn?.number === number ? turn : undefined
  }

  /** The turns that an envelope belongs to or triggers, the newest first. */
  turnsOf(seq: number): Beginning[] {
    return this.#all<Beginning>(
      `SELECT ${turnColumns} FROM turns WHERE space = ?
        AND turn IN (SELECT turn FROM marks WHERE space = ? AND marks.seq = ?
          UNION SELECT turn FROM turns WHERE space = ? AND trigger = ?) ORDER BY turn DESC`,
      ...[this.#space, this.#space, seq, this.#space, seq],
    )
  }

  /** Turns and jobs in the order in which they began, those after `after`. */
  trail(after: number, agent: string | undefined, limit: number): Beginning[] {
    const [byAgent, ...values] = agent === undefined ? [''] : ['AND agent = ?', agent]
    return this.#all<Beginning>(
      `SELECT ${turnColumns} FROM turns WHERE space = ? AND turn > ? ${byAgent} ORDER BY turn LIMIT ?`,
      ...[this.#space, after, ...values, limit],
    )
  }

  /** The same, the newest first: those before `before`. */
  latest(before: number, agent: string | undefined, limit: number): Beginning[] {
    const [byAgent, ...values] = agent === undefined ? [''] : ['AND agent = ?', agent]
    return this.#all<Beginning>(
      `SELECT ${turnColumns} FROM turns WHERE space = ? AND turn < ? ${byAgent} ORDER BY turn DESC LIMIT ?`,
      ...[this.#space, before, ...values, limit],
    )
  }

  /** Whether a turn may have envelopes after `after`, without a look into the file. */
  mayGoOn(turn: number, after: number): boolean {
    return after < this.#touchedSince || (this.#touched.get(turn) ?? 0) > after
  }

  /** The envelopes of a turn after `after`, in log order; only those with one of the `roles`. */
  places(turn: number, after: number, limit: number, roles = ~0): Place[] {
    // Arrays, which cost half of what objects do: a long turn has 100,000 of them.
    const marks = this.#prepared(
      `SELECT seq, roles, steps FROM marks INDEXED BY marks_turn WHERE space = ? AND turn = ? AND seq > ? AND roles & ? <> 0
        ORDER BY seq, place LIMIT ?`,
    )
      .raw()
      .all(this.#space, turn, after, roles, limit) as [seq: number, roles: number, steps: number][]
    return mergePlaces(
      marks.map(([seq, roles, steps]) => ({ seq, roles, steps })),
      limit,
    )
  }

  /**
   * Where steps are, of the newest envelopes first; of one envelope all. `next`: those of smaller seqs are still to be looked
   * at; `undefined` = there are no more.
   */
  steps(query: StepQuery): { readonly places: readonly StepPlace[]; readonly next: number | undefined } {
    const { found, next } = readPage(query, (part, from, limit) => this.#search(part, from, limit))
    return { places: this.#placed(found), next }
  }

  /** Envelopes that may have ended batches, after `after` and not after `through`, in log order. */
  ended(after: number, through: number): Ended[] {
    const found = this.#all<{ seq: number; turn: number }>(
      `SELECT seq, turn FROM marks WHERE space = ? AND seq > ? AND seq <= ? AND roles & ${endingRoles} <> 0
        ORDER BY seq, place`,
      ...[this.#space, after, through],
    )
    return found.map(({ seq, turn }) => ({ seq, turn: this.#beginning(turn) }))
  }

  /** Removes a part of what is about envelopes up to `through`. Whether all of it is gone. */
  prune(through: number): boolean {
    this.#pruned = Math.max(this.#pruned, through)
    return this.#db.transaction(() => {
      const marks = 'SELECT seq, place FROM marks WHERE space = ? AND seq <= ? ORDER BY seq, place LIMIT 2000'
      const removed = this.#run(
        `DELETE FROM marks WHERE space = ? AND (seq, place) IN (${marks})`,
        ...[this.#space, this.#space, through],
      )
      return removed === 0 && this.#pruneTurns(through) === 0
    })()
  }

  /** Those that began by then, which are the first, and of which nothing is left. */
  #pruneTurns(through: number): number {
    const younger = 'SELECT turn FROM turns WHERE space = ? AND seq > ? ORDER BY turn LIMIT 1'
    const turns = `SELECT turn FROM turns WHERE space = ? AND turn < ifnull((${younger}), ${Number.MAX_SAFE_INTEGER})
      AND NOT EXISTS (SELECT 1 FROM marks WHERE marks.space = turns.space AND marks.turn = turns.turn)
      ORDER BY turn LIMIT 2000`
    return this.#run(
      `DELETE FROM turns WHERE space = ? AND turn IN (${turns})`,
      ...[this.#space, this.#space, this.#space, through],
    )
  }

  #restore({ seq, hash, memory, memory_seq }: Stored): void {
    try {
      if (memory !== null) this.#assigner.restore(JSON.parse(memory) as AssignSnapshot)
    } catch (cause) {
      throw damaged('what it goes on with cannot be read', { cause })
    }
    this.#savedAt = memory_seq
    this.#stored = { seq, ...(hash && { hash }) }
  }

  #store(): void {
    const memory = JSON.stringify(this.#assigner.snapshot())
    this.#run('INSERT OR REPLACE INTO memories (space, memory) VALUES (?, ?)', this.#space, memory)
    this.#run('UPDATE spaces SET memory_seq = ? WHERE id = ?', this.seq, this.#space)
    this.#savedAt = this.seq
  }

  #takeOne({ seq }: Entry, envelope: Envelope): void {
    const { begun, marks, at } = this.#assigner.assign(envelope)
    if (marks.length === 0) return
    for (const beginning of begun) this.#insertTurn(beginning)
    const ms = Date.parse(at)
    for (const [place, mark] of marks.entries()) this.#insertMark(seq, place, mark, ms)
  }

  #insertTurn({ turn, id, agent, number, jobId, inputSource, trigger, seq, startedAt }: Beginning): void {
    this.#run(
      'INSERT OR IGNORE INTO turns VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      ...[this.#space, turn, id, agent, number, jobId, inputSource, trigger, seq, startedAt],
    )
  }

  #insertMark(seq: number, place: number, mark: Mark, at: number): void {
    const { beginning, roles, step, steps, phases, index } = mark
    if (beginning.seq <= this.#pruned) this.#insertTurn(beginning)
    this.#touched.set(beginning.turn, seq)
    this.#run(
      'INSERT OR IGNORE INTO marks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      ...[this.#space, seq, place, beginning.turn, roles, at, step, steps, phases, index],
    )
  }

  #search(query: StepQuery, from: number, limit: number): Found<StoredPlace> {
    const { since, until, before } = query
    const [first, end] = [Math.max(from, this.#seqAt(since, 0)), Math.min(before, this.#seqAt(until, before))]
    const { sql, values, floor } = stepSearch(query, { space: this.#space, first, end, last: this.seq })
    return { found: this.#all<StoredPlace>(sql, ...values, limit), floor }
  }

  /** The first seq in the index whose time is not before this one; `otherwise` where no time is asked for. */
  #seqAt(ms: number | undefined, otherwise: number): number {
    if (ms === undefined) return otherwise
    let [from, to] = [1, this.seq + 1]
    while (from < to) {
      const middle = Math.floor((from + to) / 2)
      const [mark] = this.#all<{ seq: number; at: number }>(
        'SELECT seq, at FROM marks WHERE space = ? AND seq >= ? ORDER BY seq LIMIT 1',
        ...[this.#space, middle],
      )
      if (mark === undefined || mark.at >= ms) to = middle
      else from = mark.seq + 1
    }
    return from
  }

  #placed(found: readonly StoredPlace[]): StepPlace[] {
    return found.map(({ turn, ...place }) => ({ ...place, turn: this.#beginning(turn) }))
  }

  #beginning(turn: number): Beginning {
    const known = this.#beginnings.get(turn)
    if (known !== undefined) return known
    const [found] = this.#all<Beginning>(
      `SELECT ${turnColumns} FROM turns WHERE space = ? AND turn = ?`,
      ...[this.#space, turn],
    )
    if (found === undefined) throw damaged(`it has no turn ${turn}`)
    if (this.#beginnings.size >= remembered) this.#beginnings.clear()
    this.#beginnings.set(turn, found)
    return found
  }

  #run(sql: string, ...values: Values): number {
    return this.#prepared(sql).run(...values).changes
  }

  #all<Found>(sql: string, ...values: Values): Found[] {
    return this.#prepared(sql).all(...values) as Found[]
  }

  #prepared(sql: string): Database.Statement {
    const statement = this.#statements.get(sql) ?? this.#db.prepare(sql)
    this.#statements.set(sql, statement)
    return statement
  }
}

/** What each envelope does in a turn as one, by its marks, of which there may be more than these `limit`. */
export function mergePlaces(marks: readonly Place[], limit: number): Place[] {
  const places: Place[] = []
  for (const { seq, roles, steps } of marks) {
    const last = places.at(-1)
    if (last?.seq !== seq) places.push({ seq, roles, steps })
    else places[places.length - 1] = { seq, roles: last.roles | roles, steps: last.steps + steps }
  }
  // Of the last envelope there may be another mark.
  return marks.length === limit && places.length > 1 ? places.slice(0, -1) : places
}

/** Rows that are read at once, and bytes of their bodies. */
const portion = { limit: 256, maxBytes: 1024 * 1024 }

/**
 * The rows with these seqs, which ascend, in portions: those of them that the log still has. Each portion is read while the one
 * before it is used.
 */
export async function* rowsAt(
  log: EnvelopeLog,
  seqs: readonly number[],
  only: 'headings' | 'bodies' = 'bodies',
): AsyncGenerator<readonly Row[], void> {
  const { limit } = portion
  const read = (from: number): Promise<Row[]> | undefined => {
    const asked = seqs.slice(from, from + limit)
    const [first, last] = [asked[0], asked.at(-1)]
    if (first === undefined || last === undefined) return undefined
    const range = { after: first - 1, before: last + 1, limit, maxBytes: portion.maxBytes }
    // Most of a turn is in one piece: then the range alone says which rows, and a thousand seqs are not sent to another thread.
    const isOnePiece = last - first === asked.length - 1
    const reading = log.read({ ...range, ...(!isOnePiece && { filter: { seqs: asked } }), only })
    reading.catch(() => {}) // The caller may stop before it needs this portion.
    return reading
  }
  let from = 0
  for (let reading = read(from); reading !== undefined; ) {
    const rows = await reading
    const bytes = rows.reduce((sum, { body }) => sum + body.length, 0)
    const last = rows.at(-1)
    const isCut = last !== undefined && bytes >= portion.maxBytes
    from = isCut ? seqs.indexOf(last.seq, from) + 1 : from + limit
    reading = read(from)
    yield rows
  }
}

export async function rowAt(
  log: EnvelopeLog,
  seq: number,
  only?: 'headings' | 'bodies',
): Promise<Row | undefined> {
  const [row] = (await rowsAt(log, [seq], only).next()).value ?? []
  return row
}

export interface StepQuery {
  readonly turn?: number
  readonly agents?: readonly string[]
  readonly phases?: readonly Phase[]
  /** Milliseconds; `since` is included, `until` is not. */
  readonly since?: number
  readonly until?: number
  readonly before: number
  readonly limit: number
}

/** What a search for steps has found, of the newest envelopes first. `floor`: it has not looked at smaller seqs. */
export interface Found<Step> {
  readonly found: readonly Step[]
  readonly floor: number | undefined
}

/** A page of steps, of one envelope all. The search begins at the seq `from`. */
export function readPage<Step extends { readonly seq: number }>(
  query: StepQuery,
  search: (query: StepQuery, from: number, limit: number) => Found<Step>,
): { readonly found: readonly Step[]; readonly next: number | undefined } {
  const { found, floor } = search(query, 0, query.limit)
  const last = found.at(-1)
  if (last === undefined || found.length < query.limit) return { found, next: floor }
  const whole = found.filter(({ seq }) => seq !== last.seq)
  if (whole.length > 0) return { found: whole, next: last.seq + 1 }
  const only = search({ ...query, before: last.seq + 1 }, last.seq, Number.MAX_SAFE_INTEGER)
  return { found: only.found, next: last.seq }
}

/** Seqs among which steps are looked for: `end` is excluded. */
interface Stretch {
  readonly first: number
  readonly end: number
  /** The last seq of the index. */
  readonly last: number
}

interface StepSearch {
  /** Ends in a limit, whose value is the last one. */
  readonly sql: string
  readonly values: readonly (string | number)[]
  /** The smallest seq that it looks at, where it looks at a part only. */
  readonly floor: number | undefined
}

/** A search that no index helps looks at envelopes in such parts, which begin at the same places whatever is in them. */
export const searched = 20_000

export const toBits = (phases: readonly Phase[] = []): number =>
  phases.reduce((sum, phase) => sum | phaseBits[phase], 0)

const isRare = ({ turn, phases }: StepQuery): boolean =>
  phases?.length === 1 && phases[0] !== 'thinking' && turn === undefined

/** The smallest seq that a search looks at. */
export function searchFloor(query: StepQuery, { first, end, last: head }: Stretch): number {
  const { turn, agents, phases } = query
  if (turn !== undefined || (agents === undefined && (phases === undefined || isRare(query)))) return first
  const last = Math.min(end - 1, head)
  return Math.max(first, last - (last % searched))
}

/** How marks with steps are found, of the newest envelopes first. */
function stepSearch(query: StepQuery, stretch: Stretch & { readonly space: number }): StepSearch {
  const { turn, agents, phases } = query
  const { space, first, end } = stretch
  const bits = toBits(phases)
  const part = searchFloor(query, stretch)
  const conditions = ['space = ? AND seq >= ? AND seq < ? AND steps > 0']
  if (turn !== undefined) conditions.push(`turn = ${turn}`)
  if (phases !== undefined) conditions.push(`phases & ${bits} <> 0`)
  const by =
    turn !== undefined ? 'INDEXED BY marks_turn' : isRare(query) ? `INDEXED BY marks_phase_${bits}` : ''
  if (agents !== undefined) {
    const names = agents.map(() => '?').join(', ')
    conditions.push(
      `(SELECT agent FROM turns WHERE turns.space = marks.space AND turns.turn = marks.turn) IN (${names})`,
    )
  }
  const found = `marks ${by} WHERE ${conditions.join(' AND ')} ORDER BY seq DESC, place DESC LIMIT ?`
  return {
    sql: `SELECT seq, turn, at, step, steps, start FROM ${found}`,
    values: [space, part, end, ...(agents ?? [])],
    floor: part > first ? part : undefined,
  }
}
