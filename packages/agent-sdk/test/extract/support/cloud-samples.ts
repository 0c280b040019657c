import { answer, found, pieces, type Sample, thought, weather, weatherJson } from './sample.js'

const candidate = (parts: readonly object[], more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
})
const counted = {
  promptTokenCount: 20,
  candidatesTokenCount: 12,
  thoughtsTokenCount: 18,
  totalTokenCount: 50,
}
const callPart = {
  functionCall: { id: 'call_1', name: 'weather', args: weather.arguments },
  thoughtSignature: 'c2ln',
}
const emptyPart = { text: '', thoughtSignature: 'bGFzdA==' }

const gemini: Sample = {
  name: 'Gemini: thoughts, signatures on a call and on an empty part',
  whole: {
    ...candidate([{ text: thought, thought: true }, { text: answer }, callPart, emptyPart], {
      finishReason: 'STOP',
    }),
    usageMetadata: counted,
  },
  stream: [
    ...pieces(thought).map((text) => ({
      ...candidate([{ text, thought: true }]),
      usageMetadata: { promptTokenCount: 20, thoughtsTokenCount: 9 },
    })),
    ...pieces(answer).map((text) => candidate([{ text }])),
    candidate([callPart]),
    { ...candidate([emptyPart], { finishReason: 'STOP' }), usageMetadata: counted },
  ],
  expected: found({ source: 'thought', toolCalls: [weather], opaque: [callPart, emptyPart], tokens: 18 }),
  outputTokens: 30,
}

const geminiHidden: Sample = {
  name: 'Gemini: thoughts that are not shown',
  whole: {
    ...candidate([{ text: answer, thoughtSignature: 'c2ln' }], { finishReason: 'STOP' }),
    usageMetadata: counted,
  },
  stream: [
    {
      ...candidate([{ text: answer, thoughtSignature: 'c2ln' }], { finishReason: 'STOP' }),
      usageMetadata: counted,
    },
  ],
  expected: found({
    reasoning: null,
    source: 'thought',
    opaque: [{ text: answer, thoughtSignature: 'c2ln' }],
    redacted: true,
    tokens: 18,
  }),
  outputTokens: 30,
}

const reasoningBlock = { reasoningContent: { reasoningText: { text: thought, signature: 'c2ln' } } }
const redactedBlock = { reasoningContent: { redactedContent: 'ZW5j' } }
const converse = {
  output: {
    message: {
      role: 'assistant',
      content: [
        reasoningBlock,
        redactedBlock,
        { text: answer },
        { toolUse: { toolUseId: 'call_1', name: 'weather', input: weather.arguments } },
      ],
    },
  },
  stopReason: 'tool_use',
  usage: { inputTokens: 20, outputTokens: 30, totalTokens: 50 },
}
const delta = (contentBlockIndex: number, given: object) => ({ contentBlockIndex, delta: given })
/** Events of a Converse stream as sent over HTTP, with their names. */
const events: readonly (readonly [name: string, event: object])[] = [
  ['messageStart', { role: 'assistant' }],
  ...pieces(thought).map((text) => ['contentBlockDelta', delta(0, { reasoningContent: { text } })] as const),
  ['contentBlockDelta', delta(0, { reasoningContent: { signature: 'c2ln' } })],
  ['contentBlockStop', { contentBlockIndex: 0 }],
  ['contentBlockDelta', delta(1, redactedBlock)],
  ['contentBlockStop', { contentBlockIndex: 1 }],
  ...pieces(answer).map((text) => ['contentBlockDelta', delta(2, { text })] as const),
  ['contentBlockStop', { contentBlockIndex: 2 }],
  [
    'contentBlockStart',
    { contentBlockIndex: 3, start: { toolUse: { toolUseId: 'call_1', name: 'weather' } } },
  ],
  ...pieces(weatherJson).map((input) => ['contentBlockDelta', delta(3, { toolUse: { input } })] as const),
  ['contentBlockStop', { contentBlockIndex: 3 }],
  ['messageStop', { stopReason: 'tool_use' }],
  ['metadata', { usage: converse.usage, metrics: { latencyMs: 1 } }],
]
const bedrockExpected = found({
  source: 'reasoningContent',
  toolCalls: [weather],
  opaque: [reasoningBlock, redactedBlock],
  redacted: true,
})

