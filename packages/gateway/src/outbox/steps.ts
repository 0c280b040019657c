import { correlations, type Envelope, Kind } from '@meup/protocol'
import {
  calledTool,
  type Guard,
  type ReasoningStep,
  type StepDraft,
  sourceOf,
  stepsOf,
  ulidsOf,
} from '@meup/views'
import type { FoldedTurns, TurnView } from '../index/folded-turns.js'
import { rowsAt } from '../index/rows-at.js'
import type { StepPlace, StepQuery, TurnIndex } from '../index/turn-index.js'
import type { Entry, Heading, Row } from '../ports/envelope-log.js'
import { turn as nextTurn } from '../space/log-reads.js'
import { mayRead, type Reader } from '../space/may-read.js'
import { envelopeOf } from '../space/replay.js'
import type { Space } from '../space/space.js'
import { charactersOf, type Passed } from './reading.js'

/** `agents` are whose turns the steps belong to, and whose envelopes were decided on. */
export interface AuditQuery extends Omit<StepQuery, 'turn'> {
  /** Whose turns. */
  readonly thread?: string
  /** Number of a turn; only with `thread`. */
  readonly number?: number
}

/** A step, and the turn that it belongs to as its reader may see it. */
export interface AuditStep {
  readonly step: ReasoningStep
  readonly turn: TurnView['record']
}

/** What one envelope was made into. */
export interface Made {
  readonly seq: number
  readonly heading: Heading
  /** The last first; empty where the reader may not read it. */
  readonly steps: readonly StepInTurn[]
}

interface StepInTurn {
  readonly place: StepPlace
  /** Which step it is of all that the envelope makes in that turn. */
  readonly nth: number
  readonly id: string
  readonly draft: StepDraft
  readonly createdAt: string
  readonly source: ReasoningStep['source']
}

type Means = Pick<Space, 'log' | 'audienceOf' | 'safety'>

/** Steps as they are read: each from its own envelope [MEUP-10.5]. */
export class Steps {
  readonly #index: TurnIndex
  readonly #folded: FoldedTurns
  readonly #space: Means
  readonly #reader: Reader

  constructor(index: TurnIndex, folded: FoldedTurns, space: Means, reader: Reader) {
    this.#index = index
    this.#folded = folded
    this.#space = space
    this.#reader = reader
  }

  /** The newest first. `next`: steps of smaller seqs are still to be looked at; `undefined` = there are none. */
  async find(
    asked: AuditQuery,
  ): Promise<{ readonly made: readonly Made[]; readonly next: number | undefined }> {
    const query = this.#queryOf(asked)
    if (query === undefined) return { made: [], next: undefined }
    await nextTurn() // Others come first.
    const { places, next } = this.#index.steps(query)
    const { phases } = query
    const isAsked = ({ draft }: StepInTurn): boolean => phases?.includes(draft.phase) ?? true
    const bySeq = new Map<number, StepPlace[]>()
    for (const place of places) bySeq.set(place.seq, [place, ...(bySeq.get(place.seq) ?? [])])
    const made: Made[] = []
    for await (const row of rowsAt(
      this.#space.log,
      [...bySeq.keys()].sort((one, other) => one - other),
    )) {
      const steps = mayRead(this.#reader, this.#space.audienceOf(row))
        ? this.#stepsOf(row, bySeq.get(row.seq) ?? [])
        : []
      const told = steps.filter((step) => isAsked(step) && this.#mayTell(row, step))
      made.push({ seq: row.seq, heading: headingOf(row), steps: told.reverse() })
    }
    return { made: made.reverse(), next }
  }

  /** What is shown of them: numbers as of a log that has nothing else than what the reader may read [MEUP-8.6]. */
  async show(steps: readonly StepInTurn[], passed: Passed): Promise<AuditStep[]> {
    const shown: AuditStep[] = []
    const views = new Map<number, TurnView | undefined>()
    for (const step of steps) {
      const { turn } = step.place
      if (!views.has(turn.turn)) {
        const view = await this.#folded.stateOf(this.#index, turn, this.#reader)
        views.set(turn.turn, view)
        const { envelopes = [], withheld = [] } = view ?? {}
        passed(charactersOf({ envelopes: envelopes.length + withheld.length, bytes: 0 }))
        await nextTurn()
      }
      const view = views.get(turn.turn)
      if (view === undefined) continue
      const number = numberIn(view, step)
      shown.push({ step: rowOf(step, number), turn: view.record })
    }
    return shown
  }

  /** One answer may end calls of several: what came of a call may be told to those who may read the call. */
  #mayTell({ kind }: Entry, { draft }: StepInTurn): boolean {
    if (kind !== Kind.mcpResponse) return true
    const call = this.#space.log.heading(draft.linked_tool_call ?? '')
    return call === undefined || mayRead(this.#reader, this.#space.audienceOf(call))
  }

  /** `undefined` where nothing can be found. */
  #queryOf({ thread, number, ...query }: AuditQuery): StepQuery | undefined {
    if (thread === undefined) return query
    const { agents = [thread] } = query
    if (!agents.includes(thread)) return undefined
    if (number === undefined) return { ...query, agents: [thread] }
    const { turn } = this.#index.turn(thread, number) ?? {}
    const { agents: _, ...rest } = query
    return turn === undefined ? undefined : { ...rest, turn }
  }

  #stepsOf(row: Row, places: readonly StepPlace[]): StepInTurn[] {
    const { safety } = this.#space
    const guard: Guard = (text) => safety.guard(text)
    const envelope = envelopeOf(row)
    const drafts = stepsOf(envelope, this.#answered(envelope, guard), guard)
    const ulid = ulidsOf(this.#space.log.epoch)
    const inOrder = places
      .flatMap((place) => Array.from({ length: place.steps }, (_, nth) => ({ place, nth })))
      .sort((one, other) => one.place.start + one.nth - (other.place.start + other.nth))
    const source = sourceOf(envelope)
    return inOrder.flatMap(({ place, nth }, index) => {
      const draft = drafts[index]
      const id = ulid(place.at, row.seq, place.start + nth)
      const createdAt = new Date(place.at).toISOString()
      return draft === undefined ? [] : { place, nth, id, draft, createdAt, source }
    })
  }

  /** The calls that a response answers; what else it correlates to is none. */
  #answered(envelope: Envelope, guard: Guard): [id: string, tool: string | undefined][] {
    if (envelope.kind !== Kind.mcpResponse) return []
    return correlations(envelope).flatMap((id): [string, string | undefined][] => {
      const row = this.#space.log.find(id)
      if (row === undefined || !mayRead(this.#reader, this.#space.audienceOf(row))) return [[id, undefined]]
      const tool = calledTool(envelopeOf(row), guard)
      return tool === undefined ? [] : [[id, tool]]
    })
  }
}

const headingOf = ({ body: _, ...heading }: Entry): Heading => heading

/** What the reader may not read does not count. */
const numberIn = ({ withheld }: TurnView, { place, nth }: StepInTurn): number =>
  withheld.reduce(
    (number, { source, steps }) => (source.seq < place.seq ? number - steps : number),
    place.step + nth,
  )

function rowOf({ place, id, draft, createdAt, source }: StepInTurn, step_number: number): ReasoningStep {
  const { phase, content, ...about } = draft
  const links = {
    linked_tool_call: null,
    linked_policy_decision: null,
    linked_approval_request: null,
    ...about,
  }
  return { id, turn_id: place.turn.id, step_number, phase, content, ...links, created_at: createdAt, source }
}
