import type { Phase } from '@meup/protocol'
import { phaseBits } from '../steps/steps.js'

/** The effects of an envelope on a turn, as bits of `Mark.roles`. */
export const Role = {
  /** The turn begins with the envelope. */
  begin: 1,
  /** The envelope is part of the agent's work in the turn. */
  turn: 2,
  /** The envelope opens a context in the turn. */
  open: 4,
  /** The envelope closes contexts of the turn. */
  close: 8,
  /** The envelope is a request or a proposal whose answer makes a step of the turn. */
  call: 16,
  /** The envelope is a tool call of the turn. */
  dispatch: 32,
  /** The envelope is a request that fulfils a proposal of the turn. */
  fulfil: 64,
  /** The envelope ends calls of the turn. */
  settle: 128,
  /** The envelope answers a call; the answer is a step of the turn. */
  home: 256,
  /** The envelope answers the trigger. */
  answer: 512,
  /** The envelope retracts the trigger. */
  takeBack: 1024,
  /** A proposal of the turn has expired by the time of the envelope. */
  expire: 2048,
  /**
   * The turn continues in the free path of the envelope (a context that no run has opened): other envelopes of the agent there
   * belong to it.
   */
  free: 4096,
  /** The envelope closes the last open context of the turn. */
  last: 8192,
  /** The envelope is a chat of the turn, but not its answer. In a free path, a chat of the agent counts as a thought. */
  speak: 16384,
} as const

/** Roles that may end a batch of parallel calls: only envelopes with one of them make an event [MEUP-11.11]. */
export const endingRoles = Role.close | Role.settle | Role.takeBack | Role.expire

/** The part of one envelope in one turn. An envelope has two marks in a turn if its steps there are not consecutive. */
export interface Mark {
  readonly beginning: Beginning
  readonly roles: number
  /**
   * The steps of the envelope in the turn: number of the first, count, phases as bits, and index of the first among all steps
   * of the envelope.
   */
  readonly step: number
  readonly steps: number
  readonly phases: number
  readonly index: number
}

/** The heading of a turn or job, which does not change after its beginning. */
export interface Beginning {
  /** Number of the turn in the space, from 1, in the order of beginning. */
  readonly turn: number
  /** Id of the turn, a ULID. */
  readonly id: string
  readonly agent: string
  /** Number of the turn in its thread, from 1; `null` for a job. */
  readonly number: number | null
  /** Id of the envelope that began the job; `null` for a turn. */
  readonly jobId: string | null
  /** Kind of the trigger, or `job`. */
  readonly inputSource: string
  /** Seq of the trigger; `null` for a job. */
  readonly trigger: number | null
  /** Seq of the first envelope of the turn. */
  readonly seq: number
  readonly startedAt: string
}

/** The effects of one envelope on turns. */
export interface Assigned {
  readonly begun: readonly Beginning[]
  /** Marks on turns. Marks that end calls come first, in the order in which the calls end. */
  readonly marks: readonly Mark[]
  /** The latest time in the log so far (RFC 3339); empty if `marks` is empty. */
  readonly at: string
}

/** A turn to which later envelopes may belong. */
export interface OpenTurn {
  readonly heading: Beginning
  /** Numbers of steps so far, and of open contexts. */
  steps: number
  open: number
  /** Number of the last change of the turn, counted over all turns: a turn that changed later has a larger one. */
  touched: number
}

interface Draft extends Mark {
  readonly owner: OpenTurn
  roles: number
  step: number
  steps: number
  phases: number
  index: number
  /** Position of the mark among those of its envelope that may end a batch of parallel calls; infinite = it ends none. */
  end: number
}

/** Roles that count as a change of a turn (`touched`). A call, a fulfilment or a chat alone does not. */
const touching = ~(Role.call | Role.fulfil | Role.speak)

export const unassigned: Assigned = { begun: [], marks: [], at: '' }

/** Collects the effects of one envelope on turns. */
export class Marking {
  /** Number of changes of all turns so far. */
  touches = 0
  #begun: Beginning[] = []
  #marks: Draft[] = []
  #index = 0
  #ends = 0

  /** Returns the next index among the steps and turns that the envelope makes; it becomes part of their ULIDs. */
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

  /** Marks a turn in which the envelope may end a batch of parallel calls. */
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

  /** Returns the effects of the envelope, those that end calls first, and resets for the next envelope. */
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
