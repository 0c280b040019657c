import { Assigner, type AssignSnapshot, type Beginning, endingRoles } from '@meup/folds'
import { parseEnvelope } from '../log/entries.js'
import type { Row } from '../ports/envelope-log.js'
import { damaged } from './index-file.js'
import {
  type EndedTurn,
  type Found,
  mergePlaces,
  readPage,
  type StepPlace,
  type StepQuery,
  type StoredPlace,
  searchFloor,
  type TurnIndex,
  type TurnPlace,
  toBits,
} from './turn-index.js'

/**
 * The part of an envelope in a turn: its steps there and its roles. An envelope has several if its steps are not consecutive.
 */
interface StoredMark extends StoredPlace {
  readonly roles: number
  readonly phases: number
}

/** Maximum number of marks that one call of `prune` removes. */
const removedAtOnce = 20_000

/**
 * The turn index of a log in memory. Its methods are those of `SqliteTurnIndex`, which documents them;
 * memory-turn-index.test.ts keeps their results equal.
 */
export class MemoryTurnIndex implements TurnIndex {
  readonly #epoch: string
  #assigner: Assigner
  #hash: Uint8Array | undefined
  /**
   * Seq up to which envelopes were pruned. A turn that began by then may have been removed: its next envelope inserts it again.
   */
  #pruned: number
  /** Turns, in the order in which they began. */
  #turns: Beginning[] = []
  readonly #byNumber = new Map<number, Beginning>()
  readonly #byAgent = new Map<string, Beginning[]>()
  /** Marks in log order: of all turns, and per turn. */
  #marks: StoredMark[] = []
  readonly #byTurn = new Map<number, StoredMark[]>()

  constructor(epoch: string, pruned: number) {
    this.#epoch = epoch
    this.#pruned = pruned
    this.#assigner = new Assigner(epoch)
  }

  get seq(): number {
    return this.#assigner.seq
  }

