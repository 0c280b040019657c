/** How the reasoning was separated from the answer. `raw` means an unseparated response; it is never returned here. */
export type Format = 'parsed' | 'raw' | 'think_tags' | 'anthropic'

/**
 * The field of the response that contained the reasoning, or, without its text, other information about it. `usage`: only a
 * count. `none`: nothing.
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
  /** Empty if the provider sends none. */
  readonly id: string
  readonly name: string
  /** The parsed arguments; their text if it is not JSON, because it was cut off or is free text. */
  readonly arguments: unknown
}

/** The content of a response. */
export interface Extraction {
  /** `null` = none, or unreadable. */
  readonly reasoning: string | null
  readonly format: Format
  readonly source: ExtractionSource
  /** The answer, without reasoning. */
  readonly text: string
  readonly toolCalls: readonly ExtractedCall[]
  /** Items that the provider wants back unchanged in the next request, in order: signed, encrypted and redacted ones. */
  readonly opaque: readonly unknown[]
  /** Some of the reasoning can only be read by the provider. */
  readonly redacted?: true
  /** The reasoning was cut off. */
  readonly truncated?: true
  /** Reasoning tokens, shown or not, as counted by the provider. */
  readonly tokens?: number
}

export interface ExtractedUsage {
  /** Reasoning tokens. */
  readonly tokens?: number
  /** All generated tokens including reasoning, whether or not the provider counts it there. */
  readonly outputTokens?: number
}

export type StreamEvent =
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'text'; readonly text: string }
  | ({ readonly type: 'toolCall' } & ExtractedCall)
  /** The usage so far; replaces earlier events. */
  | ({ readonly type: 'usage' } & ExtractedUsage)

export interface ExtractOptions {
  /** The model's template opens the thought, so its text has only the closing tag. */
  readonly prefilled?: boolean
}
