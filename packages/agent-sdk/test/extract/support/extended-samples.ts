import { chunk, last, usage, whole } from './chat.js'
import { answer, found, pieces, type Sample, thought } from './sample.js'

const detail = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 }
const details = [
  { ...detail, text: thought, signature: 'c2ln' },
  { type: 'reasoning.encrypted', data: 'ZW5j', id: 'e1', format: 'openai-responses-v1', index: 1 },
]

const openRouter: Sample = {
  name: 'OpenRouter: details that have to be sent back',
  whole: whole({ content: answer, reasoning: thought, reasoning_details: details }, usage),
  stream: [
    chunk({ role: 'assistant', content: '', reasoning: null, reasoning_details: [] }),
    chunk({ content: '', reasoning: null, reasoning_details: [{ ...detail, text: '', signature: '' }] }),
    ...pieces(thought).map((text) =>
      chunk({ content: '', reasoning: text, reasoning_details: [{ ...detail, text }] }),
    ),
    chunk({ content: '', reasoning: null, reasoning_details: [{ ...detail, signature: 'c2ln' }] }),
    chunk({ content: '', reasoning_details: [details[1]] }),
    ...pieces(answer).map((text) => chunk({ content: text, reasoning: null, reasoning_details: [] })),
    chunk({ content: '' }, { finish_reason: 'stop' }),
    last(usage),
  ],
  expected: found({ source: 'reasoning', opaque: details, tokens: 18 }),
  outputTokens: 30,
}

const sealed = [{ type: 'reasoning.encrypted', data: 'ZW5j', format: 'google-gemini-v1', index: 0 }]

const openRouterSealed: Sample = {
  name: 'OpenRouter: a thought that nobody can read',
  whole: whole({ content: answer, reasoning: null, reasoning_details: sealed }, usage),
  stream: [
    chunk({ content: '', reasoning_details: sealed }),
    ...pieces(answer).map((text) => chunk({ content: text })),
    chunk({ content: '' }, { finish_reason: 'stop' }),
    last(usage),
  ],
  expected: found({
    reasoning: null,
    source: 'reasoning_details',
    opaque: sealed,
    redacted: true,
    tokens: 18,
  }),
  outputTokens: 30,
}

const [firstHalf = '', secondHalf = ''] = thought.split('\n')
const text = (given: string) => ({ type: 'text', text: given })
const thinking = (given: string) => ({ type: 'thinking', thinking: [text(given)] })

const mistral: Sample = {
  name: 'Mistral: content in parts or as a string, and thoughts twice',
  whole: {
    choices: [
      {
        message: { content: [thinking(firstHalf), text('So: '), thinking(secondHalf), text(answer)] },
        finishReason: 'stop',
      },
    ],
    usage: { completionTokens: 30, completionTokensDetails: { reasoningTokens: 18 } },
  },
  stream: [
    chunk({ role: 'assistant', content: '' }),
    ...pieces(firstHalf).map((given) => chunk({ content: [thinking(given)] })),
    chunk({ content: [text('So: ')] }),
    ...pieces(secondHalf).map((given) => chunk({ content: [thinking(given)] })),
    ...pieces(answer).map((given) => chunk({ content: given })),
    chunk({ content: '' }, { finish_reason: 'stop' }),
    last({ completion_tokens: 30, completion_tokens_details: { reasoning_tokens: 18 } }),
  ],
  expected: found({
    reasoning: `${firstHalf}\n\n${secondHalf}`,
    source: 'thinking',
    text: `So: ${answer}`,
    tokens: 18,
  }),
  outputTokens: 30,
}

const qwen: Sample = {
  name: "Qwen in DashScope's own form",
  whole: {
    output: {
      choices: [{ message: { content: answer, reasoning_content: thought }, finish_reason: 'stop' }],
    },
    usage: { output_tokens: 30, output_tokens_details: { reasoning_tokens: 18 } },
  },
  stream: [
    ...pieces(thought).map((given) => ({
      output: { choices: [{ message: { content: '', reasoning_content: given }, finish_reason: 'null' }] },
    })),
    ...pieces(answer).map((given) => ({
      output: { choices: [{ message: { content: given, reasoning_content: '' }, finish_reason: 'null' }] },
    })),
    {
      output: { choices: [{ message: { content: '' }, finish_reason: 'stop' }] },
      usage: { output_tokens: 30, output_tokens_details: { reasoning_tokens: 18 } },
    },
  ],
  expected: found({ tokens: 18 }),
  outputTokens: 30,
}

const tagged = `<think>\n${thought}\n</think>\n\n${answer}`

const tags: Sample = {
  name: 'tags in the text',
  whole: whole({ content: tagged }, { completion_tokens: 30 }),
  stream: [
    ...(tagged.match(/[\s\S]{1,3}/g)?.map((given) => chunk({ content: given })) ?? []),
    chunk({}, { finish_reason: 'stop' }),
    last({ completion_tokens: 30 }),
  ],
  expected: found({ format: 'think_tags', source: 'tags' }),
  outputTokens: 30,
}

const completion: Sample = {
  name: 'a plain completion',
  whole: { object: 'text_completion', choices: [{ index: 0, text: tagged, finish_reason: 'stop' }] },
  stream: [
    ...(tagged.match(/[\s\S]{1,3}/g) ?? []).map((given) => ({ choices: [{ index: 0, text: given }] })),
    { choices: [{ index: 0, text: '', finish_reason: 'stop' }] },
  ],
  expected: found({ format: 'think_tags', source: 'tags' }),
}

/** Chat completions with larger deviations from OpenAI's form. */
export const extendedSamples: readonly Sample[] = [
  openRouter,
  openRouterSealed,
  mistral,
  qwen,
  tags,
  completion,
]