  get stored(): { readonly seq: number; readonly hash?: Uint8Array } {
    return { seq: this.seq, ...(this.#hash && { hash: this.#hash }) }
  }

  readonly isOpen = true
  readonly unsaved = 0

  save(): void {}

  begin(memory?: AssignSnapshot): void {
    this.#turns = []
    this.#marks = []
    for (const map of [this.#byNumber, this.#byAgent, this.#byTurn]) map.clear()
    this.#assigner = new Assigner(this.#epoch)
    if (memory !== undefined) this.#assigner.restore(memory)
    this.#pruned = Math.max(this.#pruned, this.seq)
    this.#hash = undefined
  }

  add(rows: readonly Omit<Row, 'salt' | 'leaf' | 'digest'>[], parse = parseEnvelope): void {
    for (const row of rows) {
      const { begun, marks, at } = this.#assigner.assign(parse(row))
      for (const beginning of begun) this.#insertTurn(beginning)
      for (const { beginning, roles, step, steps, phases, index } of marks) {
        if (beginning.seq <= this.#pruned) this.#insertTurn(beginning)
        const { turn } = beginning
        this.#insertMark({ seq: row.seq, turn, at: Date.parse(at), roles, step, steps, phases, start: index })
      }
    }
    this.#hash = rows.at(-1)?.hash ?? this.#hash
  }

  turns(agent: string, before: number, limit: number): Beginning[] {
    const numbered = (this.#byAgent.get(agent) ?? []).filter(
      ({ number }) => number !== null && number < before,
    )
    return numbered.slice(-limit).reverse()
  }

  turn(agent: string, number: number): Beginning | undefined {
    return this.#byAgent.get(agent)?.find((turn) => turn.number === number)
  }

  turnsOf(seq: number): Beginning[] {
    const triggered = this.#turns.filter(({ trigger }) => trigger === seq)
    const turns = new Set(triggered.map(({ turn }) => turn))
    for (let at = findFirst(this.#marks, (mark) => mark.seq >= seq); this.#marks[at]?.seq === seq; at++)
      turns.add(this.#marks[at]?.turn ?? 0)
    return [...turns].sort((one, other) => other - one).map((turn) => this.#beginning(turn))
  }

  trail(after: number, agent: string | undefined, limit: number): Beginning[] {
    const turns = this.#turnsOf(agent)
    const from = findFirst(turns, ({ turn }) => turn > after)
    return turns.slice(from, from + limit)
  }

  latest(before: number, agent: string | undefined, limit: number): Beginning[] {
    const turns = this.#turnsOf(agent)
    const end = findFirst(turns, ({ turn }) => turn >= before)
    return turns.slice(Math.max(0, end - limit), end).reverse()
  }

  mayGoOn(turn: number, after: number): boolean {
    return (this.#marksOf(turn).at(-1)?.seq ?? 0) > after
  }

  places(turn: number, after: number, limit: number, roles = ~0): TurnPlace[] {
    const marks = this.#marksOf(turn)
    const found: StoredMark[] = []
    for (
      let at = findFirst(marks, ({ seq }) => seq > after);
      at < marks.length && found.length < limit;
      at++
    ) {
      const mark = marks[at]
      if (mark !== undefined && (mark.roles & roles) !== 0) found.push(mark)
    }
    return mergePlaces(found, limit)
  }

  steps(query: StepQuery): { readonly places: readonly StepPlace[]; readonly next: number | undefined } {
    const { found, next } = readPage(query, (part, from, limit) => this.#search(part, from, limit))
    const places = found.map(({ seq, turn, at, step, steps, start }) => ({
      ...{ seq, at, step, steps, start },
      turn: this.#beginning(turn),
    }))
    return { places, next }
  }

  ended(after: number, through: number): EndedTurn[] {
    const from = findFirst(this.#marks, ({ seq }) => seq > after)
    const end = findFirst(this.#marks, ({ seq }) => seq > through)
    return this.#marks
      .slice(from, end)
      .filter(({ roles }) => (roles & endingRoles) !== 0)
      .map(({ seq, turn }) => ({ seq, turn: this.#beginning(turn) }))
  }

  prune(through: number): boolean {
    this.#pruned = Math.max(this.#pruned, through)
    const count = findFirst(this.#marks, ({ seq }) => seq > through)
    const removed = this.#marks.splice(0, Math.min(count, removedAtOnce))
    for (const { turn } of removed) {
      const marks = this.#byTurn.get(turn)
      marks?.shift()
      if (marks?.length === 0) this.#byTurn.delete(turn)
    }
    return removed.length === 0 && this.#pruneTurns(through) === 0
  }

  /** Removes the first turns, those that began at or before `through`, if all of their envelopes are pruned. */
  #pruneTurns(through: number): number {
    const younger = this.#turns.findIndex(({ seq }) => seq > through)
    const first = younger === -1 ? this.#turns : this.#turns.slice(0, younger)
    const gone = new Set(first.filter(({ turn }) => !this.#byTurn.has(turn)))
    if (gone.size === 0) return 0
    const isLeft = (turn: Beginning): boolean => !gone.has(turn)
    this.#turns = this.#turns.filter(isLeft)
    for (const [agent, turns] of this.#byAgent) this.#byAgent.set(agent, turns.filter(isLeft))
    for (const { turn } of gone) this.#byNumber.delete(turn)
    return gone.size
  }

  #search(query: StepQuery, from: number, limit: number): Found<StoredPlace> {
    const { turn, agents, phases, since, until, before } = query
    const [first, end] = [Math.max(from, this.#seqAt(since, 0)), Math.min(before, this.#seqAt(until, before))]
    const floor = searchFloor(query, { first, end, last: this.seq })
    const bits = toBits(phases)
    const isAsked = (mark: StoredMark): boolean =>
      mark.steps > 0 &&
      (phases === undefined || (mark.phases & bits) !== 0) &&
      (agents === undefined || agents.includes(this.#beginning(mark.turn).agent))
    const marks = turn === undefined ? this.#marks : this.#marksOf(turn)
    const found: StoredMark[] = []
    for (let at = findFirst(marks, ({ seq }) => seq >= end) - 1; at >= 0 && found.length < limit; at--) {
      const mark = marks[at]
      if (mark === undefined || mark.seq < floor) break
      if (isAsked(mark)) found.push(mark)
    }
    return { found, floor: floor > first ? floor : undefined }
  }

  /** The first indexed seq at or after this time; `otherwise` if no time is given. */
  #seqAt(ms: number | undefined, otherwise: number): number {
    if (ms === undefined) return otherwise
    const later = findFirst(this.#marks, ({ at }) => at >= ms)
    if (later === this.#marks.length) return this.seq + 1
    return (this.#marks[later - 1]?.seq ?? 0) + 1
  }

  #insertTurn(beginning: Beginning): void {
    if (this.#byNumber.has(beginning.turn)) return
    this.#byNumber.set(beginning.turn, beginning)
    insert(this.#turns, beginning)
    const ofAgent = this.#byAgent.get(beginning.agent) ?? []
    insert(ofAgent, beginning)
    this.#byAgent.set(beginning.agent, ofAgent)
  }

  #insertMark(mark: StoredMark): void {
    this.#marks.push(mark)
    const ofTurn = this.#byTurn.get(mark.turn)
    if (ofTurn === undefined) this.#byTurn.set(mark.turn, [mark])
    else ofTurn.push(mark)
  }

  #beginning(turn: number): Beginning {
    const found = this.#byNumber.get(turn)
    if (found === undefined) throw damaged(`it has no turn ${turn}`)
    return found
  }

  #turnsOf(agent: string | undefined): readonly Beginning[] {
    return agent === undefined ? this.#turns : (this.#byAgent.get(agent) ?? [])
  }

  #marksOf(turn: number): readonly StoredMark[] {
    return this.#byTurn.get(turn) ?? []
  }
}

/**
 * Binary search: the index of the first element for which `holds` is true, or the length if there is none. `holds` must be true
 * for all later elements as well.
 */
function findFirst<Each>(sorted: readonly Each[], holds: (each: Each) => boolean): number {
  let [from, to] = [0, sorted.length]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    if (holds(sorted[middle] as Each)) to = middle
    else from = middle + 1
  }
  return from
}

/** Inserts in order; nearly always at the end. */
function insert(turns: Beginning[], beginning: Beginning): void {
  if ((turns.at(-1)?.turn ?? 0) < beginning.turn) turns.push(beginning)
  else
    turns.splice(
      findFirst(turns, ({ turn }) => turn > beginning.turn),
      0,
      beginning,
    )
}
