import type { HistoryMessage } from '../agent/history.js'
import type { Format } from '../extract/index.js'
import type { ModelOptions, ModelSettings } from './options.js'
import type { ShownResult } from './results.js'
import type { Offer } from './toolbox.js'

/** A piece of what a model thinks, as it comes. */
export interface ThinkingDelta {
  readonly text: string
  /** Written by the provider for people to read; else it is the raw chain of thought. */
  readonly isSummary: boolean
}

/** A call that a model wants made. */
export interface WantedCall {
  /** No two calls of a step have the same. */
  readonly id: string
  /** As the tool is offered; where there is no such tool, what the model wrote, in letters that no provider refuses. */
  readonly name: string
  /** The arguments as the model wrote them: a JSON object, if it made no mistake. */
  readonly json: string
  /** Their value, in which integers that a number cannot hold are texts; the arguments themselves where they are no JSON. */
  readonly input: unknown
}

/** What became of a call, for the model to read. */
export interface CallResult extends ShownResult {
  readonly id: string
  readonly name: string
  readonly isError: boolean
}

/** Tokens. */
export interface Spent {
  readonly input: number
  readonly output: number
  /** Part of the output; absent where the provider does not report it. */
  readonly reasoning: number
}

/**
 * What a provider shows of what its model thinks, the most first: all of it, a summary, what only the provider can read,
 * nothing but that it thought.
 */
export const shownReasoning = ['full', 'summary', 'encrypted', 'omitted'] as const
export type ShownReasoning = (typeof shownReasoning)[number]

/** One request, as the model gets it. */
export interface SentPrompt {
  readonly model: string
  readonly provider: string
  readonly baseURL?: string
  readonly settings: ModelSettings & Pick<ModelOptions, 'reasoningIsSummary' | 'replayReasoning'>
  /** The system prompt first. Neighbours of one role, which are sent as one, are apart. */
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly tools: readonly object[]
}

/** Something that a model has thought. */
export interface Thought {
  /** As it came, to the letter. */
  readonly text: string
  readonly format: Format
  /** What its provider has attached to it: a signature, or what only the provider can read. */
  readonly attached?: object
}

/** One answer of the model: a text, or calls that it wants made first. */
export interface ModelStep {
  /** Without what was thought in tags. */
  readonly text: string
  /** What was thought in tags: raw. */
  readonly tagged: string
  /** What was thought, in every form; what is in tags is here as well. */
  readonly thoughts: readonly Thought[]
  readonly calls: readonly WantedCall[]
  readonly spent: Spent
  /** `undefined`: as far as can be seen, it did not think. */
  readonly shown: ShownReasoning | undefined
  /**
   * `length`: it ran into a limit of tokens; `filtered`: the provider withheld it; `broken`: the stream ended too early; `unsure`: nobody
   * knows the finish reason; `stopped`: it was stopped by us.
   */
  readonly end: 'done' | 'length' | 'filtered' | 'broken' | 'unsure' | 'stopped'
  /** The finish reason, as the provider calls it. */
  readonly reason?: string
}

/** Hears a step while it is made. */
export interface StepListener {
  /** What is sent, right before it is. */
  send(prompt: SentPrompt): void
  /** What had come when the provider failed. */
  fail(step: ModelStep): void
  think(delta: ThinkingDelta): void
  /** Some of its text, without what is thought in tags as far as that is known yet. */
  say(text: string): void
  /** What was said in this step is void: another model answers instead. */
  restart(): void
  /** Something that the asker is to know of the request, such as that a model says nothing. */
  notice(text: string): void
}

/** One conversation with a model; it remembers in the provider's own form what was said. */
export interface Dialogue {
  /** What the model is called that answers now. */
  readonly model: string
  /** Who provides it, for people to read. */
  readonly provider: string
  /** Whether a request that failed may be made again. */
  readonly mayRetry: boolean
  /** Puts what was said before the question in front of it. */
  recall(earlier: readonly HistoryMessage[]): void
  /** Adds a message of a participant to the conversation. */
  addUserMessage(from: string, text: string): void
  /** Whether the model takes files of this type in results of calls. */
  takes(mediaType: string): boolean
  /** The results of all calls of the last step. */
  addToolResults(results: readonly CallResult[]): void
  /** Lets the model answer. Rejects where its provider fails; when stopped, it resolves with what was said so far. */
  step(offer: Offer, listener: StepListener, signal: AbortSignal): Promise<ModelStep>
}
