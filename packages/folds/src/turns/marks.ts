import type { Phase } from '@meup/protocol'
import { phaseBits } from '../steps/steps.js'

/** The effects of an envelope on a turn, as bits of `Mark.roles`. */
export const Role = {
  /** The turn begins with it. */
  begin: 1,
  /** It is part of the agent's work in the turn. */
  turn: 2,
  /** It opens a context in the turn. */
  open: 4,
  /** It closes contexts of the turn. */
  close: 8,
  /** A request or a proposal: the turn gets the step of its answer. */
  call: 16,
  /** A tool call of the turn. */
  dispatch: 32,
  /** A request that fulfils a proposal of the turn. */
  fulfil: 64,
  /** It ends calls of the turn. */
  settle: 128,
  /** The answer to a call; the turn gets its step. */
  home: 256,
  /** It answers the trigger. */
  answer: 512,
  /** The asker retracts the trigger. */
  takeBack: 1024,
  /** A proposal of the turn has expired by its time. */
  expire: 2048,
  /** The turn continues in a free path, where the agent's other envelopes belong to it. */
  free: 4096,
  /** It closes the last open context of the turn. */
  last: 8192,
  /** It is sent in a run of the turn, and may have no effect. */
  speak: 16384,
} as const

/** Roles that may end a batch of calls: only such an envelope makes an event [MEUP-11.11]. */
export const endingRoles = Role.close | Role.settle | Role.takeBack | Role.expire

/** One envelope in one turn. It has a second mark if its steps in the turn are not consecutive. */
export interface Mark {
  readonly beginning: Beginning
  readonly roles: number
  /** Its steps: number of the first, count, phases as bits, and index of the first among all steps of the envelope. */
  readonly step: number
  readonly steps: number
  readonly phases: number
  readonly index: number
}

/** A turn or job, as it began. */
export interface Beginning {
  /** From 1 in the space, in the order in which turns begin. */
  readonly turn: number
  /** A ULID. */
  readonly id: string
  readonly agent: string
  /** From 1 in the thread; `null` for a job. */
  readonly number: number | null
  /** Id of the envelope that a job began with; `null` for a turn. */
  readonly jobId: string | null
  /** Kind of the trigger, or `job`. */
  readonly inputSource: string
  /** Seq of the trigger; `null` for a job. */
  readonly trigger: number | null
  /** Seq of the envelope that it began with. */
  readonly seq: number
  readonly startedAt: string
}

/** The effects of one envelope. */
export interface Assigned {
  readonly begun: readonly Beginning[]
  /** Marks that end calls come first, in the order of the ends. */
  readonly marks: readonly Mark[]
  /** The latest time of the log so far (RFC 3339); empty without marks. */
  readonly at: string
}

/** A turn that envelopes may still belong to. */
export interface OpenTurn {
  readonly heading: Beginning
  /** Numbers of its steps so far and of its open contexts. */
  steps: number
  open: number
  /** Increases with each envelope that changes it. */
  touched: number
}

interface Draft extends Mark {
  readonly owner: OpenTurn
  roles: number
  step: number
  steps: number
  phases: number
  index: number
  /** Position among the marks that may end a batch. */
  end: number
}

/** Roles that change a turn; a call, a fulfilment or a chat alone does not. */
const touching = ~(Role.call | Role.fulfil | Role.speak)

export const unassigned: Assigned = { begun: [], marks: [], at: '' }

/** Collects the effects of one envelope. */
export class Marking {
  /** Number of changes of turns so far. */
  touches = 0
  #begun: Beginning[] = []
  #marks: Draft[] = []
  #index = 0
  #ends = 0

  /** The next index among the steps and turns made of the envelope; it becomes part of the ULID. */
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

  /** Marks a turn in which the envelope may end a batch. */
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

  /** Returns the effects, sorted as `Assigned.marks`, and resets for the next envelope. */
  done(at: string): Assigned {
    if (this.#marks.length === 0) return unassigned
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
