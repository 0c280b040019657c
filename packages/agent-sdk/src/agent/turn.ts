import type { AnyEnvelope, EnvelopeOf, Kind } from '@meup/protocol'
import type { Answer, BaseClient } from '../client/base-client.js'
import type { ChatOptions, ThinkingLevel } from '../client/types.js'
import type { WaitOptions } from '../client/wait.js'
import type { Draftable, Review, ReviewOptions } from './delegation.js'
import type { LiveText } from './deltas.js'
import type { History, MemoryBounds } from './history.js'
import type { Reasoning, ReasonOptions, Think } from './reasoning.js'

/** One answer to one trigger [MEUP-11.5]. */
export interface Turn {
  readonly space: BaseClient
  readonly trigger: EnvelopeOf<typeof Kind.chat>
  /** The text of the trigger. */
  readonly text: string
  /** The sender of the trigger. */
  readonly from: string
  /** How much its sender wants a model to think about it; `undefined`: as the agent is set. */
  readonly thinkingLevel: ThinkingLevel | undefined
  /**
   * Aborted when the sender takes the trigger back, a run of this turn is interrupted or cancelled, the agent is restarted, or
   * the client is closed. Then `reason`, `reply`, and `thought`, `call` and `conclude` of its runs throw a `ConnectionError`
   * with the code `aborted`.
   */
  readonly signal: AbortSignal
  /** Whether a reply is in the log. */
  readonly isAnswered: boolean
  /** Whether it was asked while this participant was away, and is taken up by `answerMissed`. */
  readonly isMissed: boolean
  /**
   * What was said before in the main conversation, read from the log: what everyone may read, and in a private turn also what was said
   * in private to or by its asker. The latest messages, as far as the bounds allow. Where the log cannot be read it has what this client
   * knows, and `requestError` says why.
   */
  history(bounds?: MemoryBounds): Promise<History>
  /**
   * Opens a run. Its start is visible before any thought. With `think` the run ends by itself: with what `think` returns as its
   * conclusion, if that is a string; cancelled with the message of the error that it throws.
   */
  reason(message?: string, options?: ReasonOptions): Promise<Reasoning>
  reason<Value>(message: string | undefined, think: Think<Value>, options?: ReasonOptions): Promise<Value>
  /**
   * Answers in the main conversation; a question that was put to some is answered to its asker. A stream of texts is shown as it
   * comes, and is the answer when it has ended. Waits while the agent is paused, and for an exhausted rate limit.
   */
  reply(
    answer: string | AsyncIterable<string>,
    options?: Pick<ChatOptions, 'to' | 'format' | 'data'>,
  ): Promise<AnyEnvelope>
  /**
   * Shows what may become the answer while it is written, such as text of a model that may call a tool next; when it is whole, close
   * this, then `reply` it. While a run of this turn is hidden nothing is shown, as it may turn out to be a thought.
   */
  write(options?: Pick<ChatOptions, 'to'>): LiveText
  /**
   * Asks another agent, in public, or in private where the question was; the last run of this turn shows its thoughts, its answer and
   * what that cost. Rejects with `ConnectionError` `participant_away`, or `timeout` (default 300,000 ms).
   */
  ask(agent: string, text: string, options?: WaitOptions): Promise<Answer>
  /** Has another agent answer instead, and ends this turn: its asker sees who has the question now. `note`: what that agent is to know. */
  handOver(agent: string, note?: string): Promise<AnyEnvelope>
  /**
   * Has another agent review a draft; a function writes it anew with the remarks, until it is approved or `rounds` (default 2) are over.
   */
  review(draft: Draftable, options: ReviewOptions): Promise<Review>
  /** Acknowledges the message without answering it. */
  acknowledge(status?: string): Promise<AnyEnvelope>
}
