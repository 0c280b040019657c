/** The end of an answer: whole, cut off at a limit, withheld by its provider, or broken off by a failure. */
export type Ending = 'whole' | 'cut' | 'refused' | 'failed'

/** Finish reasons of servers, in lower case and with `_` between words. */
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
  ],
  failed: [
    ...['error', 'failed', 'server_error', 'network_error', 'timeout', 'overloaded', 'interrupted'],
    ...['abort', 'aborted', 'cancel', 'cancelled', 'canceled', 'user_cancel', 'insufficient_system_resource'],
    ...['malformed_function_call', 'malformed_response', 'unexpected_tool_call', 'other_error'],
  ],
}

const endings = new Map<string, Ending>(
  (Object.keys(reasons) as Ending[]).flatMap((ending) =>
    reasons[ending].map((reason) => [reason, ending] as const),
  ),
)

/** The meaning of any provider's finish reason; `undefined` = unknown. */
export const readEnding = (reason: string): Ending | undefined =>
  endings.get(
    reason
      .trim()
      .toLowerCase()
      .replace(/[\s-]+/g, '_')
      .replace(/^finish_reason_/, ''),
  )
