/** How the reasoning was separated from the answer. `raw` = it was not; `extractReasoning` never returns that. */
export type Format = 'parsed' | 'raw' | 'think_tags' | 'anthropic'

/**
 * The field of the response with the reasoning or, if its text is withheld, with other information about it. `usage`: the
 * response only contains a token count. `none`: it does not mention reasoning.
 */
export type ExtractionSource =
  | 'reasoning'
  | 'reasoning_content'
  | 'thinking'
  | 'reasoning_details'
  | 'reasoning_text'
  | 'summary'
  | 'thought'
  | 'reasoningContent'
  | 'tool_plan'
  | 'tags'
  | 'usage'
  | 'none'

export interface ExtractedCall {
  /** Empty if the provider sends no id. */
  readonly id: string
  readonly name: string
  /** The parsed arguments, or their text if it is not JSON, such as free text or incomplete JSON. */
  readonly arguments: unknown
}

/** The content of a model's response. */
export interface Extraction {
  /** `null` = the response has no reasoning, or its text is withheld. */
  readonly reasoning: string | null
  readonly format: Format
  readonly source: ExtractionSource
  /** The answer, without reasoning. */
  readonly text: string
  readonly toolCalls: readonly ExtractedCall[]
  /** Signed, encrypted and redacted items, in order. The provider requires them back unchanged in the next request. */
  readonly opaque: readonly unknown[]
  /** Set if only the provider can read some of the reasoning. */
  readonly redacted?: true
  /** Set if the reasoning was cut off. */
  readonly truncated?: true
  /** Reasoning tokens as counted by the provider, even if the reasoning is withheld. */
  readonly tokens?: number
}

export interface ExtractedUsage {
  /** Number of reasoning tokens. */
  readonly tokens?: number
  /** All generated tokens. Always includes reasoning, although some providers count it separately. */
  readonly outputTokens?: number
}

export type StreamEvent =
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'text'; readonly text: string }
  | ({ readonly type: 'toolCall' } & ExtractedCall)
  /** The usage so far. Replaces that of earlier events. */
  | ({ readonly type: 'usage' } & ExtractedUsage)

export interface ExtractOptions {
  /** Set if the chat template already opens a thought, so that the response has only its closing tag. */
  readonly prefilled?: boolean
}
