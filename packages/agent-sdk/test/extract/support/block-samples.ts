import {
  anthropicStream,
  block,
  completed,
  created,
  item,
  message,
  response,
  textEvents,
  thinkingDeltas,
} from './blocks.js'
import { answer, found, pieces, type Sample, thought, weather, weatherJson } from './sample.js'

const thinkingBlock = { type: 'thinking', thinking: thought, signature: 'c2ln' }
const omitted = { type: 'thinking', thinking: '', signature: 'b21pdHRlZA==' }
const redactedBlock = { type: 'redacted_thinking', data: 'ZW5j' }
const secondThought = { type: 'thinking', thinking: 'It rains.', signature: 'c2lnMg==' }

const anthropic: Sample = {
  name: 'Anthropic: thoughts, one of them redacted, and a tool call',
  whole: message(
    [
      thinkingBlock,
      redactedBlock,
      { type: 'text', text: answer },
      secondThought,
      { type: 'tool_use', id: 'call_1', name: 'weather', input: weather.arguments },
    ],
    'tool_use',
  ),
  stream: anthropicStream(
    'tool_use',
    block(0, { type: 'thinking', thinking: '', signature: '' }, ...thinkingDeltas(thinkingBlock)),
    block(1, redactedBlock),
    block(2, { type: 'text', text: '' }, ...pieces(answer).map((text) => ({ type: 'text_delta', text }))),
    block(3, { type: 'thinking', thinking: '', signature: '' }, ...thinkingDeltas(secondThought)),
    block(
      4,
      { type: 'tool_use', id: 'call_1', name: 'weather', input: {} },
      ...['', ...pieces(weatherJson)].map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    ),
  ),
  expected: found({
    reasoning: `${thought}\n\nIt rains.`,
    format: 'anthropic',
    source: 'thinking',
    toolCalls: [weather],
    opaque: [thinkingBlock, redactedBlock, secondThought],
    redacted: true,
    tokens: 18,
  }),
  outputTokens: 30,
}

const anthropicOmitted: Sample = {
  name: 'Anthropic: nothing but the signature of a thought',
  whole: message([omitted, { type: 'text', text: answer }], 'end_turn'),
  stream: anthropicStream(
    'end_turn',
    block(
      0,
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'signature_delta', signature: omitted.signature },
    ),
    block(1, { type: 'text', text: '' }, ...pieces(answer).map((text) => ({ type: 'text_delta', text }))),
  ),
  expected: found({
    reasoning: null,
    format: 'anthropic',
    source: 'thinking',
    opaque: [omitted],
    redacted: true,
    tokens: 18,
  }),
  outputTokens: 30,
}

const [firstPart = '', secondPart = ''] = thought.split('\n')
const reasoningItem = {
  id: 'rs_1',
  type: 'reasoning',
  encrypted_content: 'ZW5j',
  summary: [firstPart, secondPart].map((text) => ({ type: 'summary_text', text })),
}
const messageItem = { id: 'msg_1', type: 'message', content: [{ type: 'output_text', text: answer }] }
const callItem = {
  id: 'fc_1',
  type: 'function_call',
  call_id: 'call_1',
  name: 'weather',
  arguments: weatherJson,
}

const responses: Sample = {
  name: 'Responses: a summary, a ciphertext and a tool call',
  whole: response([reasoningItem, messageItem, callItem]),
  stream: [
    created,
    ...item(
      0,
      { ...reasoningItem, encrypted_content: 'aGFsZg==', summary: [] },
      reasoningItem,
      ...textEvents('reasoning_summary_text', firstPart, { summary_index: 0 }),
      ...textEvents('reasoning_summary_text', secondPart, { summary_index: 1 }),
    ),
    ...item(
      1,
      { ...messageItem, content: [] },
      messageItem,
      ...textEvents('output_text', answer, { content_index: 0 }),
    ),
    ...item(
      2,
      { ...callItem, arguments: '' },
      callItem,
      ...pieces(weatherJson).map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
      { type: 'response.function_call_arguments.done', arguments: weatherJson },
    ),
    completed([reasoningItem, messageItem, callItem]),
  ],
  expected: found({
    reasoning: `${firstPart}\n\n${secondPart}`,
    source: 'summary',
    toolCalls: [weather],
    opaque: [reasoningItem],
    tokens: 18,
  }),
  outputTokens: 30,
}

const rawItem = { ...reasoningItem, content: [{ type: 'reasoning_text', text: thought }] }
const customItem = { id: 'ct_1', type: 'custom_tool_call', call_id: 'call_2', name: 'note', input: '{rain}' }

const responsesRaw: Sample = {
  name: 'Responses: the thought itself beside its summary, and a custom tool',
  whole: response([rawItem, customItem]),
  stream: [
    created,
    ...item(
      0,
      { id: 'rs_1', type: 'reasoning', summary: [] },
      rawItem,
      ...textEvents('reasoning_text', thought, { content_index: 0 }),
      ...textEvents('reasoning_summary_text', firstPart, { summary_index: 0 }),
      ...textEvents('reasoning_summary_text', secondPart, { summary_index: 1 }),
    ),
    ...item(1, { ...customItem, input: '' }, customItem, {
      type: 'response.custom_tool_call_input.delta',
      delta: '{rain}',
    }),
    completed([rawItem, customItem]),
  ],
  expected: found({
    source: 'reasoning_text',
    text: '',
    toolCalls: [{ id: 'call_2', name: 'note', arguments: '{rain}' }],
    opaque: [rawItem],
    tokens: 18,
  }),
  outputTokens: 30,
}

const sealedItem = { id: 'rs_1', type: 'reasoning', encrypted_content: 'ZW5j', summary: [] }

const responsesSealed: Sample = {
  name: 'Responses: a ciphertext and a count',
  whole: response([sealedItem, messageItem]),
  stream: [
    created,
    ...item(0, { ...sealedItem, encrypted_content: 'aGFsZg==' }, sealedItem),
    ...item(
      1,
      { ...messageItem, content: [] },
      messageItem,
      ...textEvents('output_text', answer, { content_index: 0 }),
    ),
    completed([sealedItem, messageItem]),
  ],
  expected: found({ reasoning: null, source: 'summary', opaque: [sealedItem], redacted: true, tokens: 18 }),
  outputTokens: 30,
}

export const blockSamples: readonly Sample[] = [
  anthropic,
  anthropicOmitted,
  responses,
  responsesRaw,
  responsesSealed,
]
