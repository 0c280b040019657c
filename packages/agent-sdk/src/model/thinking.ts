import { cut } from '@meup/folds'
import { Kind } from '@meup/protocol'
import type { Reasoning } from '../agent/reasoning.js'
import type { Turn } from '../agent/turns.js'
import type { BaseClient } from '../client/base-client.js'
import type { CallOptions } from '../client/types.js'
import type { ThinkingDelta } from './dialogue.js'
import type { Clock, ReasoningDetail } from './options.js'

/** What an answer needs of the run in which it is thought about. */
export interface Run
  extends Pick<Reasoning, 'signal' | typeof Symbol.asyncDispose>,
    Record<'thought' | 'cancel', (text: string) => Promise<unknown>> {
  /** `undefined`: the reasoning is not published. */
  readonly context: string | undefined
  /** Where its calls belong. */
  readonly place: Pick<CallOptions, 'context' | 'correlationId'>
  conclude(message: string | undefined, options: { readonly metadata: object }): Promise<unknown>
}

/** Opens a run for a turn. If the gateway refuses it, the error is reported and the reasoning is not published. */
export async function openRun(turn: Turn, metadata: object, onError: (error: unknown) => void): Promise<Run> {
  try {
    const run = await turn.reason(undefined, { metadata })
    return Object.assign(run, { place: { context: run.context } })
  } catch (error) {
    if (turn.space.ended || turn.signal.aborted) throw error
    onError(error)
    return silent(turn)
  }
}

const silent = ({ signal, trigger }: Turn): Run => ({
  context: undefined,
  place: { correlationId: trigger.id },
  signal,
  thought: nothing,
  conclude: nothing,
  cancel: nothing,
  [Symbol.asyncDispose]: nothing,
})

const nothing = (): Promise<void> => Promise.resolve()

/** Says what a model thinks, to those who may know it [MEUP-6.10]. */
export class Thinking {
  readonly #detail: ReasoningDetail
  readonly #aloud: ThoughtStream
  /** For this participant itself, and for holders of `observe.targeted`. */
  readonly #aside: ThoughtStream
  #summary = ''

  constructor(
    { id, client, run, detail }: { id: string; client: BaseClient; run: Run; detail: ReasoningDetail },
    clock: Clock,
    onError: (error: unknown) => void,
  ) {
    this.#detail = detail
    this.#aloud = new ThoughtStream((message) => run.thought(message), clock, onError)
    const { context } = run
    const aside = (message: string) => ({
      kind: Kind.reasoningThought,
      to: [id],
      ...(context !== undefined && { context }),
      payload: { message, metadata: { detail: 'trace' } },
    })
    const whisper = async (message: string) => {
      if (context !== undefined) await client.sendWhenAllowed(aside(message), run.signal)
    }
    this.#aside = new ThoughtStream(whisper, clock, onError)
  }

  /** The reasoning summary of this step so far. */
  get summary(): string {
    return this.#detail === 'summary' ? '' : this.#summary
  }

  onDelta({ text, isSummary }: ThinkingDelta): void {
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

/** Milliseconds between two thoughts. */
const thoughtIntervalMs = 400
/** Characters of one thought; the gateway cuts what is much longer. */
const maxThoughtChars = 8000

/**
 * Makes thoughts of what a model thinks token by token: whole sentences, at most one envelope every 400 ms, and one more
 * for what is left in the end. Errors go to `onError` and stop nothing.
 */
class ThoughtStream {
  readonly #sendThought: (text: string) => Promise<unknown>
  readonly #clock: Clock
  readonly #onError: (error: unknown) => void
  #text = ''
  #cancel: (() => void) | undefined
  #saying: Promise<void> | undefined

  constructor(
    sendThought: (text: string) => Promise<unknown>,
    clock: Clock,
    onError: (error: unknown) => void,
  ) {
    this.#sendThought = sendThought
    this.#clock = clock
    this.#onError = onError
  }

  push(delta: string): void {
    this.#text += delta
    this.#schedule()
  }

  /** Says what is left, or as much of it as one thought holds. Resolves when the space has all of it. */
  async end(): Promise<void> {
    await this.#saying
    this.#cancel?.()
    this.#cancel = undefined
    const rest = this.#text
    this.#text = ''
    const left = rest.length - maxThoughtChars
    await this.#send(left > 0 ? `${cut(rest, maxThoughtChars)} (${left} more characters)` : rest)
  }

  #schedule(): void {
    if (this.#text === '' || this.#cancel !== undefined || this.#saying !== undefined) return
    this.#cancel = this.#clock.after(thoughtIntervalMs, () => this.#sendNext())
  }

  #sendNext(): void {
    this.#cancel = undefined
    const length = countSendableChars(this.#text.slice(0, maxThoughtChars))
    const piece = this.#text.slice(0, length)
    this.#text = this.#text.slice(length)
    this.#saying = this.#send(piece).then(() => {
      this.#saying = undefined
      this.#schedule()
    })
  }

  async #send(piece: string): Promise<void> {
    const text = piece.trim()
    if (text !== '') await this.#sendThought(text).catch(this.#onError)
  }
}

/** Ends of sentences: a mark and what follows it, or a line's end. */
const sentenceEnd = /[.!?…]["')\]*_]*\s|[。！？]|\n/g
/** Less than this, some ten tokens, is no part of a sentence worth saying by itself. */
const minPieceChars = 40

/**
 * How much of a text that is still growing can be said: its whole sentences; of a first sentence that takes long, its
 * whole words. 0 = nothing yet.
 */
function countSendableChars(text: string): number {
  const ends = [...text.matchAll(sentenceEnd)].map((match) => match.index + match[0].length)
  const last = ends.findLast((end) => text.slice(0, end).trim() !== '')
  if (last !== undefined) return last
  const words = text.search(/\s\S*$/)
  return words >= minPieceChars ? words : 0
}
