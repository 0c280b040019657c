import type { AssistantContent, Replay } from './content.js'

/**
 * Which protected items go back to their provider. `required`: those of answers that call tools, from then on. Anthropic,
 * Bedrock, Gemini, OpenAI, OpenRouter and xAI ask for them until the question is answered, and mind no more after that;
 * DeepSeek asks for them in all later requests. `all`: also those of final answers, where a provider makes use of them.
 */
export type ReplayPolicy = 'required' | 'all' | 'none'

export interface ReplayOptions {
  /** Default: `required`. */
  readonly replay?: ReplayPolicy
  /** Whose model gets the prompt: what belongs to another provider stays out. */
  readonly provider?: string | undefined
}

/** What of an answer goes back, as it is. */
export function replayed(
  { replay, toolCalls = [] }: Readonly<AssistantContent>,
  { replay: policy = 'required', provider }: ReplayOptions,
): Replay | undefined {
  if (policy === 'none' || (policy === 'required' && toolCalls.length === 0)) return undefined
  const isForeign = provider !== undefined && replay?.provider !== undefined && replay.provider !== provider
  return isForeign ? undefined : replay
}
