import { Assigner, type AssignSnapshot, type Beginning, endingRoles, type Mark, phaseBits } from '@meup/folds'
import type { Envelope, Phase } from '@meup/protocol'
import type Database from 'better-sqlite3'
import { parseEnvelope, readErasure } from '../log/entries.js'
import type { Entry, EnvelopeLog, Row } from '../ports/envelope-log.js'
import { damaged } from './index-file.js'
import { forgetWords } from './words/word-file.js'

/** An envelope of a turn, and its roles there. */
export interface TurnPlace {
  readonly seq: number
  readonly roles: number
  /** Steps that the envelope makes in the turn. */
  readonly steps: number
}

/** The steps of one envelope in one turn. */
export interface StepPlace {
  readonly seq: number
  readonly turn: Beginning
  /** Time of the envelope in the log, in milliseconds since the epoch. */
  readonly at: number
  /**
   * `step`: number of the first step in its turn; `steps`: their count; `start`: index of the first one among all steps of the
   * envelope, from which ids are made.
   */
  readonly step: number
  readonly steps: number
  readonly start: number
}

/** An envelope that may have ended a batch of calls of a turn. */
export interface EndedTurn {
  readonly seq: number
  readonly turn: Beginning
}

/** A row of the log and its hash; absent hash = the row was pruned. */
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

/** Maximum number of cached beginnings of turns (agent, number, trigger): a turn that a page shows is read many times. */
const remembered = 4096
/** Maximum number of turns whose last indexed seq is remembered for `mayGoOn`. */
const maxTouched = 4096

/** The turns of one space: which envelopes belong to which turn, and their steps. */
export type TurnIndex = Pick<SqliteTurnIndex, keyof SqliteTurnIndex>

/** The turn index in a file next to the log. */
export class SqliteTurnIndex {
  readonly #db: Database.Database
  readonly #space: number
  readonly #epoch: string
  readonly #statements = new Map<string, Database.Statement>()
  #assigner: Assigner
  #stored: Tip = { seq: 0 }
  /**
   * Seq up to which envelopes were pruned. A turn that began by then may have been removed: its next envelope inserts it again.
   */
  #pruned: number
  #savedAt = 0
  readonly #beginnings = new Map<number, Beginning>()
  /** Last seq of each turn that was updated after `#touchedSince`. */
  readonly #touched = new Map<number, number>()
  #touchedSince = Number.POSITIVE_INFINITY

  private constructor(db: Database.Database, space: number, epoch: string, pruned: number) {
    this.#db = db
    this.#space = space
    this.#epoch = epoch
    this.#pruned = pruned
    this.#assigner = new Assigner(epoch)
  }

  /** Opens the index of this log, pruned up to `pruned`; drops the index of another log. */
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

  /** Last indexed seq. */
  get seq(): number {
    return this.#assigner.seq
  }

  /**
   * Last row in the index file. After a restart it may be greater than `seq`: indexing the rows between them again changes
   * nothing if they are of the same log.
   */
  get stored(): Tip {
    return this.#stored
  }

  /** Whether the index is usable: the index of another space in the same file may have found it damaged and closed it. */
  get isOpen(): boolean {
    return this.#db.open
  }

  /** Clears the index, and continues after the rows that `memory` covers. */
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

  /** Adds the next rows of the log, all or none. After a failure the object must not be used again. */
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

