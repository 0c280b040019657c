/** How an answer ended: complete, cut off at a limit, withheld by the provider, or interrupted by a failure. */
export type Ending = 'whole' | 'cut' | 'refused' | 'failed'

/** Finish reasons of providers, in lower case with `_` between words. Reasons that end in `_error` are failures too. */
const reasons: Readonly<Record<Ending, readonly string[]>> = {
  whole: [
    ...['stop', 'end_turn', 'stop_sequence', 'eos', 'eos_token', 'end', 'done', 'complete', 'completed'],
    ...['tool_calls', 'tool_call', 'tool_use', 'function_call', 'pause_turn'],
  ],
  cut: [
    ...['length', 'max_tokens', 'max_output_tokens', 'max_new_tokens', 'max_completion_tokens', 'max_length'],
    ...['model_length', 'token_limit', 'context_length_exceeded', 'model_context_window_exceeded'],
    ...['context_window_exceeded', 'incomplete', 'error_limit'],
  ],
  refused: [
    ...['content_filter', 'content_filtered', 'refusal', 'safety', 'sensitive', 'recitation', 'blocklist'],
    ...['prohibited_content', 'spii', 'language', 'image_safety', 'guardrail_intervened', 'error_toxic'],
    ...['image_recitation', 'image_prohibited_content'],
  ],
  failed: [
    ...['error', 'failed', 'timeout', 'overloaded', 'interrupted'],
    ...['abort', 'aborted', 'cancel', 'cancelled', 'canceled', 'user_cancel', 'insufficient_system_resource'],
    ...['malformed_function_call', 'malformed_response', 'malformed_tool_use', 'malformed_model_output'],
    ...['unexpected_tool_call', 'too_many_tool_calls', 'missing_thought_signature'],
  ],
}

const endings = new Map<string, Ending>(
  (Object.keys(reasons) as Ending[]).flatMap((ending) =>
    reasons[ending].map((reason) => [reason, ending] as const),
  ),
)

/** Interprets a provider's finish reason, ignoring case and separators of words; `undefined` = unknown. */
export function readEnding(reason: string): Ending | undefined {
  const words = reason
    .trim()
    .replace(/(?<=[a-z])(?=[A-Z])|[\s-]+/g, '_')
    .toLowerCase()
    .replace(/^finish_reason_/, '')
  return endings.get(words) ?? (words.endsWith('_error') ? 'failed' : undefined)
}
