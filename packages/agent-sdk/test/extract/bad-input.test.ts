import { type Extraction, extractReasoning, ReasoningStream } from '@meup/agent-sdk/extract'
import { describe, expect, test } from 'vitest'
import { times } from '../../../../test/support/soak.js'
import { getSample, samples } from './support/all-samples.js'
import { answer, thought } from './support/sample.js'
import { streamed } from './support/streams.js'

const nothing: Extraction = {
  reasoning: null,
  format: 'parsed',
  source: 'none',
  text: '',
  toolCalls: [],
  opaque: [],
}
const nonsense: readonly unknown[] = [
  undefined,
  null,
  true,
  0,
  Number.NaN,
  '',
  'x',
  [],
  [null],
  {},
  { x: 1 },
  () => 1,
]

describe('no response at all', () => {
  const broken = [
    ...nonsense,
    { choices: [] },
    { choices: null },
    { choices: [null, 'x', {}] },
    { choices: [{ message: null }] },
    { choices: [{ message: { content: null } }] },
    { content: null },
    { content: [] },
    { content: [null, 1, {}] },
    { output: [] },
    { output: [null] },
    { output: { message: null } },
    { candidates: [{}] },
    { candidates: [{ content: { parts: [null, {}] } }] },
    { message: {} },
    { done: false },
    { error: { message: 'overloaded' } },
    { type: 'error', error: { type: 'overloaded_error' } },
  ]
  test.each(broken.map((each) => [JSON.stringify(each) ?? String(each), each]))('%s', (_, response) => {
    expect(extractReasoning(response)).toBeNull()
    expect(streamed([response])).toEqual({ extraction: nothing, events: [] })
  })

  test('a stream of nothing', () => {
    expect(streamed(nonsense)).toEqual({ extraction: nothing, events: [] })
  })
})

const replacements: readonly unknown[] = [undefined, null, 7, 'x', [null], { x: 1 }]

/** Variants of a value in which one part has a wrong type; in normal runs, only a sample of the variants. */
const maimed = (value: unknown): unknown[] =>
  [...maimedAnywhere(value)].filter((_, index) => index % times(97, 1) === 0)

/** Replaces each part of a value in turn. A string is not replaced by another string. */
function* maimedAnywhere(value: unknown): Generator<unknown> {
  yield* replacements.filter((each) => typeof value !== 'string' || typeof each !== 'string')
  if (typeof value !== 'object' || value === null) return
  for (const [name, each] of Object.entries(value)) {
    for (const other of maimedAnywhere(each)) {
      yield Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other }
    }
  }
}

describe.each(samples)('$name', ({ whole, stream, expected }) => {
  test('maimed anywhere, it is read as far as it goes', () => {
    for (const broken of maimed(whole)) extractReasoning(broken)
  })

  test('with a chunk maimed anywhere, the others are read', () => {
    const different = [...new Map(stream.map((chunk) => [getShape(chunk), chunk])).values()]
    for (const chunk of different) {
      const [before, after] = [
        stream.slice(0, stream.indexOf(chunk)),
        stream.slice(stream.indexOf(chunk) + 1),
      ]
      const least = countChars(streamed([...before, ...after]).extraction)
      for (const broken of maimed(chunk)) {
        const { extraction } = streamed([...before, broken, ...after])
        expect(countChars(extraction), JSON.stringify(broken)).toBeGreaterThanOrEqual(least)
      }
    }
  })

  test('broken off anywhere, it is what had come', () => {
    const all = expected.reasoning ?? ''
    for (let length = 0; length <= stream.length; length += times(59, 1)) {
      const { extraction } = streamed(stream.slice(0, length))
      const { reasoning, text, toolCalls } = extraction
      // If the stream breaks off before the complete thought, its summary is the reasoning. In the samples both have the same
      // text, except for blank lines.
      expect(all.replace(/\n+/g, '\n')).toContain((reasoning ?? '').replace(/\n+/g, '\n'))
      const isHalfTag = text !== '' && '<think>'.startsWith(text)
      expect(isHalfTag || expected.text.startsWith(text)).toBe(true)
      expect(toolCalls.length).toBeLessThanOrEqual(expected.toolCalls.length)
    }
  })

  test('with garbage between the chunks', () => {
    expect(streamed(stream.flatMap((chunk) => [...nonsense, chunk])).extraction).toEqual(expected)
  })
})

