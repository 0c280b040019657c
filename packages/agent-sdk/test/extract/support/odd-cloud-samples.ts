import { answer, found, pieces, type Sample, thought, weather, weatherJson } from './sample.js'

const candidate = (parts: readonly object[], more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, ...more }],
})
const counted = { promptTokenCount: 20, candidatesTokenCount: 12, thoughtsTokenCount: 18 }
const thoughts = pieces(thought).map((text) => candidate([{ text, thought: true }]))

const cut: Sample = {
  name: 'Gemini: a thought that reached the limit, other candidates',
  whole: {
    candidates: [
      { index: 1, content: { parts: [{ text: 'another' }] } },
      { index: 0, content: { parts: [{ text: thought, thought: true }] }, finishReason: 'MAX_TOKENS' },
    ],
    usageMetadata: counted,
  },
  stream: [
    { usageMetadata: { promptTokenCount: 20, trafficType: 'ON_DEMAND' } },
    ...thoughts,
    { candidates: [{ index: 1, content: { parts: [{ text: 'another' }] }, finishReason: 'STOP' }] },
    { candidates: [{ index: 0, finishReason: 'MAX_TOKENS' }], usageMetadata: counted },
  ],
  expected: found({ source: 'thought', text: '', truncated: true, tokens: 18 }),
  outputTokens: 30,
}

const signedCall = (more: object) => ({ functionCall: { name: 'cook', ...more }, thoughtSignature: 'c2ln' })
const recipe = {
  name: 'a "cake"',
  parts: [
    { what: 'egg', count: 2 },
    { what: 'milk', isCold: true },
  ],
  note: null,
}
const partial = (...partialArgs: readonly object[]) =>
  candidate([{ functionCall: { partialArgs, willContinue: true } }])
const at = (jsonPath: string, more: object) => ({ jsonPath, ...more })

const streamedCalls: Sample = {
  name: 'Gemini: calls whose arguments come one by one',
  whole: {
    ...candidate([
      { text: thought, thought: true },
      signedCall({ args: { recipe } }),
      { functionCall: { name: 'weather', args: { city: 'Ulm' } }, thoughtSignature: 'Mg==' },
      { functionCall: { name: 'now' } },
    ]),
    usageMetadata: counted,
  },
  stream: [
    ...thoughts,
    candidate([signedCall({ willContinue: true })]),
    partial(at('$.recipe.name', { stringValue: 'a "', willContinue: true })),
    partial(at('$.recipe.name', { stringValue: 'cake"', willContinue: true })),
    partial(at('$.recipe.name', { stringValue: '' })),
    candidate([{ functionCall: { willContinue: true } }]),
    partial(
      at('$.recipe.parts[0].what', { stringValue: 'egg' }),
      at('$.recipe.parts[0].count', { numberValue: 2 }),
    ),
    partial(at("$.recipe['parts'][1].what", { stringValue: 'milk' })),
    partial(at('$.recipe["parts"][1].isCold', { boolValue: true })),
    partial(at('$.recipe.note', { nullValue: 'NULL_VALUE' })),
    candidate([{ functionCall: {} }]),
    candidate([
      {
        functionCall: { name: 'weather', partialArgs: [at('$.city', { stringValue: 'Ulm' })] },
        thoughtSignature: 'Mg==',
      },
    ]),
    candidate([{ functionCall: { name: 'now' } }]),
    { ...candidate([{ text: '' }], { finishReason: 'STOP' }), usageMetadata: counted },
  ],
  expected: found({
    source: 'thought',
    text: '',
    toolCalls: [
      { id: '', name: 'cook', arguments: { recipe } },
      { id: '', name: 'weather', arguments: { city: 'Ulm' } },
      { id: '', name: 'now', arguments: {} },
    ],
    opaque: [
      signedCall({ args: { recipe } }),
      { functionCall: { name: 'weather', args: { city: 'Ulm' } }, thoughtSignature: 'Mg==' },
    ],
    tokens: 18,
  }),
  outputTokens: 30,
}

const unsigned = { reasoningContent: { reasoningText: { text: thought } } }
const hidden = { reasoningContent: { redactedContent: 'AQI=' } }
const used = { inputTokens: 20, outputTokens: 30, totalTokens: 50 }
const delta = (contentBlockIndex: number, given: object) => ({
  contentBlockDelta: { contentBlockIndex, delta: given },
})
const stop = (contentBlockIndex: number) => ({ contentBlockStop: { contentBlockIndex } })

