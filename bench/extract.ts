import { ReasoningStream } from '@meup/agent-sdk/extract'
import { compare } from './compare.js'

/**
 * Compares the cost of reading a streamed response with that of parsing its JSON: 1,000 deltas each. Fails if one core reads
 * fewer deltas per second than required.
 */
const deltas = 1000
const fewestPerSecond = 100_000
const words =
  'I look at the `tokens` module first, <b>then</b> at the load test.\n'.match(/\s?\S{1,5}/g) ?? []
const word = (index: number): string => words[index % words.length] ?? ''
const stream = (chunk: (text: string, index: number) => object): string[] =>
  Array.from({ length: deltas }, (_, index) => JSON.stringify(chunk(word(index), index)))

const chat = (delta: object): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1764660903,
  model: 'some-model',
  choices: [{ index: 0, delta, logprobs: null, finish_reason: null }],
})
const tag = (index: number): string => ({ 0: '<think>', [deltas / 2]: '</think>' })[index] ?? ''

const streams: readonly (readonly [string, string[]])[] = [
  ['chat, thoughts in a field', stream((text) => chat({ content: null, reasoning_content: text }))],
  ['chat, answers', stream((text) => chat({ content: text }))],
  ['chat, thoughts in tags', stream((text, index) => chat({ content: tag(index) + text }))],
  [
    'Anthropic',
    stream((thinking) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'thinking_delta', thinking },
    })),
  ],
  [
    'Responses',
    stream((delta, index) => ({
      type: 'response.reasoning_summary_text.delta',
      sequence_number: index,
      item_id: 'rs_1',
      output_index: 0,
      summary_index: 0,
      delta,
    })),
  ],
  [
    'Gemini',
    stream((text) => ({ candidates: [{ content: { role: 'model', parts: [{ text, thought: true }] } }] })),
  ],
]

/** Measures how many deltas one core reads per second of processor time, which is independent of other load. */
function rateOf(chunks: readonly unknown[]): number {
  const begun = process.cpuUsage()
  const seconds = (): number => {
    const { user, system } = process.cpuUsage(begun)
    return (user + system) / 1e6
  }
  let rounds = 0
  while (seconds() < 1) {
    read(chunks)
    rounds++
  }
  return (rounds * deltas) / seconds()
}

function read(chunks: readonly unknown[]): unknown {
  const reader = new ReasoningStream()
  for (const chunk of chunks) reader.push(chunk)
  return reader.end()
}

const encoder = new TextEncoder()

for (const [name, lines] of streams) {
  const chunks = lines.map((line): unknown => JSON.parse(line))
  const body = lines.map((line) => encoder.encode(`data: ${line}\n\n`))
  await compare(
    `1,000 deltas: ${name}`,
    [
      ['JSON.parse of the chunks, for comparison', () => lines.map((line): unknown => JSON.parse(line))],
      ['read by ReasoningStream', () => read(chunks)],
      ['read by ReasoningStream, from bytes', () => read(body)],
    ],
    1,
  )
  const rates = [rateOf(chunks), rateOf(body)] as const
  console.log(rates.map((rate) => `${Math.round(rate).toLocaleString('en')} deltas/s`).join(', from bytes '))
  if (rates[0] < fewestPerSecond) process.exitCode = 1
}
