import {
  type CallRight,
  calledTool,
  createUlids,
  describeRight,
  type Guard,
  getSource,
  getSteps,
  type ReasoningStep,
  type StepDraft,
} from '@meup/folds'
import { correlations, type Envelope, Kind } from '@meup/protocol'
import { type LoggedAddress, mayRead, type Reader } from '../core/may-read.js'
import type { Space } from '../core/space.js'
import { yieldIfBusy } from '../core/yielding.js'
import { isErased } from '../log/entries.js'
import type { Entry, Row } from '../ports/envelope-log.js'
import { countCharacters, type FoldedTurns, type Passed } from './folded-turns.js'
import { LoggedRights } from './rights.js'
import { longTurn } from './turn-excerpt.js'
import { rowsAt, type StepPlace, type StepQuery, type TurnIndex } from './turn-index.js'
import type { TurnView } from './visible-turn.js'

/** Selects steps of the audit. `agents`: steps in turns of these participants, and refusals of their envelopes. */
export interface AuditQuery extends Omit<StepQuery, 'turn'> {
  /** Selects the thread of this agent: all of its turns. */
  readonly thread?: string
  /** Number of a turn in the thread; only with `thread`. */
  readonly number?: number
}

/** A step, and its turn as the reader may see it. */
export interface AuditStep {
  readonly step: ReasoningStep
  readonly turn: TurnView['record']
  /** Ids that the call correlates to, such as the proposal that it fulfils. */
  readonly fulfils: readonly string[]
  /** The right that let the call of this result pass. */
  readonly right: CallRight | undefined
}

interface Made {
  readonly seq: number
  /** The steps of the envelope, the last step first; empty if the reader may not read the envelope. */
  readonly steps: readonly StepInTurn[]
}

interface StepInTurn {
  readonly place: StepPlace
  /** The step's index among the visible steps of the envelope in that turn. */
  readonly nth: number
  readonly id: string
  readonly draft: StepDraft
  readonly createdAt: string
  readonly source: ReasoningStep['source']
}

/** An answered call; `tool`: `undefined` = not a tool call. */
interface Call {
  readonly said: LoggedAddress
  readonly tool: string | undefined
  readonly request: Envelope | undefined
}

/** Limits of one request: folded readable envelopes, and their bytes. */
const maximum = { envelopes: 1500, bytes: 1024 * 1024 }

type StepSources = Pick<Space, 'log' | 'parsed' | 'state' | 'decideAudience' | 'safety'>

/** Makes steps on request, each from its own envelope [MEUP-10.5]. */
export class Steps {
  readonly #index: TurnIndex
  readonly #folded: FoldedTurns
  readonly #space: StepSources
  readonly #reader: Reader
  readonly #ulid: ReturnType<typeof createUlids>
  readonly #views = new Map<number, TurnView | undefined>()
  readonly #calls = new Map<string, Call | undefined>()
  readonly #rights: LoggedRights
  readonly #shown = { envelopes: 0, bytes: 0 }

  constructor(index: TurnIndex, folded: FoldedTurns, space: StepSources, reader: Reader) {
    this.#index = index
    this.#folded = folded
    this.#space = space
    this.#reader = reader
    this.#ulid = createUlids(space.log.epoch)
    this.#rights = new LoggedRights(space, reader)
  }

