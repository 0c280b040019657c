import type { Phase } from '@meup/protocol'
import { lowestUlidAt, phaseLabels, seqOfUlid } from '@meup/views'
import type Database from 'better-sqlite3'
import type { StepQuery, StepRange } from '../../ports/projection.js'
import { type Chain, chains, type HeadRows, isUnbroken, type Key, type Link } from './chains.js'
import type { ProjectedLog } from './projected-log.js'
import { placeOf } from './projection-place.js'
import { damaged } from './row-digest.js'
import { prepared } from './statements.js'
import type { PlacedStep, StepRows } from './step-rows.js'
import type { TurnRow } from './turn-rows.js'
import type { TurnSearch } from './turn-search.js'

const allPhases = Object.keys(phaseLabels) as readonly Phase[]

/** Higher than any id. */
const noEnd = '~'

/** Ids from `first` on and below `end`; those with the seq `before` and later ones are not among them. */
interface Range {
  readonly first: string
  readonly end: string
  readonly before: number
  readonly limit: number
}

type FoundStep = Link & { readonly key: string }

/** Steps of one phase, in the space or in one thread. */
interface Where {
  readonly chain: Chain
  readonly link: 'previous' | 'previous_in_thread'
  readonly sql: string
  readonly values: readonly (string | number)[]
}

/**
 * Finds steps of one log, whole and all that are asked for: throws a `LogError` of code `projection` where one is missing.
 * However many there are, few rows are looked at.
 */
export class StepSearch {
  readonly #db: Database.Database
  readonly #log: ProjectedLog
  readonly #heads: HeadRows
  readonly #rows: StepRows
  readonly #turns: TurnSearch
  /** Ids below this need not be there: they were pruned. */
  readonly #kept: string

  constructor(db: Database.Database, heads: HeadRows, rows: StepRows, turns: TurnSearch, log: ProjectedLog) {
    this.#db = db
    this.#log = log
    this.#heads = heads
    this.#rows = rows
    this.#turns = turns
    const { kept } = placeOf(db, log)
    this.#kept = kept === '' ? '' : lowestUlidAt(Date.parse(kept))
  }

