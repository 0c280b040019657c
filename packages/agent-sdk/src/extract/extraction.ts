/** How the reasoning was separated from the answer. `raw` stands for an unseparated response; it is never returned here. */
export type Format = 'parsed' | 'raw' | 'think_tags' | 'anthropic'

/**
 * The field of the response that the reasoning was read from; where no text of it was found, the field of what is
 * known of it instead. `usage`: nothing but a count. `none`: there was none.
 */
export type Source =
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

export interface ToolCall {
  /** Empty where the provider gives none. */
  readonly id: string
  readonly name: string
  /** What their JSON says; the text itself where it is not JSON, because it was cut off or is not meant to be. */
  readonly arguments: unknown
}

/** What was read from a response. */
export interface Extraction {
  /** `null` = none, or none that can be read. */
  readonly reasoning: string | null
  readonly format: Format
  readonly source: Source
  /** The answer, without reasoning. */
  readonly text: string
  readonly toolCalls: readonly ToolCall[]
  /** What the provider wants back unchanged in the next request, in order: signed, encrypted and redacted parts. */
  readonly opaque: readonly unknown[]
  /** Some of the reasoning is there in a form that only the provider can read. */
  readonly redacted?: true
  /** The reasoning was cut off. */
  readonly truncated?: true
  /** Tokens spent on reasoning, shown or not, as the provider counts them. */
  readonly tokens?: number
}

export interface Usage {
  /** Spent on reasoning. */
  readonly tokens?: number
  /** Generated in all: reasoning is among them, whether or not the provider counts it there. */
  readonly outputTokens?: number
}

export type StreamEvent =
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'text'; readonly text: string }
  | ({ readonly type: 'toolCall' } & ToolCall)
  /** What is known so far; later ones replace earlier ones. */
  | ({ readonly type: 'usage' } & Usage)

export interface ExtractOptions {
  /** The template of the model begins the thought, so that its text has the closing tag alone. */
  readonly prefilled?: boolean
}
