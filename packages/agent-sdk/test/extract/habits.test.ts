import { extractReasoning } from '@meup/agent-sdk/extract'
import { describe, expect, test } from 'vitest'
import argumentForms from '../fixtures/model-habits/arguments.json' with { type: 'json' }
import callForms from '../fixtures/model-habits/calls-as-text.json' with { type: 'json' }
import finishReasons from '../fixtures/model-habits/finish-reasons.json' with { type: 'json' }
import thoughts from '../fixtures/model-habits/thoughts.json' with { type: 'json' }
import { said, streamed } from './support/streams.js'

const delta = (given: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: given, finish_reason }],
})

test.for(argumentForms)('the arguments of calls: $name', ({ deltas, calls }) => {
  const chunks = [...deltas.map((tool_calls) => delta({ tool_calls })), delta({}, 'tool_calls')]
  const { extraction, events } = streamed(chunks)
  expect(extraction.toolCalls.map((each) => each.arguments)).toEqual(calls)
  const given = events.flatMap((event) => (event.type === 'toolCall' ? [event.arguments] : []))
  expect(given).toEqual(calls)
})

test('a name is cut at control tokens', () => {
  const names = ['f<|channel|>commentary', 'f<|constrain|>json', 'f</tool_call>', 'f[ARGS]', ' f']
  const tool_calls = names.map((name) => ({ function: { name, arguments: '{}' } }))
  const extraction = extractReasoning({ choices: [{ message: { tool_calls } }] })
  expect(extraction?.toolCalls.map(({ name }) => name)).toEqual(names.map(() => 'f'))
})

describe('a refusal is the text', () => {
  const refusal = 'I cannot help with that.'
  const item = { type: 'message', id: 'm', content: [{ type: 'refusal', refusal }] }
  const whole: readonly [string, object][] = [
    ['chat', { choices: [{ message: { content: null, refusal }, finish_reason: 'stop' }] }],
    ['chat, as a part', { choices: [{ message: { content: [{ type: 'refusal', refusal }] } }] }],
    ['Responses', { status: 'completed', output: [item] }],
  ]
  test.for(whole)('of %s', ([, response]) => {
    expect(extractReasoning(response)).toMatchObject({ text: refusal, reasoning: null })
    expect(streamed([response]).extraction.text).toBe(refusal)
  })

  const about = { item_id: 'm', output_index: 0, content_index: 0 }
  const pieces = ['I cannot ', 'help with that.']
  const streams: readonly [string, readonly object[]][] = [
    ['chat', [...pieces.map((each) => delta({ refusal: each })), delta({}, 'stop')]],
    [
      'Responses',
      [
        ...pieces.map((each) => ({ type: 'response.refusal.delta', ...about, delta: each })),
        { type: 'response.refusal.done', ...about, refusal },
        { type: 'response.output_item.done', output_index: 0, item },
      ],
    ],
    ['Responses, at the end alone', [{ type: 'response.refusal.done', ...about, refusal }]],
  ]
  test.for(streams)('streamed by %s', ([, chunks]) => {
    const { extraction, events } = streamed(chunks)
    expect(extraction.text).toBe(refusal)
    expect(said(events, 'text')).toBe(refusal)
  })
})

test.for([
  ...finishReasons.whole.map((reason) => [reason, false] as const),
  ...[...finishReasons.cut, ...finishReasons.refused, ...finishReasons.failed].map(
    (reason) => [reason, true] as const,
  ),
])('a thought that ends with %s: cut off: %s', ([reason, isCut]) => {
  const { extraction } = streamed([delta({ reasoning_content: 'Hm' }), delta({}, reason)])
  expect(extraction.truncated === true).toBe(isCut)
})

test.for(thoughts)('thoughts are found: $name', ({ text, answer }) => {
  const extraction = extractReasoning({ choices: [{ message: { content: text }, finish_reason: 'stop' }] })
  expect(extraction?.text.trim()).toBe(answer.trim())
  expect(extraction?.reasoning).toContain('RAW THOUGHT')
  expect(extraction?.source).toBe('tags')
})

test.for(callForms)('a call as text in the form of $of stays text, without thoughts', ({ variants }) => {
  for (const { text } of variants) {
    const { extraction, events } = streamed(
      [...text].map((content) => delta({ content })).concat(delta({}, 'stop')),
    )
    expect(extraction.toolCalls).toEqual([])
    expect(extraction.text).toMatch(/desk[_.]+add/)
    expect(extraction.text).not.toContain('RAW THOUGHT')
    expect(said(events, 'text')).toBe(extraction.text)
  }
})