const countChars = ({ reasoning, text }: Extraction): number => (reasoning ?? '').length + text.length

/** Returns the chunk without its texts. Chunks that only differ in their texts have the same shape. */
const getShape = (chunk: unknown): string => JSON.stringify(chunk).replace(/:"[^"]*"/g, ':""')

describe('a thought that is cut off', () => {
  const delta = (given: object, more: object = {}) => ({ choices: [{ index: 0, delta: given, ...more }] })
  const thinking = delta({ reasoning_content: thought })

  test.each([
    ['by the end of the stream', []],
    ['by an error', [{ error: { message: 'overloaded', code: 529 } }]],
    ['by an error that is said to be the end', [delta({ content: '' }, { finish_reason: 'error' })]],
    ['by the limit', [delta({}, { finish_reason: 'length' })]],
  ])('%s', (_, rest) => {
    expect(streamed([thinking, ...rest]).extraction).toMatchObject({
      reasoning: thought,
      text: '',
      truncated: true,
    })
  })

  test.each([
    ['an answer that breaks off', [delta({ content: 'Do' })]],
    ['an answer at the limit', [delta({ content: 'Do' }, { finish_reason: 'length' })]],
    ['nothing but a thought', [delta({}, { finish_reason: 'stop' })]],
    ['a call', [delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }] })]],
  ])('not by %s', (_, rest) => {
    const { extraction } = streamed([thinking, ...rest])
    expect(extraction).toMatchObject({ reasoning: thought })
    expect(extraction).not.toHaveProperty('truncated')
  })

  test('whole, by the limit', () => {
    const message = { content: null, reasoning_content: thought }
    const cut = extractReasoning({ choices: [{ message, finish_reason: 'length' }] })
    expect(cut).toMatchObject({ reasoning: thought, text: '', truncated: true })
    expect(extractReasoning({ choices: [{ message }] })).not.toHaveProperty('truncated')
  })

  test('by an error of Anthropic: half a thought is nothing to send back', () => {
    const { stream } = getSample('Anthropic: thoughts')
    const half = [...stream.slice(0, 6), { type: 'error', error: { type: 'overloaded_error' } }]
    const { extraction } = streamed(half)
    expect(thought.startsWith(extraction.reasoning ?? 'nothing')).toBe(true)
    expect(extraction).toMatchObject({ text: '', opaque: [], truncated: true })
  })

  test('by an error of Responses', () => {
    const { stream } = getSample('Responses: a summary')
    const failed = {
      type: 'response.failed',
      response: { status: 'failed', output: [], error: { code: 'server_error' } },
    }
    expect(streamed([...stream.slice(0, 5), failed]).extraction).toMatchObject({
      text: '',
      opaque: [],
      truncated: true,
    })
  })
})

describe('tool calls', () => {
  const call = (given: object) => ({ choices: [{ delta: { tool_calls: [given] } }] })

  test('arguments that are cut off stay text', () => {
    const { extraction } = streamed([
      call({ index: 0, id: 'a', function: { name: 'f', arguments: '{"x": 1, "y' } }),
    ])
    expect(extraction.toolCalls).toEqual([{ id: 'a', name: 'f', arguments: '{"x": 1, "y' }])
  })

  test('no arguments are an empty object', () => {
    const { extraction } = streamed([call({ index: 0, id: 'a', function: { name: 'f', arguments: '' } })])
    expect(extraction.toolCalls).toEqual([{ id: 'a', name: 'f', arguments: {} }])
  })

  test('another id under the same number is another call', () => {
    const chunks = ['a', 'b'].map((id) =>
      call({ index: 0, id, function: { name: id, arguments: `{"${id}":1}` } }),
    )
    const finish = { choices: [{ delta: {}, finish_reason: 'tool_calls' }] }
    const calls = ['a', 'b'].map((id) => ({ id, name: id, arguments: { [id]: 1 } }))
    const { extraction, events } = streamed([...chunks, finish])
    expect(extraction.toolCalls).toEqual(calls)
    expect(events).toEqual(calls.map((each) => ({ type: 'toolCall', ...each })))
  })

  test('one without a name is none', () => {
    expect(
      streamed([call({ index: 0, id: 'a', function: { arguments: '{}' } })]).extraction.toolCalls,
    ).toEqual([])
  })
})

