import { Kind } from '@meup/protocol'
import { afterPause } from '../participant/active.js'
import type { Seat } from '../participant/seat.js'
import type { Clock } from './clock.js'
import type { ThinkingDelta } from './dialogue.js'
import type { ReasoningDetail } from './options.js'
import type { Run } from './run.js'
import { ThoughtStream } from './thought-stream.js'

/** Says what a model thinks, to those who may know it [MEUP-6.10]. */
export class Thinking {
  readonly #detail: ReasoningDetail
  readonly #aloud: ThoughtStream
  /** For this participant itself, and for holders of `observe.targeted`. */
  readonly #aside: ThoughtStream
  #summary = ''

  constructor(
    { id, seat, run, detail }: { id: string; seat: Seat; run: Run; detail: ReasoningDetail },
    clock: Clock,
    trouble: (error: unknown) => void,
  ) {
    this.#detail = detail
    this.#aloud = new ThoughtStream((message) => run.thought(message), clock, trouble)
    const { context } = run
    const aside = (message: string) => ({
      kind: Kind.reasoningThought,
      to: [id],
      ...(context !== undefined && { context }),
      payload: { message, metadata: { detail: 'trace' } },
    })
    const whisper = async (message: string) => {
      if (context !== undefined) await afterPause(seat, () => seat.send(aside(message)), run.signal)
    }
    this.#aside = new ThoughtStream(whisper, clock, trouble)
  }

  /** What was told of the thinking of this step for people to read. */
  get summary(): string {
    return this.#detail === 'summary' ? '' : this.#summary
  }

  hear({ text, isSummary }: ThinkingDelta): void {
    if (isSummary) this.#summary += text
    if (isSummary && this.#detail !== 'summary') this.#aloud.push(text)
    if (!isSummary && this.#detail === 'trace') this.#aside.push(text)
  }

  /** Resolves when all that was thought in this step is said. */
  async end(): Promise<void> {
    await Promise.all([this.#aloud.end(), this.#aside.end()])
  }

  begin(): void {
    this.#summary = ''
  }
}
