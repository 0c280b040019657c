import type { HistoryMessage } from '../agent/history.js'
import type { Format } from '../extract/index.js'
import type { ModelOptions, ModelSettings } from './options.js'
import type { ShownResult } from './results.js'
import type { Offer } from './toolbox.js'

/** A streamed piece of reasoning. */
export interface ThinkingDelta {
  readonly text: string
  /** Set if the provider wrote a summary for readers; otherwise this is raw reasoning. */
  readonly isSummary: boolean
}

/** A tool call requested by a model. */
export interface WantedCall {
  /** Unique within a step. */
  readonly id: string
  /**
   * The name of an offered tool. For an unknown tool the model's text, with only the characters that every provider accepts.
   */
  readonly name: string
  /** The arguments as the model wrote them; JSON, unless the model made a mistake. */
  readonly json: string
  /** The parsed arguments, with integers beyond the safe range as strings. If they are not JSON, their text. */
  readonly input: unknown
}

/** The result of a call, formatted for the model. */
export interface CallResult extends ShownResult {
  readonly id: string
  readonly name: string
  readonly isError: boolean
}

/** Token counts of a step. */
export interface Spent {
  readonly input: number
  readonly output: number
  /** Reasoning tokens, which `output` includes; 0 if the provider does not report them. */
  readonly reasoning: number
}

/**
 * How much of a model's reasoning is visible, from most to least: all; a summary; only encrypted, for the provider; only the
 * fact that there was reasoning.
 */
export const shownReasoning = ['full', 'summary', 'encrypted', 'omitted'] as const
export type ReasoningVisibility = (typeof shownReasoning)[number]

/** A request to a model, as sent. */
export interface SentPrompt {
  readonly model: string
  readonly provider: string
  readonly baseURL?: string
  readonly settings: ModelSettings & Pick<ModelOptions, 'reasoningIsSummary' | 'replayReasoning'>
  /**
   * The system prompt, then the conversation. Adjacent messages of one role are separate here, although they are sent as one.
   */
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly tools: readonly object[]
}

export interface Thought {
  /** The text as received. */
  readonly text: string
  readonly format: Format
  /** The provider's metadata of the thought: a signature, or encrypted content. */
  readonly attached?: object
}

/** One output of the model: an answer, or tool calls with an optional text. */
export interface ModelStep {
  /** The text, without thoughts in tags. */
  readonly text: string
  /** The thoughts that were in tags within the text. */
  readonly tagged: string
  /** All thoughts, including those in tags. */
  readonly thoughts: readonly Thought[]
  readonly calls: readonly WantedCall[]
  readonly spent: Spent
  /** `undefined` = the response does not indicate any reasoning. */
  readonly shown: ReasoningVisibility | undefined
  /**
   * How the output ended. `length`: at a token limit; `filtered`: withheld by the provider; `broken`: the stream ended early;
   * `unsure`: with an unknown finish reason; `stopped`: aborted by this client.
   */
  readonly end: 'done' | 'length' | 'filtered' | 'broken' | 'unsure' | 'stopped'
  /** The provider's finish reason. */
  readonly reason?: string
}

/** Receives the progress of a step. */
export interface StepListener {
  /** Called when the request has been sent. */
  send(prompt: SentPrompt): void
  /** Called with the partial output when the provider fails. */
  fail(step: ModelStep): void
  think(delta: ThinkingDelta): void
  /** Called with each piece of the text, without thoughts in tags as far as they are recognized. */
  say(text: string): void
  /** Called when another attempt or model starts: the text of this step so far is discarded. */
  restart(): void
  /** Called with information for the asker about the request, such as that the model is not responding. */
  notice(text: string): void
}

/** A conversation with a model. */
export interface Dialogue {
  /** Name of the current model. */
  readonly model: string
  /** The provider's name or address, for people. */
  readonly provider: string
  /** Whether the settings permit repeating a failed request. */
  readonly mayRetry: boolean
  /** Inserts earlier messages before the question. */
  recall(earlier: readonly HistoryMessage[]): void
  /** Adds a message of a participant to the conversation. */
  addUserMessage(from: string, text: string): void
  /** Whether the model accepts files of this type in tool results. */
  takes(mediaType: string): boolean
  /** Adds the results of all calls of the last step. */
  addToolResults(results: readonly CallResult[]): void
  /** Makes a request to the model. Rejects if the provider fails. If it is aborted, resolves with the partial output. */
  step(offer: Offer, listener: StepListener, signal: AbortSignal): Promise<ModelStep>
}