describe('an empty answer', () => {
  test.each([
    ['chat', { choices: [{ message: { content: '' }, finish_reason: 'stop' }] }],
    ['Anthropic', { type: 'message', content: [{ type: 'text', text: '' }], stop_reason: 'end_turn' }],
    ['Gemini', { candidates: [{ content: { parts: [{ text: '' }] }, finishReason: 'STOP' }] }],
    ['Ollama', { message: { content: '' }, done: true }],
  ])('%s', (_, response) => {
    expect(extractReasoning(response)).toEqual(nothing)
  })
})

describe('a response of tens of thousands of characters', () => {
  const size = times(60_000, 1_000_000)
  const delta = (content: string) => ({ choices: [{ delta: { content } }] })
  const fill = (unit: string) => unit.repeat(Math.ceil(size / unit.length)).slice(0, size)

  test.each([
    ['prose', 'I look at tokens.ts first. '],
    ['beginnings of tags', '<'],
    ['halves of tags', '<think'],
    ['thoughts', '<think>a</think>'],
    ['thoughts without an end', '<think>'],
    ['ends', '</think>'],
    ['fences that are never closed', '<think>\n```\n</think>'],
    ['backticks', '`'],
    ['stray backticks', '<think>``a`</think>'],
    ['white space', ' \n'],
    ['tool calls', '<think><tool_call>'],
    ['control tokens', '</s> <|im_end|>'],
    ['fields of calls', '<invoke name="f"><parameter name="a">'],
    ['ends of turns', '</s>'],
    ['headers without marks', 'assistantanalysis'],
    ['calls without marks', 'assistantcommentary to=f {}'],
    ['tags of MiniMax M3', ']<]minimax[>[<a>'],
  ])('%s', (_, unit) => {
    const content = `<think>${fill(unit)}</think>${fill(unit)}`
    const whole = extractReasoning({ choices: [{ message: { content } }] })
    const pieces = content.match(/[\s\S]{1,61}/g) ?? []
    expect(streamed(pieces.map(delta)).extraction).toEqual(whole)
  })

  test('blanks after a control token, in single characters', () => {
    const stream = new ReasoningStream()
    stream.push(delta('Yes</s>'))
    for (let sent = 0; sent < size; sent++) stream.push(delta(' '))
    expect(stream.end().text.trim()).toBe('Yes')
  })

  test('a thought in single characters', () => {
    const stream = new ReasoningStream()
    const chunk = { choices: [{ delta: { reasoning_content: 'a' } }] }
    for (let sent = 0; sent < size; sent++) stream.push(chunk)
    stream.push(delta(answer))
    expect(stream.end()).toMatchObject({ reasoning: 'a'.repeat(size), text: answer })
  })
})

test('where thoughts come apart from the text, no template begins them in it', () => {
  const chunks = [{ content: '' }, { reasoning_content: 'a' }, { content: 'b' }].map((delta) => ({
    choices: [{ delta }],
  }))
  expect(streamed(chunks, { prefilled: true }).extraction).toMatchObject({ reasoning: 'a', text: 'b' })
})

test('after the end nothing is taken', () => {
  const stream = new ReasoningStream()
  const chunk = { choices: [{ delta: { reasoning: 'a', content: 'b' } }] }
  stream.push(chunk)
  const extraction = stream.end()
  expect(stream.push(chunk)).toEqual([])
  expect(stream.end()).toEqual(extraction)
  expect(extraction).toMatchObject({ reasoning: 'a', text: 'b' })
})
