import { getMessage } from '@meup/folds'
import { type AnyEnvelope, type EnvelopeOf, isContextAncestor, isThought, Kind } from '@meup/protocol'
import type { ClientTurn } from '../agent/turns.js'

type Chat = EnvelopeOf<typeof Kind.chat>

/** A message or thought about a turn, in the form for its model. */
interface Remark {
  readonly from: string
  readonly text: string
}

/** Messages of others about a turn while a model works on it. */
export class Steering {
  readonly #turn: ClientTurn
  #unread: Remark[] = []
  #isOpen = true
  #interrupt = new AbortController()

  constructor(turn: ClientTurn) {
    this.#turn = turn
  }

  /** A message has arrived that the model has not seen. */
  get isWaiting(): boolean {
    return this.#unread.length > 0
  }

  /** Later messages are not about this turn. */
  close(): void {
    this.#isOpen = false
  }

  /** Adds a message of the asker, and interrupts the model. Returns whether the message is about this turn. */
  redirect(message: Chat): boolean {
    const isMine = this.#isOpen && message.from === this.#turn.from && !this.#turn.signal.aborted
    return isMine && this.#steer(message)
  }

  /** An envelope of another participant while the run in this context is open. */
  onEnvelope(envelope: AnyEnvelope, run: string | undefined): void {
    const { from, context } = envelope
    if (from === this.#turn.space.id) return
    const isHere =
      context !== undefined && run !== undefined && (context === run || isContextAncestor(run, context))
    if (!isHere || !this.#isOpen) return
    if (envelope.kind === Kind.chat) this.#steer(envelope)
    else if (isThought(envelope.kind)) this.#contribute(envelope)
  }

  /** A contributed thought is read before the next step; it does not interrupt the model. */
  #contribute({ from, payload }: AnyEnvelope): void {
    const text = getMessage({ ...payload })
    if (text !== '') this.#unread.push({ from, text: `A thought about your reasoning: ${text}` })
  }

  /** Messages since the last call, and a signal that is aborted when another arrives. */
  listen(): { readonly messages: readonly Remark[]; readonly signal: AbortSignal } {
    this.#interrupt = new AbortController()
    return { messages: this.#unread.splice(0), signal: this.#interrupt.signal }
  }

  /** Returns `false` if the answer cannot correlate to another message. */
  #steer(message: Chat): boolean {
    if (!this.#turn.answerAlso(message.id)) return false
    this.#unread.push({ from: message.from, text: message.payload.message })
    this.#interrupt.abort('a participant has said something')
    return true
  }
}