  /** The saved memory of the assigner may contain erased text, so it is overwritten, in the write-ahead log as well. */
  #saveErased(): void {
    this.save()
    this.#db.pragma('wal_checkpoint(TRUNCATE)')
  }

  /** Number of indexed envelopes that the next start would have to index again, because the memory was not saved since. */
  get unsaved(): number {
    return this.seq - this.#savedAt
  }

  /** Saves the memory of the assigner, from which the next start continues. */
  save(): void {
    if (this.unsaved > 0) this.#db.transaction(() => this.#store())()
  }

  /** Turns of an agent, newest first. */
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

  /** The turns that an envelope belongs to or triggers, newest first. */
  turnsOf(seq: number): Beginning[] {
    return this.#all<Beginning>(
      `SELECT ${turnColumns} FROM turns WHERE space = ?
        AND turn IN (SELECT turn FROM marks WHERE space = ? AND marks.seq = ?
          UNION SELECT turn FROM turns WHERE space = ? AND trigger = ?) ORDER BY turn DESC`,
      ...[this.#space, this.#space, seq, this.#space, seq],
    )
  }

  /** Turns and jobs (work that no one asked for) with numbers above `after`, in the order in which they began. */
  trail(after: number, agent: string | undefined, limit: number): Beginning[] {
    const [byAgent, ...values] = agent === undefined ? [''] : ['AND agent = ?', agent]
    return this.#all<Beginning>(
      `SELECT ${turnColumns} FROM turns WHERE space = ? AND turn > ? ${byAgent} ORDER BY turn LIMIT ?`,
      ...[this.#space, after, ...values, limit],
    )
  }

  /** Turns and jobs (work that no one asked for) with numbers below `before`, newest first. */
  latest(before: number, agent: string | undefined, limit: number): Beginning[] {
    const [byAgent, ...values] = agent === undefined ? [''] : ['AND agent = ?', agent]
    return this.#all<Beginning>(
      `SELECT ${turnColumns} FROM turns WHERE space = ? AND turn < ? ${byAgent} ORDER BY turn DESC LIMIT ?`,
      ...[this.#space, before, ...values, limit],
    )
  }

  /** Whether a turn may have envelopes after `after`, without reading the file. */
  mayGoOn(turn: number, after: number): boolean {
    return after < this.#touchedSince || (this.#touched.get(turn) ?? 0) > after
  }

  /** The envelopes of a turn after `after`, in log order; only those with one of the `roles`. */
  places(turn: number, after: number, limit: number, roles = ~0): TurnPlace[] {
    // Reads rows as arrays, which takes half the time of objects: a long turn has 100,000 rows.
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
   * Steps of the newest envelopes first; an envelope is never split. `next`: envelopes with smaller seqs remain; `undefined` =
   * none.
   */
  steps(query: StepQuery): { readonly places: readonly StepPlace[]; readonly next: number | undefined } {
    const { found, next } = readPage(query, (part, from, limit) => this.#search(part, from, limit))
    return { places: this.#placed(found), next }
  }

  /** Envelopes that may have ended a batch of calls, after `after` up to `through`, in log order. */
  ended(after: number, through: number): EndedTurn[] {
    const found = this.#all<{ seq: number; turn: number }>(
      `SELECT seq, turn FROM marks WHERE space = ? AND seq > ? AND seq <= ? AND roles & ${endingRoles} <> 0
        ORDER BY seq, place`,
      ...[this.#space, after, through],
    )
    return found.map(({ seq, turn }) => ({ seq, turn: this.#beginning(turn) }))
  }

  /** Removes some rows about envelopes up to `through`. Returns whether none are left. */
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

  /** Removes the first turns, those that began at or before `through`, if all of their envelopes are pruned. */
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
      throw damaged('its continuation cannot be read', { cause })
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

  /** The first indexed seq at or after this time; `otherwise` if no time is given. */
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

/**
 * Merges the marks of each envelope in a turn: it has several if its steps there are not consecutive. `limit`: the limit with
 * which `marks` were read; at the limit there may be more.
 */
export function mergePlaces(marks: readonly TurnPlace[], limit: number): TurnPlace[] {
  const places: TurnPlace[] = []
  for (const { seq, roles, steps } of marks) {
    const last = places.at(-1)
    if (last?.seq !== seq) places.push({ seq, roles, steps })
    else places[places.length - 1] = { seq, roles: last.roles | roles, steps: last.steps + steps }
  }
  // The last envelope is left out, because it may have further marks.
  return marks.length === limit && places.length > 1 ? places.slice(0, -1) : places
}

/** Rows per read, and bytes of their bodies. */
const portion = { limit: 256, maxBytes: 1024 * 1024 }

/** The rows with these ascending seqs that the log still has, in portions. Each portion is read while the previous one is used. */
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
    // If the seqs are contiguous, as those of most turns, the range alone selects the rows: no need to send a thousand seqs to
    // another thread.
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
  /** Milliseconds since the epoch; `since` is inclusive, `until` exclusive. */
  readonly since?: number
  readonly until?: number
  readonly before: number
  readonly limit: number
}

/** The steps that were found, newest envelopes first. `floor`: smaller seqs were not searched. */
export interface Found<Step> {
  readonly found: readonly Step[]
  readonly floor: number | undefined
}

/** A page of steps that never splits an envelope. The search begins at the seq `from`. */
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

/** The range of a search; `end` is exclusive. */
interface Stretch {
  readonly first: number
  readonly end: number
  /** Last indexed seq. */
  readonly last: number
}

interface StepSearch {
  /** The query. Its last placeholder is that of `LIMIT`; the caller adds the value to `values`. */
  readonly sql: string
  readonly values: readonly (string | number)[]
  /** The smallest seq that is searched; absent = no floor. */
  readonly floor: number | undefined
}

/** A search without an index scans this many seqs at a time, aligned to fixed positions whatever they contain. */
export const searched = 20_000

export const toBits = (phases: readonly Phase[] = []): number =>
  phases.reduce((sum, phase) => sum | phaseBits[phase], 0)

const isRare = ({ turn, phases }: StepQuery): boolean =>
  phases?.length === 1 && phases[0] !== 'thinking' && turn === undefined

/** The smallest seq that a search scans. */
export function searchFloor(query: StepQuery, { first, end, last: head }: Stretch): number {
  const { turn, agents, phases } = query
  if (turn !== undefined || (agents === undefined && (phases === undefined || isRare(query)))) return first
  const last = Math.min(end - 1, head)
  return Math.max(first, last - (last % searched))
}

/** The SQL that finds the steps of a query: marks (parts of envelopes in turns) that have any, newest envelopes first. */
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
