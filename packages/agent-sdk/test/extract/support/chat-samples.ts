import { chunk, counts, last, usage, whole } from './chat.js'
import { answer, found, pieces, type Sample, thought, weather, weatherJson } from './sample.js'

const deepSeek: Sample = {
  name: 'DeepSeek, Qwen, Z.ai and SGLang: reasoning_content, and a tool call',
  whole: whole(
    {
      content: '',
      reasoning_content: thought,
      tool_calls: [
        { index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: weatherJson } },
      ],
    },
    usage,
    'tool_calls',
  ),
  stream: [
    chunk({ role: 'assistant', content: null, reasoning_content: '' }),
    ...pieces(thought).map((text) => chunk({ content: null, reasoning_content: text })),
    chunk({ content: '', reasoning_content: null }),
    chunk({
      tool_calls: [
        { index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '' } },
      ],
    }),
    ...pieces(weatherJson).map((text) =>
      chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] }),
    ),
    { ...chunk({ content: '', reasoning_content: null }, { finish_reason: 'tool_calls' }), usage },
  ],
  expected: found({ text: '', toolCalls: [weather], tokens: 18 }),
  outputTokens: 30,
}

const sgLang: Sample = {
  name: 'SGLang: a count of its own',
  whole: whole(
    { content: answer, reasoning_content: thought },
    { completion_tokens: 30, reasoning_tokens: 18 },
  ),
  stream: [
    ...pieces(thought).map((text) => chunk({ reasoning_content: text })),
    ...pieces(answer).map((text) => chunk({ content: text, reasoning_content: null })),
    chunk({}, { finish_reason: 'stop' }),
    last({ completion_tokens: 30, reasoning_tokens: 18 }),
  ],
  expected: found({ tokens: 18 }),
  outputTokens: 30,
}

const vLlm: Sample = {
  name: 'vLLM and Cerebras: reasoning, nothing counted',
  whole: whole(
    { content: answer, reasoning: thought, reasoning_content: thought },
    { completion_tokens: 30 },
  ),
  stream: [
    chunk({ role: 'assistant', content: '' }),
    ...pieces(thought).map((text) => chunk({ reasoning: text, reasoning_content: text })),
    ...pieces(answer).map((text) => chunk({ content: text })),
    chunk({}, { finish_reason: 'stop' }),
    last({ completion_tokens: 30 }),
  ],
  expected: found({ source: 'reasoning' }),
  outputTokens: 30,
}

const groq: Sample = {
  name: 'Groq: usage in a field of its own',
  whole: whole({ content: answer, reasoning: thought }, usage),
  stream: [
    { ...chunk({ role: 'assistant', content: '' }), x_groq: { id: 'req_1' } },
    ...pieces(thought).map((text) => chunk({ reasoning: text })),
    ...pieces(answer).map((text) => chunk({ content: text })),
    { ...chunk({}, { finish_reason: 'stop' }), x_groq: { id: 'req_1', usage } },
  ],
  expected: found({ source: 'reasoning', tokens: 18 }),
  outputTokens: 30,
}

const xAi: Sample = {
  name: 'xAI: thoughts are not among the tokens of the answer',
  whole: whole({ content: answer, reasoning_content: thought, refusal: null }, counts(20, 12, 18, 50)),
  stream: [
    ...pieces(thought).map((text) => chunk({ role: 'assistant', reasoning_content: text })),
    ...pieces(answer).map((text) => chunk({ content: text })),
    chunk({}, { finish_reason: 'stop' }),
    last(counts(20, 12, 18, 50)),
  ],
  expected: found({ tokens: 18 }),
  outputTokens: 30,
}

const openAi: Sample = {
  name: 'OpenAI: a count, two calls at once, two answers',
  whole: {
    ...whole(
      {
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'weather', arguments: weatherJson } },
          { id: 'call_2', type: 'custom', custom: { name: 'note', input: 'rain' } },
        ],
      },
      usage,
      'tool_calls',
    ),
  },
  stream: [
    chunk({ role: 'assistant', content: null }),
    { ...chunk({ content: 'another answer' }, { index: 1 }) },
    chunk({
      tool_calls: [
        { index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '' } },
      ],
    }),
    ...pieces(weatherJson).map((text) =>
      chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] }),
    ),
    chunk({
      tool_calls: [{ index: 1, id: 'call_2', type: 'custom', custom: { name: 'note', input: 'rain' } }],
    }),
    chunk({}, { finish_reason: 'tool_calls' }),
    last(usage),
  ],
  expected: found({
    reasoning: null,
    source: 'usage',
    text: '',
    toolCalls: [weather, { id: 'call_2', name: 'note', arguments: 'rain' }],
    tokens: 18,
  }),
  outputTokens: 30,
}

export const chatSamples: readonly Sample[] = [deepSeek, sgLang, vLlm, groq, xAi, openAi]
