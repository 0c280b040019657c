import { Kind, omitUndefined } from '@meup/protocol'
import type { Reasoning } from '../agent/reasoning.js'
import { ThoughtStream } from '../agent/thought-stream.js'
import type { Turn } from '../agent/turn.js'
import type { BaseClient } from '../client/base-client.js'
import type { CallOptions } from '../client/types.js'
import type { ThinkingDelta } from './dialogue.js'
import type { Clock, ReasoningDetail } from './options.js'

/** The reasoning run in which a model works on an answer. */
export interface ThinkingRun extends Pick<Reasoning, 'signal' | typeof Symbol.asyncDispose> {
  /** Path of the run; `undefined` = the gateway refused the run, so the reasoning is not published. */
  readonly context: string | undefined
  /** Fields of envelopes that belong to the run: its context or, without a published run, the id of the trigger. */
  readonly place: Pick<CallOptions, 'context' | 'correlationId'>
  thought(text: string): Promise<unknown>
  conclude(message: string | undefined, options: { readonly metadata: object }): Promise<unknown>
}

/** Opens a run for a turn. If the gateway refuses, reports the error; the reasoning is then not published. */
export async function openThinkingRun(
  turn: Turn,
  metadata: object,
  onError: (error: unknown) => void,
): Promise<ThinkingRun> {
  try {
    const run = await turn.reason(undefined, { metadata })
    return Object.assign(run, { place: { context: run.context } })
  } catch (error) {
    if (turn.space.ended || turn.signal.aborted) throw error
    onError(error)
    return silent(turn)
  }
}

const silent = ({ signal, trigger }: Turn): ThinkingRun => ({
  context: undefined,
  place: { correlationId: trigger.id },
  signal,
  thought: nothing,
  conclude: nothing,
  [Symbol.asyncDispose]: nothing,
})

const nothing = (): Promise<void> => Promise.resolve()

/** Publishes a model's reasoning to the participants that may read it [MEUP-6.10]. */
export class ModelThinking {
  readonly #detail: ReasoningDetail
  readonly #aloud: ThoughtStream
  /** Sends raw reasoning, which only this participant and holders of `observe.targeted` may read. */
  readonly #aside: ThoughtStream
  #summary = ''

  constructor(
    {
      id,
      client,
      run,
      detail,
    }: { id: string; client: BaseClient; run: ThinkingRun; detail: ReasoningDetail },
    clock: Clock,
    onError: (error: unknown) => void,
  ) {
    this.#detail = detail
    const after: Clock['after'] = (ms, task) => clock.after(ms, task)
    this.#aloud = new ThoughtStream((message) => run.thought(message), after, onError)
    const { context } = run
    const aside = (message: string) => ({
      kind: Kind.reasoningThought,
      to: [id],
      ...omitUndefined({ context }),
      payload: { message, metadata: { detail: 'trace' } },
    })
    const whisper = async (message: string) => {
      if (context !== undefined) await client.sendWhenAllowed(aside(message), run.signal)
    }
    this.#aside = new ThoughtStream(whisper, after, onError)
  }

  /** The provider's summary of the reasoning in this step so far; empty if `reasoningDetail` is `summary`. */
  get summary(): string {
    return this.#detail === 'summary' ? '' : this.#summary
  }

  onDelta({ text, isSummary }: ThinkingDelta): void {
    if (isSummary) this.#summary += text
    if (isSummary && this.#detail !== 'summary') this.#aloud.push(text)
    if (!isSummary && this.#detail === 'trace') this.#aside.push(text)
  }

  /** Resolves when all reasoning of this step is sent. */
  async end(): Promise<void> {
    await Promise.all([this.#aloud.end(), this.#aside.end()])
  }

  begin(): void {
    this.#summary = ''
  }
}
