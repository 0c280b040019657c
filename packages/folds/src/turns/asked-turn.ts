import { correlations, type Envelope, Kind } from '@meup/protocol'
import { getEnding } from '../ending.js'
import { Assigner } from './assign.js'
import { FoldedTurn, type TurnOptions } from './fold-turn.js'
import type { TurnRecord } from './record.js'

/** A chat, and the participant whose answer counts. */
export interface Question {
  /** Of the chat. */
  readonly id: string
  readonly from: string
  readonly agent: string
}

/**
 * The turn of one agent about one question. Apply the envelopes that its reader may read, in log order and from the question
 * on.
 */
export class AskedTurn {
  readonly #question: Question
  readonly #options: TurnOptions
  readonly #assigner: Assigner
  #trigger: Envelope | undefined
  #turn: FoldedTurn | undefined
  /** Number of the turn in the space. */
  #number = 0
  #reason: string | null = null
  #isTakenBack = false

  constructor(question: Question, options: TurnOptions) {
    this.#question = question
    this.#options = options
    this.#assigner = new Assigner(options.epoch)
  }

  /** `undefined` until the agent has begun. */
  get record(): TurnRecord | undefined {
    return this.#turn?.record
  }

  /** Why its agent has given it up, if it said so. */
  get reason(): string | null {
    return this.#reason
  }

  /** Whether the asker has taken the question back, which may be before there is a turn. */
  get isTakenBack(): boolean {
    return this.#isTakenBack
  }

  /** Returns whether the envelope belongs to the turn. */
  apply(envelope: Envelope): boolean {
    const { id, from, agent } = this.#question
    if (envelope.id === id) this.#trigger = envelope
    const isAboutIt = envelope.from === from && correlations(envelope).includes(id)
    if (envelope.kind === Kind.chatCancel && isAboutIt) this.#isTakenBack = true
    const { begun, marks } = this.#assigner.assign(envelope)
    const asked = this.#trigger?.seq ?? null
    const ours = begun.find((each) => each.agent === agent && each.trigger === asked)
    if (ours !== undefined && this.#turn === undefined) {
      this.#turn = new FoldedTurn(ours, this.#options, this.#trigger)
      this.#number = ours.turn
    }
    const here = marks.filter(({ beginning }) => beginning.turn === this.#number)
    if (this.#turn === undefined || here.length === 0) return false
    const { state } = this.#turn.record
    this.#turn.apply(
      envelope,
      here.reduce((roles, mark) => roles | mark.roles, 0),
    )
    if (state === 'running') this.#reason = getEnding(envelope)[1]
    return true
  }
}