const bedrock: Sample = {
  name: 'Bedrock, as the AWS SDK gives it',
  whole: converse,
  stream: events.map(([name, event]) => ({ [name]: event })),
  expected: bedrockExpected,
  outputTokens: 30,
}
const bedrockBare: Sample = {
  ...bedrock,
  name: 'Bedrock over the wire',
  stream: events.map(([, event]) => event),
}

const part = (type: string, index: number, content: object) => ({
  type,
  index,
  delta: { message: { content } },
})
const cohereUsage = { billed_units: { output_tokens: 29 }, tokens: { input_tokens: 20, output_tokens: 30 } }
const cohereEnd = { type: 'message-end', delta: { finish_reason: 'COMPLETE', usage: cohereUsage } }

const cohere: Sample = {
  name: 'Cohere',
  whole: {
    id: 'c1',
    message: {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: thought },
        { type: 'text', text: answer },
      ],
    },
    finish_reason: 'COMPLETE',
    usage: cohereUsage,
  },
  stream: [
    {
      id: 'c1',
      type: 'message-start',
      delta: { message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [] } },
    },
    part('content-start', 0, { type: 'thinking', thinking: '' }),
    ...pieces(thought).map((thinking) => part('content-delta', 0, { thinking })),
    { type: 'content-end', index: 0 },
    part('content-start', 1, { type: 'text', text: '' }),
    ...pieces(answer).map((text) => part('content-delta', 1, { text })),
    { type: 'content-end', index: 1 },
    cohereEnd,
  ],
  expected: found({ source: 'thinking' }),
  outputTokens: 30,
}

const asked = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: weatherJson } }
const call = (type: string, index: number, tool_calls: object) => ({
  type,
  index,
  delta: { message: { tool_calls } },
})

const cohereCalls: Sample = {
  name: 'Cohere: a plan and two calls',
  whole: {
    message: { role: 'assistant', tool_plan: thought, tool_calls: [asked, { ...asked, id: 'call_2' }] },
    finish_reason: 'TOOL_CALL',
    usage: cohereUsage,
  },
  stream: [
    ...pieces(thought).map((tool_plan) => ({ type: 'tool-plan-delta', delta: { message: { tool_plan } } })),
    ...['call_1', 'call_2'].flatMap((id, index) => [
      call('tool-call-start', index, { ...asked, id, function: { name: 'weather', arguments: '' } }),
      ...pieces(weatherJson).map((given) =>
        call('tool-call-delta', index, { function: { arguments: given } }),
      ),
      { type: 'tool-call-end', index },
    ]),
    cohereEnd,
  ],
  expected: found({ source: 'tool_plan', text: '', toolCalls: [weather, { ...weather, id: 'call_2' }] }),
  outputTokens: 30,
}

const line = (message: object, more: object = {}) => ({
  model: 'm',
  message: { role: 'assistant', ...message },
  done: false,
  ...more,
})
const done = { done: true, done_reason: 'stop', prompt_eval_count: 20, eval_count: 30 }
const ollamaCall = (city: string) => ({ function: { name: 'weather', arguments: { city } } })

const ollama: Sample = {
  name: 'Ollama',
  whole: line(
    { content: answer, thinking: thought, tool_calls: [ollamaCall('Ulm'), ollamaCall('Bonn')] },
    done,
  ),
  stream: [
    ...pieces(thought).map((thinking) => line({ content: '', thinking })),
    ...pieces(answer).map((content) => line({ content })),
    line({ content: '', tool_calls: [ollamaCall('Ulm')] }),
    line({ content: '', tool_calls: [ollamaCall('Bonn')] }),
    line({ content: '' }, done),
  ],
  expected: found({
    source: 'thinking',
    toolCalls: ['Ulm', 'Bonn'].map((city) => ({ id: '', name: 'weather', arguments: { city } })),
  }),
  outputTokens: 30,
}

const generate: Sample = {
  name: 'Ollama: generate',
  whole: { response: answer, thinking: thought, ...done },
  stream: [
    ...pieces(thought).map((thinking) => ({ response: '', thinking, done: false })),
    ...pieces(answer).map((response) => ({ response, done: false })),
    { response: '', ...done },
  ],
  expected: found({ source: 'thinking' }),
  outputTokens: 30,
}

export const cloudSamples: readonly Sample[] = [
  gemini,
  geminiHidden,
  bedrock,
  bedrockBare,
  cohere,
  cohereCalls,
  ollama,
  generate,
]
