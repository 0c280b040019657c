import { getMessage } from '@meup/folds'
import { type AnyEnvelope, type EnvelopeOf, isContextAncestor, isThought, Kind } from '@meup/protocol'
import type { ClientTurn } from '../agent/turns.js'

type Chat = EnvelopeOf<typeof Kind.chat>

/** A message or thought about a turn, to be added to the conversation with its model. */
interface Remark {
  readonly from: string
  readonly text: string
}

/** Collects messages of other participants that concern a turn while a model works on it. */
export class Steering {
  readonly #turn: ClientTurn
  #unread: Remark[] = []
  #isOpen = true
  #interrupt = new AbortController()

  constructor(turn: ClientTurn) {
    this.#turn = turn
  }

  /** Whether there are messages that the model has not read yet. */
  get isWaiting(): boolean {
    return this.#unread.length > 0
  }

  /** Ends the collection: further messages do not concern this turn. */
  close(): void {
    this.#isOpen = false
  }

  /** Adds a message of the asker, and interrupts the model. Returns false if the message does not concern this turn. */
  redirect(message: Chat): boolean {
    const isMine = this.#isOpen && message.from === this.#turn.from && !this.#turn.signal.aborted
    return isMine && this.#steer(message)
  }

  /** Handles an envelope of another participant. Only messages and thoughts in the context `run` concern the turn. */
  onEnvelope(envelope: AnyEnvelope, run: string | undefined): void {
    const { from, context } = envelope
    if (from === this.#turn.space.id) return
    const isHere =
      context !== undefined && run !== undefined && (context === run || isContextAncestor(run, context))
    if (!isHere || !this.#isOpen) return
    if (envelope.kind === Kind.chat) this.#steer(envelope)
    else if (isThought(envelope.kind)) this.#contribute(envelope)
  }

  /** Adds a contributed thought. The model reads it in the next step and is not interrupted. */
  #contribute({ from, payload }: AnyEnvelope): void {
    const text = getMessage({ ...payload })
    if (text !== '') this.#unread.push({ from, text: `A thought about your reasoning: ${text}` })
  }

  /** Returns the messages since the last call, and a signal that is aborted when another message arrives. */
  listen(): { readonly messages: readonly Remark[]; readonly signal: AbortSignal } {
    this.#interrupt = new AbortController()
    return { messages: this.#unread.splice(0), signal: this.#interrupt.signal }
  }

  /** Adds a message. Returns `false` if the answer already correlates with the maximum number of messages. */
  #steer(message: Chat): boolean {
    if (!this.#turn.answerAlso(message.id)) return false
    this.#unread.push({ from: message.from, text: message.payload.message })
    this.#interrupt.abort('a participant has said something')
    return true
  }
}
