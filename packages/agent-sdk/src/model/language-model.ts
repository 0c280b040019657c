/**
 * A model of any provider of the `ai` package, version 6, or its name at the AI Gateway: `vendor/model`. Written down
 * here as far as it takes to tell one, so that these types need no other package.
 */
export type AgentModel =
  | string
  | {
      readonly specificationVersion: 'v2' | 'v3'
      /** Such as `openai.responses`. */
      readonly provider: string
      readonly modelId: string
      readonly doStream: (options: never) => PromiseLike<unknown>
    }

type JsonValue = null | string | number | boolean | JsonValue[] | { [key: string]: JsonValue | undefined }

/** What the `ai` package passes on to the provider, as it is. */
export interface ModelSettings {
  readonly maxOutputTokens?: number
  /** How often a request that failed is made again. */
  readonly maxRetries?: number
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly seed?: number
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** By provider: `{ anthropic: { thinking: { type: 'enabled' } } }`. */
  readonly providerOptions?: Record<string, { [key: string]: JsonValue | undefined }>
}

export interface ModelOptions {
  readonly model: AgentModel
  /** What the agent is for. */
  readonly instructions?: string
  readonly settings?: ModelSettings
  /** Whether the provider's reasoning is a summary for people to read; default: where that is known of it. */
  readonly reasoningIsSummary?: boolean
  /** Whether bare reasoning goes back to the provider with the calls; default: to those who ask for it. */
  readonly replayReasoning?: boolean
}
