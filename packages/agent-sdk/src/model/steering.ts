import { type AnyEnvelope, type EnvelopeOf, isContextAncestor, Kind } from '@meup/protocol'
import type { OpenTurn } from '../agent/turns.js'

type Chat = EnvelopeOf<typeof Kind.chat>

/** What others say about a turn while a model works on it. */
export class Steering {
  readonly #turn: OpenTurn
  #unread: Chat[] = []
  #isOpen = true
  #interrupt = new AbortController()

  constructor(turn: OpenTurn) {
    this.#turn = turn
  }

  /** Something was said that the model does not know yet. */
  get isWaiting(): boolean {
    return this.#unread.length > 0
  }

  /** Nothing that is said from now on is about this turn. */
  close(): void {
    this.#isOpen = false
  }

  /** Whether the message is about this turn, rather than a question of its own. */
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
    if (envelope.kind === Kind.chat && isHere && this.#isOpen) this.#steer(envelope)
  }

  /** What was said meanwhile, and a signal that is aborted when more is said. */
  listen(): { readonly messages: readonly Chat[]; readonly signal: AbortSignal } {
    this.#interrupt = new AbortController()
    return { messages: this.#unread.splice(0), signal: this.#interrupt.signal }
  }

  /** Whether the answer can name one more message as what it answers. */
  #steer(message: Chat): boolean {
    if (!this.#turn.answerAlso(message.id)) return false
    this.#unread.push(message)
    this.#interrupt.abort('somebody has said something')
    return true
  }
}