const bedrock: Sample = {
  name: 'Bedrock: empty texts between, a thought without a signature, citations',
  whole: {
    output: {
      message: {
        content: [
          { text: '' },
          unsigned,
          hidden,
          { citationsContent: { content: [{ text: answer }], citations: [{ title: 'x' }] } },
        ],
      },
    },
    stopReason: 'end_turn',
    usage: used,
  },
  stream: [
    { messageStart: { role: 'assistant' } },
    ...[delta(0, { text: '' }), stop(0)],
    ...pieces(thought).map((text) => delta(1, { reasoningContent: { text } })),
    ...[stop(1), delta(2, hidden), stop(2)],
    ...pieces(answer).flatMap((text) => [delta(3, { text }), delta(3, { citation: { title: 'x' } })]),
    stop(3),
    { messageStop: { stopReason: 'end_turn' } },
    { metadata: { usage: used, metrics: { latencyMs: 1 } } },
  ],
  expected: found({ source: 'reasoningContent', opaque: [unsigned, hidden], redacted: true }),
  outputTokens: 30,
}

const line = (message: object, more: object = {}) => ({ message, done: false, ...more })
const ollamaCall = { id: 'call_1', function: { index: 0, name: 'weather', arguments: weather.arguments } }
const limit = { done: true, done_reason: 'length', eval_count: 30 }

const ollama: Sample = {
  name: 'Ollama: a call before the thought that reached the limit',
  whole: line(
    { content: '', thinking: thought, tool_calls: [ollamaCall] },
    { ...limit, done_reason: 'stop' },
  ),
  stream: [
    ...pieces(thought).map((thinking) => line({ thinking })),
    line({ role: 'assistant', content: '', tool_calls: [ollamaCall] }),
    line({ content: '' }, { ...limit, done_reason: 'stop' }),
  ],
  expected: found({ source: 'thinking', text: '', toolCalls: [weather] }),
  outputTokens: 30,
}

const ollamaCut: Sample = {
  name: 'Ollama: a thought that reached the limit',
  whole: line({ content: '', thinking: thought }, limit),
  stream: [
    ...pieces(thought).map((thinking) => line({ content: '', thinking })),
    line({ content: '' }, limit),
  ],
  expected: found({ source: 'thinking', text: '', truncated: true }),
  outputTokens: 30,
}

const cohereUsage = { tokens: { input_tokens: 20, output_tokens: 30 } }
const part = (type: string, content: object) => ({ type, index: 0, delta: { message: { content } } })

const cohereCut: Sample = {
  name: 'Cohere: a thought that reached the limit, begun with its start',
  whole: {
    id: 'c1',
    message: { content: [{ type: 'thinking', thinking: thought }] },
    finish_reason: 'MAX_TOKENS',
    usage: cohereUsage,
  },
  stream: [
    { type: 'message-start', delta: { message: { role: 'assistant', content: [], citations: [] } } },
    part('content-start', { type: 'thinking', thinking: pieces(thought)[0] }),
    { type: 'citation-start', index: 0, delta: { message: { citations: { start: 0, text: 'x' } } } },
    ...pieces(thought)
      .slice(1)
      .map((thinking) => part('content-delta', { thinking })),
    { type: 'content-end', index: 0 },
    { type: 'message-end', delta: { finish_reason: 'MAX_TOKENS', usage: cohereUsage } },
  ],
  expected: found({ source: 'thinking', text: '', truncated: true }),
  outputTokens: 30,
}

const firstCall = { name: 'weather', parameters: weather.arguments }
const firstEnd = {
  ...{ response_id: 'r', generation_id: 'g', text: answer, tool_calls: [firstCall] },
  ...{ finish_reason: 'COMPLETE', meta: cohereUsage },
}

const cohereFirst: Sample = {
  name: 'Cohere, version 1',
  whole: firstEnd,
  stream: [
    { event_type: 'stream-start', generation_id: 'g', is_finished: false },
    ...pieces(answer).map((text) => ({ event_type: 'text-generation', text, is_finished: false })),
    ...pieces(weatherJson).map((parameters) => ({
      event_type: 'tool-calls-chunk',
      tool_call_delta: { index: 0, name: 'weather', parameters },
    })),
    { event_type: 'tool-calls-generation', text: answer, tool_calls: [firstCall] },
    { event_type: 'stream-end', is_finished: true, finish_reason: 'COMPLETE', response: firstEnd },
  ],
  expected: found({
    reasoning: null,
    source: 'none',
    toolCalls: [{ id: '', name: 'weather', arguments: weather.arguments }],
  }),
  outputTokens: 30,
}

/** Unusual responses of other providers. */
export const oddCloudSamples: readonly Sample[] = [
  ...[cut, streamedCalls, bedrock, ollama, ollamaCut, cohereCut, cohereFirst],
]
