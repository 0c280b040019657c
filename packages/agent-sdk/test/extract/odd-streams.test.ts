import { extractReasoning } from '@meup/agent-sdk/extract'
import { expect, test } from 'vitest'
import { getSample } from './support/all-samples.js'
import { thought } from './support/sample.js'
import { said, streamed } from './support/streams.js'

const delta = (given: object) => ({ choices: [{ delta: given }] })

test('a field that has nothing to say silences no other', () => {
  const { extraction, events } = streamed([delta({ reasoning: '\n' }), delta({ reasoning_content: 'Hm' })])
  expect(extraction).toMatchObject({ reasoning: 'Hm', source: 'reasoning_content' })
  expect(said(events, 'reasoning')).toBe('\nHm')
})

test('calls that are written at the same time are kept apart by their number', () => {
  const call = (index: number, more: object, json: string) =>
    delta({ tool_calls: [{ index, ...more, function: { ...more, arguments: json } }] })
  const { extraction } = streamed([
    call(0, { id: 'a', name: 'f' }, '{"x"'),
    call(1, { id: 'b', name: 'g' }, '{"y"'),
    call(0, {}, ':1}'),
    call(1, {}, ':2}'),
  ])
  expect(extraction.toolCalls).toEqual([
    { id: 'a', name: 'f', arguments: { x: 1 } },
    { id: 'b', name: 'g', arguments: { y: 2 } },
  ])
})

test('several Responses in one stream follow each other', () => {
  const answer = (id: string, text: string) => {
    const item = { id, type: 'message', content: [{ type: 'output_text', text }] }
    return [
      { type: 'response.created', response: {} },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { status: 'completed', output: [item] } },
    ]
  }
  expect(streamed([...answer('m1', 'Yes'), ...answer('m2', 'No')]).extraction.text).toBe('YesNo')
})

test('of Responses, what was not heard in pieces is heard at the end', () => {
  const { stream, expected } = getSample('Responses: a summary')
  const isPiece = (chunk: unknown) => /\.(?:delta|added)"/.test(JSON.stringify(chunk))
  const tail = stream.filter((chunk) => /response\.completed/.test(JSON.stringify(chunk)))
  for (const heard of [stream.filter((chunk) => !isPiece(chunk)), tail]) {
    expect(streamed(heard).extraction).toEqual(expected)
  }
})

test("OpenRouter's details are kept apart by type and index, ciphertexts always", () => {
  const text = (index: number, given: string) => ({ type: 'reasoning.text', text: given, index })
  const secret = (data: string) => ({ type: 'reasoning.encrypted', data, index: 2 })
  const details = [text(0, 'a'), text(1, 'b'), secret('YQ=='), secret('Yg==')]
  const whole = extractReasoning({ choices: [{ message: { content: 'Yes', reasoning_details: details } }] })
  expect(whole).toMatchObject({ reasoning: 'a\n\nb', source: 'reasoning_details', opaque: details })
  const { extraction } = streamed([
    ...details.map((each) => delta({ reasoning_details: [each] })),
    delta({ content: 'Yes' }),
  ])
  expect(extraction).toEqual(whole)
})

test("OpenRouter's details without numbers end with their signatures", () => {
  const details = ['a', 'b'].map((text) => ({ type: 'reasoning.text', text, signature: `${text}-signed` }))
  const { extraction } = streamed(
    details.flatMap(({ signature, ...detail }) => [
      delta({ reasoning_details: [detail] }),
      delta({ reasoning_details: [{ type: detail.type, signature }] }),
    ]),
  )
  expect(extraction).toMatchObject({ reasoning: 'a\n\nb', opaque: details })
})

test.each(['$.__proto__.polluted', '$.list[7]', '$.list.name', '$', '', 7])(
  'an argument of Gemini at %j is put nowhere it does not belong',
  (jsonPath) => {
    const part = (functionCall: object) => ({ candidates: [{ content: { parts: [{ functionCall }] } }] })
    const { extraction } = streamed([
      part({ name: 'f', willContinue: true }),
      part({ partialArgs: [{ jsonPath: '$.list[0]', boolValue: true }], willContinue: true }),
      part({ partialArgs: [{ jsonPath, stringValue: 'x' }, null] }),
    ])
    expect(extraction.toolCalls[0]?.arguments).toMatchObject({ list: [true] })
    expect(extraction.toolCalls[0]?.arguments).toHaveProperty('list.length', 1)
    expect({}).not.toHaveProperty('polluted')
  },
)

test('what Anthropic has ended was not cut off, whatever follows, and can be sent back', () => {
  const { stream, expected } = getSample('Anthropic: thoughts')
  const end = stream.findIndex((chunk) => JSON.stringify(chunk).includes('content_block_stop'))
  const { extraction } = streamed(stream.slice(0, end + 1))
  expect(extraction).toMatchObject({ reasoning: thought, text: '', opaque: [expected.opaque[0]] })
  expect(extraction).not.toHaveProperty('truncated')
})

test('a block of Anthropic whose beginning got lost is read all the same', () => {
  const { stream, expected } = getSample('Anthropic: nothing but the signature')
  const headless = stream.filter((chunk) => !JSON.stringify(chunk).includes('content_block_start'))
  expect(streamed(headless).extraction).toEqual(expected)
})
