import type { Extraction, Format, FoundReasoning } from '../extract/index.js'
import type { PromptMessage } from './prompt.js'

/** `model`, `temperature` and whatever else the client knows; handed through as it is. */
export type GenerationConfig = Readonly<Record<string, unknown>>

/** A model, as a transcript needs it. */
export interface ModelClient {
  /** Names whose model it is, so that what one provider has encrypted is sent to no other. */
  readonly provider?: string
  /**
   * Gives back, or promises, the response as it came: that of a provider, or a text, or `{ text, toolCalls, opaque }`
   * where the client has read it already, as from a stream.
   */
  generate(messages: readonly PromptMessage[], options: GenerationConfig): unknown
  /** Finds the reasoning in a response. Of a client without it, none is looked for. */
  extractReasoning?(
    response: unknown,
  ): Extraction | FoundReasoning | readonly [text: string, format: Format] | string | null | undefined
}
