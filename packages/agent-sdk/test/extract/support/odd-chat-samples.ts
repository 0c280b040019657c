import { chunk, counts, last, usage, whole } from './chat.js'
import { answer, found, pieces, type Sample, thought, weather, weatherJson } from './sample.js'

const thinking = pieces(thought).map((text) => chunk({ reasoning_content: text }))
const called = (name: string, json: string, more: object = {}) => ({
  ...more,
  function: { name, arguments: json },
})

const choices: Sample = {
  name: 'several choices in one chunk, in any order',
  whole: {
    choices: [
      { index: 1, message: { content: 'another', reasoning_content: 'else' }, finish_reason: 'stop' },
      { index: 0, message: { content: answer, reasoning_content: thought }, finish_reason: 'stop' },
    ],
    usage,
  },
  stream: [
    { choices: [], created: 0, id: '', model: '' },
    ...pieces(thought).map((text) => ({
      choices: [
        { index: 1, delta: { reasoning_content: 'else' } },
        { index: 0, delta: { reasoning_content: text } },
      ],
    })),
    ...pieces(answer).map((text) => chunk({ content: text })),
    chunk({ content: 'another' }, { index: 1, finish_reason: 'length' }),
    chunk({}, { finish_reason: 'stop' }),
    last(usage),
  ],
  expected: found({ tokens: 18 }),
  outputTokens: 30,
}

const cutThought: Sample = {
  name: 'a thought that reached the limit, an error, and counts after that',
  whole: { ...whole({ content: null, reasoning: thought, tool_calls: null }, usage, 'length') },
  stream: [
    chunk({ role: 'assistant', content: '', reasoning: '', tool_calls: [] }),
    ...pieces(thought).map((text) => chunk({ content: '', reasoning: text, tool_calls: [] })),
    chunk({ content: '', reasoning: null }, { finish_reason: 'length' }),
    { ...chunk({ role: 'assistant', content: '' }), usage, error: { code: 400, message: 'limit' } },
  ],
  expected: found({ source: 'reasoning', text: '', truncated: true, tokens: 18 }),
  outputTokens: 30,
}

const madeUpIds: Sample = {
  name: 'ids that a server makes up for each part of a call, and a gap in their numbers',
  whole: whole(
    {
      content: null,
      reasoning: thought,
      tool_calls: [called('weather', weatherJson, { id: 'call_1' }), called('now', '', { id: 'call_2' })],
    },
    usage,
    'tool_calls',
  ),
  stream: [
    ...pieces(thought).map((text) => chunk({ reasoning: text })),
    chunk({ tool_calls: [{ ...called('weather', ''), index: 1, id: 'call_1' }] }),
    ...pieces(weatherJson).map((json, index) =>
      chunk({
        tool_calls: [{ index: 1, id: `made-up-${index}`, function: { name: null, arguments: json } }],
      }),
    ),
    chunk({ tool_calls: [{ ...called('now', ''), index: 4, id: 'call_2' }] }),
    chunk({}, { finish_reason: 'tool_calls' }),
    last(usage),
  ],
  expected: found({
    source: 'reasoning',
    text: '',
    toolCalls: [weather, { id: 'call_2', name: 'now', arguments: {} }],
    tokens: 18,
  }),
  outputTokens: 30,
}

const without = ({ arguments: given }: typeof weather) => ({ id: '', name: 'weather', arguments: given })

const noIds: Sample = {
  name: 'calls without ids and numbers, one after the other, arguments as text and as an object',
  whole: whole(
    {
      content: '',
      reasoning_content: thought,
      tool_calls: [called('weather', weatherJson), { function: { name: 'weather', arguments: { x: 1 } } }],
    },
    usage,
  ),
  stream: [
    ...thinking,
    chunk({ tool_calls: [called('weather', weatherJson)] }),
    chunk({ tool_calls: [{ function: { name: 'weather', arguments: { x: 1 } } }] }),
    chunk({}, { finish_reason: 'tool_calls' }),
    last(usage),
  ],
  expected: found({
    text: '',
    toolCalls: [without(weather), { id: '', name: 'weather', arguments: { x: 1 } }],
    tokens: 18,
  }),
  outputTokens: 30,
}

