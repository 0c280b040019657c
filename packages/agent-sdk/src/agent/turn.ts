import type { AnyEnvelope, EnvelopeOf, Kind } from '@meup/protocol'
import type { Answer, BaseClient } from '../client/base-client.js'
import type { ChatOptions, ThinkingLevel } from '../client/types.js'
import type { WaitOptions } from '../client/wait.js'
import type { Draftable, Review, ReviewOptions } from './delegation.js'
import type { LiveText } from './deltas.js'
import type { History, MemoryBounds } from './history.js'
import type { Reasoning, ReasonOptions, Think } from './reasoning.js'

/** The work on an answer to one message, the trigger [MEUP-11.5]. */
export interface Turn {
  readonly space: BaseClient
  readonly trigger: EnvelopeOf<typeof Kind.chat>
  readonly text: string
  readonly from: string
  /** The thinking level that the sender requested; `undefined` = as in the agent's settings. */
  readonly thinkingLevel: ThinkingLevel | undefined
  /**
   * Aborted when the sender retracts the trigger, a run of this turn is interrupted or cancelled, the agent is restarted, or
   * the client is closed. Then `reason`, `reply`, and `thought`, `call` and `conclude` of its runs throw a `ConnectionError`
   * with the code `aborted`.
   */
  readonly signal: AbortSignal
  /** Whether a reply is in the log. */
  readonly isAnswered: boolean
  /** Set if the trigger was sent while this participant was away, and `answerMissed` started the turn. */
  readonly isMissed: boolean
  /**
   * Earlier chats outside of contexts, read from the log: public ones, and in a private turn also private ones to or from its
   * asker. Returns the latest messages within the bounds. If the log cannot be read, returns those that this client knows;
   * `requestError` reports the reason.
   */
  history(bounds?: MemoryBounds): Promise<History>
  /**
   * Opens a reasoning run. Its start is in the log before any thought. With a function, the run ends automatically: concluded
   * with the returned string, or cancelled with the message of the thrown error.
   */
  reason(message?: string, options?: ReasonOptions): Promise<Reasoning>
  reason<Value>(message: string | undefined, think: Think<Value>, options?: ReasonOptions): Promise<Value>
  /**
   * Answers in the main conversation. A private question is answered privately. A stream of texts is shown live, and becomes
   * the answer when it ends. Waits while the agent is paused or rate limited.
   */
  reply(
    answer: string | AsyncIterable<string>,
    options?: Pick<ChatOptions, 'to' | 'format' | 'data'>,
  ): Promise<AnyEnvelope>
  /**
   * Shows a possible answer while it is written, such as text of a model that may still call a tool. When the answer is
   * complete, close this, then call `reply`. Shows nothing while a run of this turn is hidden, because the text may turn out to
   * be a thought.
   */
  write(options?: Pick<ChatOptions, 'to'>): LiveText
  /**
   * Asks another agent, with the audience of the question. The last run of this turn shows that agent's thoughts, answer and
   * cost. Rejects with `ConnectionError` `participant_away`, or `timeout` (default 300,000 ms).
   */
  ask(agent: string, text: string, options?: WaitOptions): Promise<Answer>
  /**
   * Hands the question to another agent, and ends this turn. The asker is shown which agent has it. `note`: information for
   * that agent.
   */
  handOver(agent: string, note?: string): Promise<AnyEnvelope>
  /** Has another agent review a draft, and a function revise it, until it is approved or after `rounds` (default 2). */
  review(draft: Draftable, options: ReviewOptions): Promise<Review>
  /** Acknowledges the trigger without answering it. */
  acknowledge(status?: string): Promise<AnyEnvelope>
}
