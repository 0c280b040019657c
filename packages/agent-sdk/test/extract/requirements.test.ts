import { extractReasoning, reasoningBy } from '@meup/agent-sdk/extract'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../../test/verifies.js'
import { watchComplaints } from '../support/complaints.js'
import { getSample } from './support/all-samples.js'
import { streamed } from './support/streams.js'

describe('a client', () => {
  verifies('T09', 'without `extractReasoning` is asked nothing, and nobody warns', () => {
    const complaints = watchComplaints()
    for (const client of [
      {},
      { chat: () => 'Hm' },
      { extractReasoning: 'Hm' },
      () => 'Hm',
      null,
      undefined,
      'x',
    ]) {
      expect(reasoningBy(client, {})).toBeNull()
    }
    expect(complaints()).toEqual([])
  })

  verifies('T10', 'gives text and format, or text alone, or nothing', () => {
    const returning = (value: unknown) => reasoningBy({ extractReasoning: () => value }, {})
    expect(returning(['Hm', 'raw'])).toEqual({ text: 'Hm', format: 'raw' })
    expect(returning({ text: 'Hm', format: 'think_tags' })).toEqual({ text: 'Hm', format: 'think_tags' })
    expect(returning('Hm')).toEqual({ text: 'Hm', format: 'parsed' })
    expect(returning(['Hm'])).toEqual({ text: 'Hm', format: 'parsed' })
    for (const nothing of [null, undefined, '', [], {}, 7, { reasoning: null, text: 'the answer' }]) {
      expect(returning(nothing)).toBeNull()
    }
  })

  test('may use the built-in one, and has its own state', () => {
    const response = { content: [{ type: 'thinking', thinking: 'Hm' }] }
    expect(reasoningBy({ extractReasoning }, response)).toEqual({ text: 'Hm', format: 'anthropic' })
    const client = {
      prefix: 'I think: ',
      extractReasoning(response: { thought: string }) {
        return this.prefix + response.thought
      },
    }
    expect(reasoningBy(client, { thought: 'Hm' })?.text).toBe('I think: Hm')
  })

  test('that fails, fails', () => {
    const client = {
      extractReasoning() {
        throw new Error('no')
      },
    }
    expect(() => reasoningBy(client, {})).toThrow('no')
  })
})

describe('of several places', () => {
  const message = { reasoning: 'first', reasoning_content: 'second', content: '<think>fourth</think>answer' }
  const content = [
    { type: 'thinking', thinking: 'third', signature: 's' },
    { type: 'text', text: 'another answer' },
  ]
  const { reasoning: _first, ...second } = message
  const { reasoning_content: _second, ...third } = second

  verifies('T11', 'the first of the chain is taken, and the answer is clean', () => {
    const read = (message: object, more: object = {}) => extractReasoning({ choices: [{ message }], ...more })
    const answer = { text: 'answer' }
    expect(read(message, { content })).toMatchObject({
      ...{ reasoning: 'first', format: 'parsed', source: 'reasoning' },
      ...answer,
    })
    expect(read(second, { content })).toMatchObject({
      ...{ reasoning: 'second', format: 'parsed', source: 'reasoning_content' },
      ...answer,
    })
    expect(read(third, { content })).toMatchObject({
      ...{ reasoning: 'third', format: 'anthropic', source: 'thinking' },
      ...answer,
    })
    expect(read(third)).toMatchObject({
      ...{ reasoning: 'fourth', format: 'think_tags', source: 'tags' },
      ...answer,
    })
    expect(read({ content: 'answer' })).toMatchObject({
      reasoning: null,
      format: 'parsed',
      source: 'none',
      ...answer,
    })
  })

  test.each([null, '', ' \n', 7, {}])('one that has nothing to say (%j) is passed over', (reasoning) => {
    const response = { choices: [{ message: { ...message, reasoning } }] }
    expect(extractReasoning(response)).toMatchObject({ reasoning: 'second', text: 'answer' })
  })

  test('in a stream, a better place that shows later wins in the end', () => {
    const { extraction, events } = streamed([
      { choices: [{ delta: { reasoning_content: 'sec' } }] },
      { choices: [{ delta: { reasoning: 'first', reasoning_content: 'ond' } }] },
      { choices: [{ delta: { content: '<think>fourth</think>answer' } }] },
    ])
    expect(extraction).toMatchObject({ reasoning: 'first', source: 'reasoning', text: 'answer' })
    expect(events).toEqual([
      { type: 'reasoning', text: 'sec' },
      { type: 'reasoning', text: 'first' },
      { type: 'text', text: 'answer' },
    ])
  })
})

verifies('T12', 'each form of the document is read', () => {
  const message = (fields: object) => ({ choices: [{ message: { role: 'assistant', ...fields } }] })
  const forms: readonly (readonly [response: object, reasoning: string, format: string])[] = [
    [message({ reasoning: 'Hm', content: 'Yes' }), 'Hm', 'parsed'],
    [message({ content: '<think>\nHm\n</think>\n\nYes' }), 'Hm', 'think_tags'],
    [
      {
        content: [
          { type: 'thinking', thinking: 'Hm' },
          { type: 'thinking', thinking: 'so' },
          { type: 'text', text: 'Yes' },
        ],
      },
      'Hm\n\nso',
      'anthropic',
    ],
    [message({ reasoning_content: 'Hm', content: 'Yes' }), 'Hm', 'parsed'],
  ]
  for (const [response, reasoning, format] of forms) {
    expect(extractReasoning(response)).toMatchObject({ reasoning, format, text: 'Yes' })
  }
  for (const malformed of [
    null,
    'x',
    {},
    { choices: [] },
    { choices: [{ message: null }] },
    { content: [] },
  ]) {
    expect(extractReasoning(malformed)).toBeNull()
  }
})

verifies('T13', 'what is between tags is no answer', () => {
  const extract = (content: string) => extractReasoning({ choices: [{ message: { content } }] })
  expect(extract('<think>a\nb</think>\n\nYes\n<think>c</think>\nNo')).toMatchObject({
    reasoning: 'a\nb\n\nc',
    text: 'Yes\nNo',
  })
  expect(extract('<think>a')).toMatchObject({ reasoning: 'a', text: '', truncated: true })
  const { extraction } = streamed(
    ['<th', 'ink>a</', 'think>', 'Yes'].map((content) => ({ choices: [{ delta: { content } }] })),
  )
  expect(extraction).toMatchObject({ reasoning: 'a', text: 'Yes' })
})

verifies('T14', 'hidden reasoning is a count of tokens, or what the provider alone can read', () => {
  for (const [name, isRedacted] of [
    ['OpenAI: a count', false],
    ['Responses: a ciphertext', true],
    ['Anthropic: nothing but the signature', true],
    ['Gemini: thoughts that are not shown', true],
    ['OpenRouter: a thought that nobody', true],
  ] as const) {
    const extraction = extractReasoning(getSample(name).whole)
    expect(extraction, name).toMatchObject({ reasoning: null, tokens: 18 })
    expect(extraction?.redacted === true, name).toBe(isRedacted)
    expect(reasoningBy({ extractReasoning }, getSample(name).whole), name).toBeNull()
  }
})