const twiceTheSame: Sample = {
  name: 'the same call twice, without ids, each in one piece',
  whole: whole(
    { reasoning: thought, tool_calls: [called('weather', weatherJson), called('weather', weatherJson)] },
    usage,
  ),
  stream: [
    ...pieces(thought).map((text) => chunk({ reasoning: text })),
    ...[1, 2].map(() => chunk({ tool_calls: [called('weather', weatherJson)] })),
    chunk({}, { finish_reason: 'tool_calls' }),
    last(usage),
  ],
  expected: found({
    source: 'reasoning',
    text: '',
    toolCalls: [without(weather), without(weather)],
    tokens: 18,
  }),
  outputTokens: 30,
}

const soleCall: Sample = {
  name: 'the one call that chat completions had at first',
  whole: whole({ content: null, function_call: { name: 'weather', arguments: weatherJson } }, usage),
  stream: [
    chunk({ role: 'assistant', content: null, function_call: { name: 'weather', arguments: '' } }),
    ...pieces(weatherJson).map((text) => chunk({ function_call: { arguments: text } })),
    chunk({}, { finish_reason: 'function_call' }),
    last(usage),
  ],
  expected: found({
    reasoning: null,
    source: 'usage',
    text: '',
    toolCalls: [without(weather)],
    tokens: 18,
  }),
  outputTokens: 30,
}

const text = (given: string) => ({ type: 'text', text: given })

const parts: Sample = {
  name: 'Mistral: thoughts as text, references, a call in one piece',
  whole: whole(
    {
      content: [
        { type: 'thinking', thinking: thought },
        text('So: '),
        { type: 'reference', reference_ids: [1] },
        text(answer),
      ],
      tool_calls: [called('weather', weatherJson, { id: 'call_1', index: 0 })],
    },
    { completion_tokens: 30 },
    'tool_calls',
  ),
  stream: [
    chunk({ content: [{ type: 'thinking', thinking: thought, closed: true }] }),
    chunk({ content: [text('So: '), { type: 'reference', reference_ids: [1] }] }),
    ...pieces(answer).map((given) => chunk({ content: given })),
    chunk(
      { content: '', tool_calls: [called('weather', weatherJson, { id: 'call_1', index: 0 })] },
      { finish_reason: 'tool_calls' },
    ),
    last({ completion_tokens: 30 }),
  ],
  expected: found({ source: 'thinking', text: `So: ${answer}`, toolCalls: [weather] }),
  outputTokens: 30,
}

const bare = { type: 'reasoning.text', format: null, id: null }
const summary = { type: 'reasoning.summary', index: 0, format: 'openai-responses-v1' }
const sealed = { type: 'reasoning.encrypted', data: 'ZW5j', index: 0, format: 'openai-responses-v1' }
const signed = { ...bare, text: answer, signature: 'c2ln' }

const details: Sample = {
  name: 'OpenRouter: details without numbers, with the same, and a signature that comes late',
  whole: whole(
    {
      content: answer,
      reasoning: null,
      reasoning_details: [signed, { ...summary, summary: thought }, sealed],
    },
    usage,
  ),
  stream: [
    ...pieces(answer).map((each) =>
      chunk({ content: '', reasoning_details: [{ ...bare, text: each, signature: null }] }),
    ),
    ...pieces(thought).map((each) =>
      chunk({ content: '', reasoning_details: [{ ...summary, summary: each }] }),
    ),
    chunk({ reasoning_details: [sealed] }),
    chunk({ reasoning_details: [{ ...bare, signature: 'c2ln' }] }),
    ...pieces(answer).map((each) => chunk({ content: each })),
    chunk({ content: '' }, { finish_reason: 'stop' }),
    last(usage),
  ],
  expected: found({
    reasoning: `${answer}\n\n${thought}`,
    source: 'reasoning_details',
    opaque: [signed, { ...summary, summary: thought }, sealed],
    tokens: 18,
  }),
  outputTokens: 30,
}

