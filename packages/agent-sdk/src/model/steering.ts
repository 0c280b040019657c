import {
  type AnyEnvelope,
  correlations,
  type EnvelopeOf,
  isContextAncestor,
  Kind,
  maxCorrelations,
} from '@meup/protocol'
import type { Turn } from '../agent/turns.js'

type Chat = EnvelopeOf<typeof Kind.chat>

/** What others say about a turn while a model works on it. */
export class Steering {
  readonly #turn: Turn
  /** Ids of what is answered: the trigger, and what came while it was thought about. */
  readonly #asked: string[]
  #unread: Chat[] = []
  #isOpen = true
  #interrupt = new AbortController()
  #stopper: string | undefined

  constructor(turn: Turn) {
    this.#turn = turn
    this.#asked = [turn.trigger.id]
  }

  get asked(): readonly string[] {
    return this.#asked
  }

  /** Who has put an end to it. */
  get stopper(): string | undefined {
    return this.#stopper
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
    else if (envelope.kind === Kind.reasoningCancel && isHere && context === run) this.#stopper ??= from
    else if (envelope.kind === Kind.chatCancel && from === this.#turn.from) {
      if (correlations(envelope).includes(this.#turn.trigger.id)) this.#stopper ??= from
    }
  }

  /** What was said meanwhile, and a signal that is aborted when more is said. */
  listen(): { readonly messages: readonly Chat[]; readonly signal: AbortSignal } {
    this.#interrupt = new AbortController()
    return { messages: this.#unread.splice(0), signal: this.#interrupt.signal }
  }

  /** Whether the answer can name one more message as what it answers. */
  #steer(message: Chat): boolean {
    if (this.#asked.length >= maxCorrelations) return false
    this.#unread.push(message)
    this.#asked.push(message.id)
    this.#interrupt.abort('somebody has said something')
    return true
  }
}
