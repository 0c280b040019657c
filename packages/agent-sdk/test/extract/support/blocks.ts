import { pieces } from './sample.js'

// Stream events and messages as Anthropic's API sends them.

/** Creates the events of one content block. */
export const block = (index: number, content_block: object, ...deltas: readonly object[]) => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]
export const thinkingDeltas = ({ thinking, signature }: { thinking: string; signature: string }) => [
  ...pieces(thinking).map((text) => ({ type: 'thinking_delta', thinking: text })),
  { type: 'signature_delta', signature },
]
export const message = (
  content: readonly object[],
  stop_reason: string,
  output_tokens_details = { thinking_tokens: 18 },
) => ({
  type: 'message',
  role: 'assistant',
  content,
  stop_reason,
  usage: { input_tokens: 20, output_tokens: 30, output_tokens_details },
})
export const anthropicStream = (stop_reason: string, ...blocks: readonly (readonly object[])[]) => [
  {
    type: 'message_start',
    message: { type: 'message', content: [], usage: { input_tokens: 20, output_tokens: 1 } },
  },
  { type: 'ping' },
  ...blocks.flat(),
  {
    type: 'message_delta',
    delta: { stop_reason },
    usage: { output_tokens: 30, output_tokens_details: { thinking_tokens: 18 } },
  },
  { type: 'message_stop' },
]

/** The following functions create responses, and events of streams, in the form of OpenAI's Responses API. */
const responsesUsage = { output_tokens: 30, output_tokens_details: { reasoning_tokens: 18 } }
export const response = (output: readonly object[]) => ({
  object: 'response',
  status: 'completed',
  output,
  usage: responsesUsage,
})
export const created = {
  type: 'response.created',
  response: { object: 'response', status: 'in_progress', output: [], usage: null },
}
export const completed = (output: readonly object[]) => ({
  type: 'response.completed',
  response: response(output),
})
export const item = (output_index: number, begun: object, done: object, ...events: readonly object[]) => [
  { type: 'response.output_item.added', output_index, item: begun },
  ...events.map((event) => ({ ...event, output_index })),
  { type: 'response.output_item.done', output_index, item: done },
]
export const textEvents = (type: string, text: string, at: object) => [
  ...pieces(text).map((delta) => ({ type: `response.${type}.delta`, delta, ...at })),
  { type: `response.${type}.done`, text, ...at },
]
