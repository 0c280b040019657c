import type { HistoryMessage } from '../agent/history.js'
import type { Format } from '../extract/index.js'
import type { ModelOptions, ModelSettings } from './options.js'
import type { ShownResult } from './results.js'
import type { Offer } from './toolbox.js'

/** A streamed piece of reasoning. */
export interface ThinkingDelta {
  readonly text: string
  /** A summary by the provider for readers; otherwise the raw chain of thought. */
  readonly isSummary: boolean
}

/** A tool call requested by a model. */
export interface WantedCall {
  /** Unique within a step. */
  readonly id: string
  /** The name of an offered tool; otherwise the model's text, in characters that every provider accepts. */
  readonly name: string
  /** The arguments as the model wrote them: a JSON object, unless it made a mistake. */
  readonly json: string
  /** The parsed arguments, with integers beyond the range of numbers as texts; their text if it is not JSON. */
  readonly input: unknown
}

/** The result of a call, for the model. */
export interface CallResult extends ShownResult {
  readonly id: string
  readonly name: string
  readonly isError: boolean
}

/** Token counts. */
export interface Spent {
  readonly input: number
  readonly output: number
  /** Part of the output; absent if the provider does not report it. */
  readonly reasoning: number
}

/**
 * How much of a model's reasoning is visible, from most to least: all, a summary, only the provider can read it, only the fact
 * that it reasoned.
 */
export const shownReasoning = ['full', 'summary', 'encrypted', 'omitted'] as const
export type ReasoningVisibility = (typeof shownReasoning)[number]

/** A request in the form that the model gets. */
export interface SentPrompt {
  readonly model: string
  readonly provider: string
  readonly baseURL?: string
  readonly settings: ModelSettings & Pick<ModelOptions, 'reasoningIsSummary' | 'replayReasoning'>
  /** The system prompt first. Adjacent messages of one role are separate here, although they are sent as one. */
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly tools: readonly object[]
}

/** One thought of a model. */
export interface Thought {
  /** Verbatim. */
  readonly text: string
  readonly format: Format
  /** Metadata of its provider: a signature, or encrypted content. */
  readonly attached?: object
}

/** One answer of the model: a text, or calls to make first. */
export interface ModelStep {
  /** The text without thoughts in tags. */
  readonly text: string
  /** The thoughts in tags, which are raw reasoning. */
  readonly tagged: string
  /** All thoughts, including those in tags. */
  readonly thoughts: readonly Thought[]
  readonly calls: readonly WantedCall[]
  readonly spent: Spent
  /** `undefined` = no sign of reasoning. */
  readonly shown: ReasoningVisibility | undefined
  /**
   * `length`: reached a token limit; `filtered`: withheld by the provider; `broken`: the stream ended early; `unsure`: unknown
   * finish reason; `stopped`: stopped by this client.
   */
  readonly end: 'done' | 'length' | 'filtered' | 'broken' | 'unsure' | 'stopped'
  /** The provider's finish reason. */
  readonly reason?: string
}

/** Receives the progress of a step. */
export interface StepListener {
  /** Called right before a request is sent. */
  send(prompt: SentPrompt): void
  /** Called with the partial step when the provider fails. */
  fail(step: ModelStep): void
  think(delta: ThinkingDelta): void
  /** A piece of the text, without thoughts in tags as far as they are recognized. */
  say(text: string): void
  /** The text of this step so far is void, because another model answers. */
  restart(): void
  /** Information for the asker about the request, such as a silent model. */
  notice(text: string): void
}

/** A conversation with a model, stored in the provider's own form. */
export interface Dialogue {
  /** Name of the model that is answering. */
  readonly model: string
  /** Readable name of its provider. */
  readonly provider: string
  /** Whether a failed request may be repeated. */
  readonly mayRetry: boolean
  /** Adds earlier messages in front of the question. */
  recall(earlier: readonly HistoryMessage[]): void
  /** Adds a message of a participant to the conversation. */
  addUserMessage(from: string, text: string): void
  /** Whether the model accepts files of this type in tool results. */
  takes(mediaType: string): boolean
  /** Adds the results of all calls of the last step. */
  addToolResults(results: readonly CallResult[]): void
  /** Requests an answer. Rejects if the provider fails; when stopped, resolves with the partial answer. */
  step(offer: Offer, listener: StepListener, signal: AbortSignal): Promise<ModelStep>
}