  /** Whether these steps exceed what one request folds, counting only what its reader may see [MEUP-8.6]. */
  isTooMuch(steps: readonly StepInTurn[]): boolean {
    const { envelopes, bytes } = this.#shown
    if (envelopes < maximum.envelopes && bytes < maximum.bytes) return false
    return steps.some(({ place }) => !this.#views.has(place.turn.turn))
  }

  /** Steps, newest first. `next`: there are further steps, with smaller seqs; `undefined` = there are none. */
  async find(
    asked: AuditQuery,
  ): Promise<{ readonly made: readonly Made[]; readonly next: number | undefined }> {
    const { bySeq, next } = this.#findPlaces(asked)
    const { phases } = asked
    const isAsked = ({ draft }: StepInTurn): boolean => phases?.includes(draft.phase) ?? true
    const made: Made[] = []
    for await (const headings of rowsAt(this.#space.log, ascending(bySeq.keys()), 'headings')) {
      const seqs = headings.filter((heading) => this.#mayRead(heading)).map(({ seq }) => seq)
      const stepsBySeq = new Map<number, readonly StepInTurn[]>()
      for await (const rows of rowsAt(this.#space.log, seqs)) {
        await this.#prepare(rows, bySeq)
        for (const row of rows) {
          const steps = isErased(row) ? [] : this.#createSteps(row, bySeq.get(row.seq) ?? [])
          const shown = renumber(steps.filter((step) => this.#mayShow(row, step)))
          stepsBySeq.set(row.seq, shown.filter(isAsked).reverse())
          await yieldIfBusy()
        }
      }
      for (const { seq } of headings) made.push({ seq, steps: stepsBySeq.get(seq) ?? [] })
    }
    return { made: made.reverse(), next }
  }

  /** The visible steps, numbered as if the log had only readable envelopes [MEUP-8.6]. */
  async show(steps: readonly StepInTurn[], passed: Passed): Promise<AuditStep[]> {
    const shown: AuditStep[] = []
    for (const step of steps) {
      const { turn } = step.place
      if (!this.#views.has(turn.turn)) this.#views.set(turn.turn, await this.#look(turn, passed))
      const view = this.#views.get(turn.turn)
      if (view === undefined) continue
      const number = numberIn(view, step)
      const made = createStep(step, number)
      const fulfils = this.#getFulfilled(step)
      shown.push({ step: made, turn: view.record, fulfils, right: this.#getRight(step) })
    }
    return shown
  }

  async #look(turn: StepPlace['turn'], passed: Passed): Promise<TurnView | undefined> {
    const { view } = await this.#folded.look(this.#index, turn, this.#reader)
    const { envelopes = [], withheld = [] } = view ?? {}
    passed(countCharacters({ envelopes: envelopes.length + withheld.length, bytes: 0 }))
    this.#shown.envelopes += envelopes.length
    // Only the headings of a long turn are read.
    const isLong = envelopes.length > longTurn
    this.#shown.bytes += isLong ? maximum.bytes : envelopes.reduce((sum, { bytes }) => sum + bytes, 0)
    await yieldIfBusy()
    return view
  }

  #findPlaces(asked: AuditQuery): { bySeq: Map<number, StepPlace[]>; next: number | undefined } {
    const query = this.#createQuery(asked)
    const bySeq = new Map<number, StepPlace[]>()
    if (query === undefined) return { bySeq, next: undefined }
    const { places, next } = this.#index.steps(query)
    for (const place of places) bySeq.set(place.seq, [place, ...(bySeq.get(place.seq) ?? [])])
    return { bySeq, next }
  }

  /** Folds the turns of these rows, because a folded turn knows the calls that its responses answer. */
  #prepare(rows: readonly Row[], bySeq: ReadonlyMap<number, readonly StepPlace[]>): Promise<void> {
    const places = rows.flatMap(({ seq }) => bySeq.get(seq) ?? []).reverse()
    const turns = new Map(places.map(({ turn }) => [turn.turn, turn]))
    const atHand = new Map(rows.map((row) => [row.seq, row]))
    return this.#folded.prepare(this.#index, [...turns.values()], this.#reader, atHand)
  }

  /** A response may answer several calls: the step for a call is shown only to readers of that call. */
  #mayShow({ kind }: Entry, { draft, place }: StepInTurn): boolean {
    if (kind !== Kind.mcpResponse) return true
    const call = this.#findCall(draft.linked_tool_call ?? '', [place])
    return call === undefined || this.#mayRead(call.said)
  }

  #getFulfilled({ draft, place }: StepInTurn): readonly string[] {
    const { linked_tool_call: id } = draft
    const call = id === undefined || id === null ? undefined : this.#findCall(id, [place])
    return call === undefined || !this.#mayRead(call.said) ? [] : correlations(call.said)
  }

  #getRight({ draft, place }: StepInTurn): CallRight | undefined {
    const { linked_tool_call: id } = draft
    const call = id === undefined || id === null ? undefined : this.#findCall(id, [place])
    if (call?.request === undefined || !this.#mayRead(call.said)) return undefined
    return describeRight(call.request, this.#rights)
  }

  #mayRead(said: LoggedAddress): boolean {
    return mayRead(this.#reader, this.#space.decideAudience(said))
  }

  /** `undefined` = the query matches nothing. */
  #createQuery({ thread, number, ...query }: AuditQuery): StepQuery | undefined {
    if (thread === undefined) return query
    const { agents = [thread] } = query
    if (!agents.includes(thread)) return undefined
    if (number === undefined) return { ...query, agents: [thread] }
    const { turn } = this.#index.turn(thread, number) ?? {}
    const { agents: _, ...rest } = query
    return turn === undefined ? undefined : { ...rest, turn }
  }

  #createSteps(row: Row, places: readonly StepPlace[]): StepInTurn[] {
    const { safety, parsed } = this.#space
    const guard: Guard = (text) => safety.guard(text)
    const envelope = parsed.get(row)
    const drafts = getSteps(envelope, this.#answered(envelope, places), guard)
    const inOrder = places
      .flatMap((place) => Array.from({ length: place.steps }, (_, nth) => ({ place, nth })))
      .sort((one, other) => one.place.start + one.nth - (other.place.start + other.nth))
    const source = getSource(envelope)
    return inOrder.flatMap(({ place, nth }, index) => {
      const draft = drafts[index]
      const id = this.#ulid(place.at, row.seq, place.start + nth)
      const createdAt = new Date(place.at).toISOString()
      return draft === undefined ? [] : { place, nth, id, draft, createdAt, source }
    })
  }

  /**
   * The ids that a response answers, each with its tool; the tool is `undefined` if the call is missing or unreadable. Leaves
   * out calls of no tool.
   */
  #answered(envelope: Envelope, places: readonly StepPlace[]): [id: string, tool: string | undefined][] {
    if (envelope.kind !== Kind.mcpResponse) return []
    return correlations(envelope).flatMap((id): [string, string | undefined][] => {
      const call = this.#findCall(id, places)
      if (call === undefined || !this.#mayRead(call.said)) return [[id, undefined]]
      return call.tool === undefined ? [] : [[id, call.tool]]
    })
  }

  /** Finds an answered call; `undefined` = the log does not have it. */
  #findCall(id: string, places: readonly StepPlace[]): Call | undefined {
    if (this.#calls.has(id)) return this.#calls.get(id)
    const call = this.#knownCall(id, places) ?? this.#callInLog(id)
    this.#calls.set(id, call)
    return call
  }

  #knownCall(id: string, places: readonly StepPlace[]): Call | undefined {
    for (const { turn } of places) {
      const known = this.#folded.callIn(turn.turn, id)
      if (known !== undefined) return { said: known.source, tool: known.tool, request: known.request }
    }
    return undefined
  }

  #callInLog(id: string): Call | undefined {
    const said = this.#space.log.heading(id)
    if (said === undefined || !this.#mayRead(said))
      return said && { said, tool: undefined, request: undefined }
    const row = this.#space.log.find(id)
    if (row === undefined) return undefined
    const request = this.#space.parsed.get(row)
    return { said, tool: calledTool(request, (text) => this.#space.safety.guard(text)), request }
  }
}

/** Numbers the visible steps without gaps. */
const renumber = (steps: readonly StepInTurn[]): readonly StepInTurn[] =>
  steps.map((step, at) => ({
    ...step,
    nth: steps.slice(0, at).filter(({ place }) => place === step.place).length,
  }))

const ascending = (seqs: Iterable<number>): number[] => [...seqs].sort((one, other) => one - other)

/** The number of a step in its turn, without counting steps that the reader may not read. */
const numberIn = ({ withheld }: TurnView, { place, nth }: StepInTurn): number =>
  withheld.reduce(
    (number, { source, steps }) => (source.seq < place.seq ? number - steps : number),
    place.step + nth,
  )

function createStep({ place, id, draft, createdAt, source }: StepInTurn, step_number: number): ReasoningStep {
  const { phase, content, ...about } = draft
  const links = {
    linked_tool_call: null,
    linked_policy_decision: null,
    linked_approval_request: null,
    ...about,
  }
  return { id, turn_id: place.turn.id, step_number, phase, content, ...links, created_at: createdAt, source }
}
