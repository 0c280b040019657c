import type { Phase } from '@meup/protocol'
import { phaseBits } from '../steps/phases.js'
import { type Assigned, type Beginning, type Mark, type OpenTurn, Role } from './mark.js'

interface Draft extends Mark {
  readonly owner: OpenTurn
  roles: number
  step: number
  steps: number
  phases: number
  index: number
  /** Place among those that may end a batch. */
  end: number
}

/** Roles that change a turn; who only calls or speaks in it, or fulfils, changes nothing yet. */
const touching = ~(Role.call | Role.fulfil | Role.hear)

export const nothing: Assigned = { begun: [], marks: [], at: '' }

/** Collects what one envelope does. */
export class Marking {
  /** How often envelopes have done something to a turn. */
  touches = 0
  #begun: Beginning[] = []
  #marks: Draft[] = []
  #index = 0
  #ends = 0

  /** The place among all that is made of the envelope that its id tells. */
  place(): number {
    return this.#index++
  }

  begin(turn: OpenTurn): void {
    this.#begun.push(turn.heading)
    this.mark(turn, Role.begin)
  }

  mark(turn: OpenTurn, roles: number): Draft {
    const known = this.#marks.find(({ owner }) => owner === turn)
    if (known === undefined) return this.#add(turn, roles)
    known.roles |= roles
    return known
  }

  /** Marks what may end a batch. */
  end(turn: OpenTurn, roles: number): void {
    const mark = this.mark(turn, roles)
    if (mark.end === Number.POSITIVE_INFINITY) mark.end = this.#ends++
  }

  step(turn: OpenTurn, phase: Phase, roles = 0): void {
    let mark = this.#marks.findLast(({ owner }) => owner === turn) ?? this.#add(turn, roles)
    if (mark.steps > 0 && mark.index + mark.steps !== this.#index) mark = this.#add(turn, roles)
    mark.roles |= roles
    if (mark.steps === 0) Object.assign(mark, { step: turn.steps, index: this.#index })
    mark.steps++
    mark.phases |= phaseBits[phase]
    turn.steps++
    this.#index++
  }

  /** All of it, in the order of what it ends, then of what it does; the next envelope begins anew. */
  done(at: string): Assigned {
    if (this.#marks.length === 0) return nothing
    const marks = this.#marks
    for (const { roles, owner } of marks) if ((roles & touching) !== 0) owner.touched = ++this.touches
    if (marks.length > 1 && this.#ends > 0) marks.sort((one, other) => one.end - other.end)
    const assigned = { begun: this.#begun, marks, at }
    this.#begun = []
    this.#marks = []
    this.#index = 0
    this.#ends = 0
    return assigned
  }

  #add(owner: OpenTurn, roles: number): Draft {
    const place = { step: 0, steps: 0, phases: 0, index: 0, end: Number.POSITIVE_INFINITY }
    const mark = { beginning: owner.heading, owner, roles, ...place }
    this.#marks.push(mark)
    return mark
  }
}