const sparse: Sample = {
  name: 'xAI: more thoughts than answer, and no sum',
  whole: whole(
    { content: answer, reasoning_content: thought },
    { completion_tokens: 12, completion_tokens_details: { reasoning_tokens: 18 } },
  ),
  stream: [
    ...thinking,
    ...pieces(answer).map((given) => chunk({ content: given })),
    chunk({}, { finish_reason: 'stop' }),
    last({ completion_tokens: 12, completion_tokens_details: { reasoning_tokens: 18 } }),
  ],
  expected: found({ tokens: 18 }),
  outputTokens: 30,
}

const tagged = `<think>\n${thought}\n</think>\n\n${answer}`

const raw: Sample = {
  name: 'Groq, raw: tags in the text, counts in both places',
  whole: { ...whole({ content: tagged }, counts(20, 30, 18)), x_groq: { id: 'req_1' } },
  stream: [
    ...(tagged.match(/[\s\S]{1,4}/g) ?? []).map((given) => chunk({ content: given, channel: 'final' })),
    { ...chunk({}, { finish_reason: 'stop' }), x_groq: { id: 'req_1', usage } },
    { ...last(usage), x_groq: { usage } },
  ],
  expected: found({ format: 'think_tags', source: 'tags', tokens: 18 }),
  outputTokens: 30,
}

const multimodal: Sample = {
  name: "Qwen in DashScope's own form, content in parts",
  whole: {
    output: { choices: [{ message: { content: [{ text: answer }], reasoning_content: thought } }] },
    usage: { output_tokens: 30, output_tokens_details: { reasoning_tokens: 18 } },
  },
  stream: [
    ...pieces(thought).map((given) => ({
      output: { choices: [{ message: { content: [], reasoning_content: given }, finish_reason: 'null' }] },
    })),
    ...pieces(answer).map((given) => ({
      output: { choices: [{ message: { content: [{ text: given }] }, finish_reason: 'null' }] },
      usage: { output_tokens: 29 },
    })),
    {
      output: { choices: [{ message: { content: [] }, finish_reason: 'stop' }] },
      usage: { output_tokens: 30, output_tokens_details: { reasoning_tokens: 18 } },
    },
  ],
  expected: found({ tokens: 18 }),
  outputTokens: 30,
}

const together: Sample = {
  name: 'Together: each delta again as text beside it, thought or answer',
  whole: {
    choices: [{ index: 0, text: answer, message: { content: answer, reasoning: thought } }],
    usage,
  },
  stream: [
    ...pieces(thought).map((given) => chunk({ content: '', reasoning: given }, { text: given })),
    ...pieces(answer).map((given) => chunk({ token_id: 1, content: given }, { text: given })),
    chunk({ content: '' }, { text: '', finish_reason: 'stop' }),
    last(usage),
  ],
  expected: found({ source: 'reasoning', tokens: 18 }),
  outputTokens: 30,
}

const bothFields: Sample = {
  name: 'the thought in both fields, and the answer beginning in the same chunk',
  whole: whole({ content: answer, reasoning: thought, reasoning_content: thought }, usage),
  stream: [
    ...pieces(thought)
      .slice(0, -1)
      .map((given) => chunk({ content: '', reasoning_content: given, reasoning: given })),
    ...pieces(thought)
      .slice(-1)
      .map((given) => chunk({ content: 'Do', reasoning_content: given, reasoning: given })),
    ...pieces(answer.slice(2)).map((given) => chunk({ content: given, reasoning: null })),
    chunk({}, { finish_reason: 'stop' }),
    last(usage),
  ],
  expected: found({ source: 'reasoning', tokens: 18 }),
  outputTokens: 30,
}

/** Unusual chat completions of some servers. */
export const oddChatSamples: readonly Sample[] = [
  ...[choices, cutThought, madeUpIds, noIds, twiceTheSame, soleCall],
  ...[parts, details, sparse, raw, multimodal, together, bothFields],
]
