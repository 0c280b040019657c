import { getMessage } from '@meup/folds'
import { type AnyEnvelope, type EnvelopeOf, isContextAncestor, isThought, Kind } from '@meup/protocol'
import type { OpenTurn } from '../agent/turns.js'

type Chat = EnvelopeOf<typeof Kind.chat>

/** A message or thought about a turn, as its model reads it. */
interface Remark {
  readonly from: string
  readonly text: string
}

/** What others say about a turn while a model works on it. */
export class Steering {
  readonly #turn: OpenTurn
  #unread: Remark[] = []
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
    if (!isHere || !this.#isOpen) return
    if (envelope.kind === Kind.chat) this.#steer(envelope)
    else if (isThought(envelope.kind)) this.#contribute(envelope)
  }

  /** A thought that somebody adds is read before the next step; what the model is at goes on. */
  #contribute({ from, payload }: AnyEnvelope): void {
    const text = getMessage({ ...payload })
    if (text !== '') this.#unread.push({ from, text: `A thought about your reasoning: ${text}` })
  }

  /** What was said meanwhile, and a signal that is aborted when more is said. */
  listen(): { readonly messages: readonly Remark[]; readonly signal: AbortSignal } {
    this.#interrupt = new AbortController()
    return { messages: this.#unread.splice(0), signal: this.#interrupt.signal }
  }

  /** Whether the answer can name one more message as what it answers. */
  #steer(message: Chat): boolean {
    if (!this.#turn.answerAlso(message.id)) return false
    this.#unread.push({ from: message.from, text: message.payload.message })
    this.#interrupt.abort('somebody has said something')
    return true
  }
}
