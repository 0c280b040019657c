import { type AnyEnvelope, type EnvelopeOf, Kind } from '@meup/protocol'
import { afterPause } from '../participant/active.js'
import type { ChatOptions, Seat } from '../participant/seat.js'
import { Batches } from '../reasoning/batches.js'
import { Reasoning, type ReasonOptions } from '../reasoning/reasoning.js'

/** One thing that was asked of this participant, and its way to an answer [MEUP-11.5]. */
export class Turn {
  readonly space: Seat
  readonly trigger: EnvelopeOf<typeof Kind.chat>
  readonly #abort = new AbortController()
  readonly #batches = new Batches()

  constructor(space: Seat, trigger: EnvelopeOf<typeof Kind.chat>) {
    this.space = space
    this.trigger = trigger
  }

  /** What was asked. */
  get text(): string {
    return this.trigger.payload.message
  }

  /** Who asked. */
  get from(): string {
    return this.trigger.from
  }

  /** Aborted when the asker takes the question back, when a run of this turn is cancelled, or when the space closes. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  abort(reason: string): void {
    this.#abort.abort(reason)
  }

  /** Opens a run: everybody sees that this participant has begun to think, before any thought. */
  async reason(message?: string, options?: ReasonOptions): Promise<Reasoning> {
    const origin = { trigger: this.trigger.id, batches: this.#batches, signal: this.signal }
    const run = await Reasoning.open(this.space, origin, message, options)
    const follow = (): void => this.abort(String(run.signal.reason))
    if (run.signal.aborted) follow()
    else run.signal.addEventListener('abort', follow)
    return run
  }

  /**
   * Answers in the main conversation; a question that was put to some is answered to its asker. Who is paused answers
   * after that.
   */
  reply(message: string, options: Pick<ChatOptions, 'to' | 'format'> = {}): Promise<AnyEnvelope> {
    const to = this.trigger.to === undefined ? {} : { to: [this.trigger.from] }
    const answer = { ...to, ...options, correlationId: this.trigger.id }
    return afterPause(this.space, () => this.space.chat(message, answer), this.signal)
  }

  /** Takes note of a message without answering it. */
  acknowledge(status?: string): Promise<AnyEnvelope> {
    const payload = status === undefined ? {} : { status }
    return this.space.send({
      kind: Kind.chatAcknowledge,
      to: [this.from],
      correlationId: this.trigger.id,
      payload,
    })
  }
}