  /** The newest that are asked for, the newest first. */
  find(query: StepQuery): PlacedStep[] {
    const { turn, phases = allPhases, limit } = query
    const range = this.#rangeOf(query)
    const threads = threadsOf(this.#log, query)
    if (limit === 0) return []
    if (turn !== undefined) {
      return (threads ?? []).flatMap((thread) =>
        this.#ofTurn(this.#turns.numbered(thread, turn), phases, range),
      )
    }
    const found = [...new Set(phases)].flatMap((phase) =>
      threads === undefined
        ? this.#ofPhase(inSpace(this.#log, phase), range)
        : threads.flatMap((thread) => this.#ofPhase(inThread(this.#log, phase, thread), range)),
    )
    const ids = found.sort().reverse().slice(0, limit)
    return ids.map((id) => this.#rows.get(this.#log.space, id))
  }

  /** Of one turn, in their order. */
  stepsOf(turn: string, range: StepRange): PlacedStep[] {
    const { space } = this.#log
    const newest = this.#turns.find(turn)?.last_step ?? null
    const found = this.#rows.ofTurn(space, turn, range)
    const [first] = found
    // The number of a step that is not there is not known; but they have no gaps.
    const isOutside = (id: Key): boolean =>
      this.#isPruned(id) ||
      (first === undefined
        ? this.#rows.get(space, `${id}`).step.step_number < range.from
        : first.step.step_number === range.from)
    const ends = { isOutside, ...(found.length < range.limit && { newest }) }
    const isKnown = newest !== null || found.length === 0
    if (isKnown && isUnbroken(found.map(linkInTurn).reverse(), ends)) return found
    throw damaged(`the steps of turn ${turn}`)
  }

  #ofTurn(turn: TurnRow | undefined, phases: readonly Phase[], range: Range): PlacedStep[] {
    if (turn === undefined) return []
    const { space } = this.#log
    const next = this.#rows.nextOf(space, turn.id, range.end)
    let expected = next === undefined ? turn.last_step : next.place.previous_in_turn
    const found: PlacedStep[] = []
    for (const placed of this.#rows.latestOf(space, turn.id, range.end)) {
      const { id, phase } = placed.step
      if (id !== expected || seqOfUlid(id) >= range.before) throw damaged(`the steps of turn ${turn.id}`)
      expected = placed.place.previous_in_turn
      if (id < range.first) return found
      if (phases.includes(phase)) found.push(placed)
      if (found.length === range.limit) return found
    }
    if (expected === null || this.#isPruned(expected)) return found
    throw damaged(`the steps of turn ${turn.id}`)
  }

  /** Ids, the newest first. */
  #ofPhase({ chain, link, sql, values }: Where, range: Range): string[] {
    const { first, end, limit, before } = range
    const select = `SELECT id AS key, ${link} AS previous FROM step_places WHERE ${sql}`
    const found = this.#prepare(`${select} AND id >= ? AND id < ? ORDER BY id DESC LIMIT ?`).all(
      ...values,
      ...[first, end, limit],
    )
    const next = this.#prepare(`${select} AND id >= ? ORDER BY id LIMIT 1`).get(...values, end)
    const newest =
      next === undefined
        ? this.#heads.get(this.#log.space, chain)
        : this.#rows.get(this.#log.space, next.key).place[link]
    const isOutside = (id: Key) => id < first || this.#isPruned(id)
    const isWhole = isUnbroken(found, { newest, ...(found.length < limit && { isOutside }) })
    if (!isWhole || found.some(({ key }) => seqOfUlid(key) >= before))
      throw damaged(`the steps of ${chain.thread || 'the space'}`)
    return found.map(({ key }) => key)
  }

  #rangeOf({ since, until, before = Number.POSITIVE_INFINITY, limit }: StepQuery): Range {
    const first = since === undefined ? '' : lowestUlidAt(Date.parse(since))
    const ends = [until === undefined ? noEnd : lowestUlidAt(Date.parse(until)), this.#idFrom(before)]
    return { first, end: ends.sort()[0] ?? noEnd, before, limit }
  }

  /** Of the first step that was made of this envelope or a later one. */
  #idFrom(seq: number): string {
    if (!Number.isFinite(seq)) return noEnd
    const find = this.#db.prepare<[number, number], string>(
      'SELECT id FROM step_places WHERE space = ? AND seq >= ? ORDER BY seq, id LIMIT 1',
    )
    const id = find.pluck().get(this.#log.space, seq)
    if (id !== undefined && seqOfUlid(id) < seq) throw damaged(`step ${id}`)
    return id ?? noEnd
  }

  #isPruned(id: Key): boolean {
    return id < this.#kept
  }

  #prepare(sql: string): Database.Statement<(string | number)[], FoundStep> {
    return prepared(this.#db, sql)
  }
}

const inSpace = ({ space }: ProjectedLog, phase: Phase): Where => ({
  chain: chains.steps(phase),
  link: 'previous',
  sql: 'space = ? AND phase = ?',
  values: [space, phase],
})

const inThread = ({ space }: ProjectedLog, phase: Phase, thread: string): Where => ({
  chain: chains.steps(phase, thread),
  link: 'previous_in_thread',
  sql: 'space = ? AND thread_id = ? AND phase = ?',
  values: [space, thread, phase],
})

const linkInTurn = ({ place: { id, previous_in_turn } }: PlacedStep) => ({
  key: id,
  previous: previous_in_turn,
})

/** `undefined`: all. */
function threadsOf({ name }: ProjectedLog, { thread, agents }: StepQuery): string[] | undefined {
  const ofAgents = agents && [...new Set(agents)].map((agent) => `${name}/${agent}`)
  if (thread === undefined) return ofAgents
  return ofAgents === undefined || ofAgents.includes(thread) ? [thread] : []
}
