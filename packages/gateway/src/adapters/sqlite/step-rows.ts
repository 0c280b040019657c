import type Database from 'better-sqlite3'
import type { StepRange } from '../../ports/projection.js'
import type { StepRow } from './reasoning-log.js'
import { damaged, digestOf } from './row-digest.js'

/** Where a step is: a row of `step_places` without its digest. */
export interface StepPlace {
  readonly space: number
  readonly phase: string
  readonly id: string
  readonly thread_id: string
  readonly seq: number
  readonly previous: string | null
  readonly previous_in_thread: string | null
  readonly previous_in_turn: string | null
}

/** A step and its place. */
export interface PlacedStep {
  readonly step: StepRow
  readonly place: StepPlace
}

type Joined = StepRow & Omit<StepPlace, 'phase' | 'id'> & { readonly digest: string }

/** Of a step and its place: neither goes without the other. */
export const stepDigest = (step: StepRow, place: StepPlace): string =>
  digestOf('steps', [
    step.id,
    step.turn_id,
    step.step_number,
    step.phase,
    step.content,
    step.linked_tool_call,
    step.linked_policy_decision,
    step.linked_approval_request,
    step.created_at,
    place.space,
    place.thread_id,
    place.seq,
    place.previous,
    place.previous_in_thread,
    place.previous_in_turn,
  ])

const placed = `
  SELECT step.*, place.space, place.thread_id, place.seq, place.previous, place.previous_in_thread,
    place.previous_in_turn, place.digest
  FROM reasoning_steps step
    LEFT JOIN step_places place ON place.space = @space AND place.phase = step.phase AND place.id = step.id`

/** Reads steps. They are whole: throws a `LogError` of code `projection` where one is damaged. */
export class StepRows {
  readonly #one: Database.Statement<[object], Joined>
  readonly #ofTurn: Database.Statement<[object], Joined>
  readonly #latest: Database.Statement<[object], Joined>
  readonly #next: Database.Statement<[object], Joined>

  constructor(db: Database.Database) {
    const prepare = (rest: string) => db.prepare<[object], Joined>(`${placed} WHERE ${rest}`)
    this.#one = prepare('step.id = @id')
    this.#ofTurn = prepare(
      'step.turn_id = @turn AND step.step_number >= @from ORDER BY step.rowid LIMIT @limit',
    )
    this.#latest = prepare('step.turn_id = @turn AND step.id < @end ORDER BY step.rowid DESC')
    this.#next = prepare('step.turn_id = @turn AND step.id >= @end ORDER BY step.rowid LIMIT 1')
  }

  /** Throws also where there is none. */
  get(space: number, id: string): PlacedStep {
    const joined = this.#one.get({ space, id })
    if (joined === undefined) throw damaged(`step ${id}`)
    return wholeStep(joined)
  }

  /** Of one turn, in their order, from a number on. */
  ofTurn(space: number, turn: string, { from, limit }: StepRange): PlacedStep[] {
    return this.#ofTurn.all({ space, turn, from, limit }).map(wholeStep)
  }

  /** Of one turn, those with ids below `end`, the latest first. */
  *latestOf(space: number, turn: string, end: string): Generator<PlacedStep, void> {
    for (const joined of this.#latest.iterate({ space, turn, end })) yield wholeStep(joined)
  }

  /** Of one turn, the first with no id below `end`. */
  nextOf(space: number, turn: string, end: string): PlacedStep | undefined {
    const joined = this.#next.get({ space, turn, end })
    return joined && wholeStep(joined)
  }
}

function wholeStep({
  space,
  thread_id,
  seq,
  previous,
  previous_in_thread,
  previous_in_turn,
  digest,
  ...step
}: Joined): PlacedStep {
  const { id, phase } = step
  const place = { space, phase, id, thread_id, seq, previous, previous_in_thread, previous_in_turn }
  if (digest !== stepDigest(step, place)) throw damaged(`step ${id}`)
  return { step, place }
}
