import type { MayRead } from '@meup/folds'
import { kindOf, type TurnEvent, type TurnEvents } from '../../index/turn-events.js'
import type { Ended } from '../../index/turn-index.js'
import type { Message } from './outbound-batch.js'
import type { Session } from './session.js'

/** An envelope that may have ended a batch of calls, on its way to the feeds [MEUP-11.11]. */
export class Ending {
  /** Of the envelope. */
  readonly seq: number
  readonly agent: string
  /** Whether all who are told are told the same. */
  readonly isForAll: boolean
  readonly #told: TurnEvents
  readonly #folded: number
  readonly #messages = new Map<TurnEvent, Message>()

  /** `isFirst`: of those that are told together. */
  constructor({ seq, turn }: Ended, told: TurnEvents, isFirst = true) {
    this.seq = seq
    this.agent = turn.agent
    this.#told = told
    this.#folded = isFirst ? told.folded : 0
    this.isForAll = told.audiences.length === 0
  }

  /** Whether it is known what this feed is told. */
  isKnownTo(session: Session): boolean {
    return this.#told.events.has(kindOf(session, this.#told.audiences))
  }

  /** Characters of the rationales of what is told, how many there are, and what had to be folded for that. */
  get size(): { readonly decisions: number; readonly characters: number; readonly folded: number } {
    const told = [...this.#told.events.values()].flat().filter(({ seq }) => seq === this.seq)
    const decisions = told.flatMap(({ event }): { readonly rationale: string }[] => [...event.tool_decisions])
    const characters = decisions.reduce((sum, { rationale }) => sum + rationale.length, 0)
    return { decisions: decisions.length, characters, folded: this.#folded }
  }

  /** What a feed is told: nothing where it may read, or has asked for, none of the calls. */
  messageFor(session: Session): Message | undefined {
    const events = this.#told.events.get(kindOf(session, this.#told.audiences)) ?? []
    const told = events.find(({ seq }) => seq === this.seq)
    const isAsked: MayRead = (said) => session.selection.includesCall({ ...said, from: this.agent })
    if (told === undefined || !told.said.some(isAsked)) return undefined
    const known = this.#messages.get(told)
    if (known !== undefined) return known
    const { event, seq } = told
    const message = { text: Buffer.from(JSON.stringify(event)), seq, name: event.type }
    this.#messages.set(told, message)
    return message
  }
}
