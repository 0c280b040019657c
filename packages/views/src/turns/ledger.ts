import { contextParent, correlations, type Envelope } from '@meup/protocol'
import { Register, type RegisterSnapshot } from '../register.js'
import { type Quoted, sourceOf } from '../source.js'
import type { ReasoningStep, StepDraft } from '../steps/step.js'
import { Ulids } from '../steps/ulid.js'
import { Places, type PlacesSnapshot } from './places.js'
import { type BatchEnd, isRunning, newTurn, type TurnRecord, weightOf } from './record.js'

export interface LedgerSnapshot {
  readonly milliseconds: number
  readonly turns: RegisterSnapshot<TurnRecord>
  readonly places: PlacesSnapshot
}

/** What one envelope did. */
export interface TurnChange {
  /** Turns and jobs that began or changed. */
  readonly turns: readonly TurnRecord[]
  readonly steps: readonly ReasoningStep[]
  readonly updates: readonly BatchEnd<TurnRecord>[]
  /** Time of the log (RFC 3339): of the envelope, or of an earlier one where the clock was put back; empty where it did nothing. */
  readonly at: string
}

export const nothing: TurnChange = { turns: [], steps: [], updates: [], at: '' }

/** The turns and jobs, and what the envelope at hand did to them. */
export class Ledger {
  readonly #space: string
  readonly #epoch: string
  readonly #turns = new Register({ isOpen: isRunning, weigh: weightOf, capacity: { open: 64e6, over: 16e6 } })
  readonly #places = new Places()
  readonly #ids: Ulids
  readonly #changed = new Set<TurnRecord>()
  readonly #updates = new Set<TurnRecord>()
  #steps: ReasoningStep[] = []
  #told = { milliseconds: Number.NaN, text: '' }
  /** Of the envelope at hand: its time, and its place. */
  now = ''
  seq = 0

  constructor(space: string, epoch: string) {
    this.#space = space
    this.#epoch = epoch
    this.#ids = new Ulids(epoch)
  }

  begin({ ts, seq = 0 }: Envelope): void {
    this.now = ts
    this.seq = seq
    this.#ids.begin(Date.parse(ts), seq)
  }

  end(): TurnChange {
    if (this.#changed.size === 0) return nothing
    const { seq } = this
    const updates = [...this.#updates].map((turn) => ({ seq, turn, narrative: turn.narrative }))
    const change = { turns: [...this.#changed], steps: this.#steps, updates, at: this.#at }
    for (const turn of change.turns) {
      if (isIdle(turn)) Object.assign(turn, { state: 'completed', completedAt: this.now })
      this.#turns.set(turn.id, turn)
    }
    this.#changed.clear()
    this.#updates.clear()
    this.#steps = []
    return change
  }

  snapshot(): LedgerSnapshot {
    const { milliseconds } = this.#ids
    return { milliseconds, turns: this.#turns.snapshot(), places: this.#places.snapshot() }
  }

  restore({ milliseconds, turns, places }: LedgerSnapshot): void {
    this.#ids.milliseconds = milliseconds
    this.#turns.restore(turns)
    this.#places.restore(places)
  }

  get(id: string | undefined): TurnRecord | undefined {
    return id === undefined ? undefined : this.#turns.get(id)
  }

  open(): Iterable<TurnRecord> {
    return this.#turns.open()
  }

  /** The turn or job that this context was opened in. */
  inContext(context: string): TurnRecord | undefined {
    return this.get(this.#places.inContext(context))
  }

  /** A chat or a request may be what begins a turn. */
  offer(envelope: Envelope, text: string): void {
    this.#places.offer(envelope, text)
  }

  /**
   * The turn of this envelope: the sender's, by the context or by what it answers, and where it answers something new,
   * it begins one; else the turn in whose context it is a contribution.
   */
  turnOf(envelope: Envelope): TurnRecord | undefined {
    const { context, from } = envelope
    const around = [...this.#around(context)]
    return around.find(({ agent }) => agent === from) ?? this.turnAnswering(envelope) ?? around[0]
  }

  /** The turn of this agent that the context is part of. */
  ownTurnIn(context: string | undefined, agent: string): TurnRecord | undefined {
    return [...this.#around(context)].find((turn) => turn.agent === agent)
  }

  /** The sender's turn about what this envelope answers. It begins with the first such envelope [MEUP-11.5]. */
  turnAnswering(envelope: Envelope): TurnRecord | undefined {
    const { from } = envelope
    for (const cause of correlations(envelope)) {
      const turn = this.get(this.#places.about(from, cause))
      if (turn !== undefined) return turn
    }
    for (const cause of correlations(envelope)) {
      const trigger = this.#places.triggerOf(from, cause)
      if (trigger !== undefined) return this.#beginTurn(from, trigger)
    }
    return undefined
  }

  /** Work that nobody asked for. `envelope` is what it begins with. */
  beginJob(agent: string, envelope: Envelope): TurnRecord {
    return this.#add(newTurn({ ...this.#identity(agent), jobId: envelope.id, inputSource: 'job' }))
  }

  /** The context is opened in this turn; what answers its start belongs to it as well. */
  bind(context: string, start: Envelope, turn: TurnRecord): void {
    this.#places.setContext(context, turn.id)
    this.#places.setCause(turn.agent, start.id, turn.id)
  }

  touch(turn: TurnRecord): void {
    this.#changed.add(turn)
  }

  /** A batch of its calls has ended. */
  update(turn: TurnRecord): void {
    this.touch(turn)
    this.#updates.add(turn)
  }

  addStep(turn: TurnRecord, envelope: Envelope, step: StepDraft): void {
    this.touch(turn)
    this.#steps.push({
      id: this.#ids.next(),
      turn_id: turn.id,
      step_number: turn.steps++,
      linked_tool_call: null,
      linked_policy_decision: null,
      linked_approval_request: null,
      ...step,
      created_at: this.#at,
      source: sourceOf(envelope),
    })
  }

  /** The time of the log, which never goes back. */
  get #at(): string {
    const { milliseconds } = this.#ids
    if (milliseconds !== this.#told.milliseconds) {
      this.#told = { milliseconds, text: new Date(milliseconds).toISOString() }
    }
    return this.#told.text
  }

  /** The turns that this context and those above it were opened in, the innermost first. */
  *#around(context: string | undefined): Iterable<TurnRecord> {
    for (let at = context; at !== undefined; at = contextParent(at)) {
      const turn = this.inContext(at)
      if (turn !== undefined) yield turn
    }
  }

  #beginTurn(agent: string, trigger: Quoted): TurnRecord {
    const turnNumber = this.#places.nextNumber(agent)
    const { id, kind: inputSource } = trigger.source
    const turn = this.#add(newTurn({ ...this.#identity(agent), turnNumber, inputSource, trigger }))
    this.#places.setCause(agent, id, turn.id)
    return turn
  }

  #identity(agent: string) {
    const threadId = `${this.#space}/${agent}`
    return { id: this.#ids.next(), sessionId: this.#epoch, threadId, agent, startedAt: this.now }
  }

  #add(turn: TurnRecord): TurnRecord {
    this.touch(turn)
    return turn
  }
}

/** A job without a run is done when nothing more is to come of its envelope. */
const isIdle = ({ jobId, state, runs, decisions }: TurnRecord): boolean =>
  jobId !== null &&
  state === 'running' &&
  runs.length === 0 &&
  decisions.every(({ outcome }) => outcome !== null)
