import { type BatchEnd, lowestUlidAt, type ReasoningStep, type TurnRecord } from '@meup/views'
import type { AuditStep, EndRange, StepQuery, StepRange, TrailQuery, TurnQuery } from '../ports/projection.js'
import { type Changes, headingOf, later, reportedTurn } from '../projection/changes.js'

interface StoredTurn {
  readonly turn: TurnRecord
  readonly changedAt: string
}

/** Turns and steps of one space in memory. What is given belongs to the caller; what is stored goes on living. */
export class MemoryTables {
  /** By their ids. */
  readonly #turns = new Map<string, StoredTurn>()
  /** In their order, which is that of the log. */
  #steps: ReasoningStep[] = []
  #ends: Changes['ends'] = []

  write({ turns, steps, ends }: Changes): void {
    for (const [id, { value: turn, at }] of turns) {
      this.#turns.set(id, { turn, changedAt: later(at, this.#turns.get(id)?.changedAt) })
    }
    this.#steps.push(...steps)
    this.#ends.push(...ends)
  }

  clear(): void {
    this.#turns.clear()
    this.#steps = []
    this.#ends = []
  }

  older(before: string): number {
    return this.#steps.filter(({ created_at }) => created_at < before).length
  }

  prune(before: string): number {
    const removed = this.older(before)
    this.#steps = this.#steps.filter(({ created_at }) => created_at >= before)
    this.#ends = this.#ends.filter(({ at }) => at >= before)
    for (const [id, { changedAt }] of this.#turns) if (changedAt < before) this.#turns.delete(id)
    return removed
  }

  ends({ after, through, limit }: EndRange): BatchEnd[] {
    return this.#ends
      .filter(({ value: { seq } }) => seq > after && seq <= through)
      .slice(0, limit)
      .map(({ value: { seq, turn, narrative } }) => ({
        seq,
        turn: structuredClone(reportedTurn(this.#turnOf(turn.id))),
        narrative,
      }))
  }

  turns({ thread, before = Number.POSITIVE_INFINITY, limit }: TurnQuery): TurnRecord[] {
    return this.#inThread(thread)
      .filter(({ turnNumber }) => turnNumber !== null && turnNumber < before)
      .sort((one, other) => (other.turnNumber ?? 0) - (one.turnNumber ?? 0))
      .slice(0, limit)
      .map((turn) => structuredClone(turn))
  }

  trail({ after = '', thread, turn: number, limit }: TrailQuery): TurnRecord[] {
    return this.#inThread(thread)
      .filter(({ id, turnNumber }) => id > after && (number === undefined || turnNumber === number))
      .sort((one, other) => (one.id < other.id ? -1 : 1))
      .slice(0, limit)
      .map((turn) => structuredClone(turn))
  }

  steps({ limit, ...query }: StepQuery): AuditStep[] {
    const found: AuditStep[] = []
    for (let at = this.#steps.length - 1; at >= 0 && found.length < limit; at--) {
      const step = this.#steps[at]
      if (step === undefined) break
      const turn = this.#turnOf(step.turn_id)
      if (isAmong(step, turn, query)) found.push({ step, turn: structuredClone(headingOf(turn)) })
    }
    return found
  }

  stepsOf(turn: string, { from, limit }: StepRange): ReasoningStep[] {
    return this.#steps
      .filter(({ turn_id, step_number }) => turn_id === turn && step_number >= from)
      .slice(0, limit)
  }

  #inThread(thread: string | undefined): TurnRecord[] {
    const all = [...this.#turns.values()].map(({ turn }) => turn)
    return thread === undefined ? all : all.filter(({ threadId }) => threadId === thread)
  }

  #turnOf(id: string): TurnRecord {
    const stored = this.#turns.get(id)
    if (stored === undefined) throw new Error(`there is no turn ${id}`)
    return stored.turn
  }
}

function isAmong(
  { id, phase, source }: ReasoningStep,
  { threadId, turnNumber, agent }: TurnRecord,
  { turn, thread, phases, agents, since, until, before }: Omit<StepQuery, 'limit'>,
): boolean {
  return (
    (turn === undefined || turnNumber === turn) &&
    (thread === undefined || threadId === thread) &&
    (phases === undefined || phases.includes(phase)) &&
    (agents === undefined || agents.includes(agent)) &&
    (since === undefined || id >= lowestUlidAt(Date.parse(since))) &&
    (until === undefined || id < lowestUlidAt(Date.parse(until))) &&
    (before === undefined || source.seq < before)
  )
}
