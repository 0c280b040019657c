import { getSpanId, getTraceId } from '@meup/folds'
import { createTraceFold } from '@meup/telemetry'
import { describe, expect, test } from 'vitest'
import {
  call,
  cancel,
  chat,
  conclusion,
  type Fields,
  feed,
  result,
  start,
  thought,
  toLog,
} from '../../folds/test/support/log.js'
import { drawn, epoch, foldSpans } from './support/spans.js'

const at = (seq: number): number => Date.parse('2026-02-21T10:00:00Z') + (seq - 1) * 1000
const gateway = 'system:gateway'

test('a run is a span from its start to its conclusion', () => {
  const [span, ...others] = foldSpans([
    chat('ana', 'go', { id: 'question' }),
    start('bot', 'begin', {
      id: 'run',
      correlationId: 'question',
      payload: { metadata: { model: 'some-model-2' } },
    }),
    thought('bot', 'hm', { context: 'run' }),
    conclusion('bot', 'done', { context: 'run' }),
  ])
  expect(others).toEqual([])
  expect(span).toEqual({
    traceId: getTraceId(epoch, 'run'),
    spanId: getSpanId(epoch, 'run'),
    name: 'invoke_agent bot',
    start: at(2),
    end: at(4),
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'meup',
      'gen_ai.agent.id': 'bot',
      'gen_ai.agent.name': 'bot',
      'gen_ai.conversation.id': 'demo/bot',
      'gen_ai.request.model': 'some-model-2',
      'meup.space': 'demo',
      'meup.context': 'run',
      'meup.seq': 2,
      'meup.trigger': ['question'],
    },
    events: [],
    droppedEvents: 0,
  })
})

test('a run has the tokens that its agent reports, if they are numbers', () => {
  const end = (tokens: object) =>
    foldSpans([
      start('bot', 'begin', { id: 'run' }),
      conclusion('bot', 'done', { context: 'run', payload: { metadata: { tokens } } }),
    ])[0]?.attributes
  expect(end({ input: 1200, output: 48 })).toMatchObject({
    'gen_ai.usage.input_tokens': 1200,
    'gen_ai.usage.output_tokens': 48,
  })
  const odd = Object.keys(end({ input: -1, output: 'many' }) ?? {})
  expect(odd.filter((name) => name.startsWith('gen_ai.usage'))).toEqual([])
})

describe('what is nested', () => {
  const nested = [
    start('bot', 'outer', { id: 'run' }),
    start('helper', 'inner', { id: 'sub', context: 'run' }),
    start('bot', 'innermost', { id: 'deep', context: 'run/sub' }),
    conclusion('bot', 'one', { context: 'run/sub/deep' }),
  ]

  test('is a child in the same trace, and in the conversation of the run', () => {
    const spans = foldSpans([
      ...nested,
      conclusion('helper', 'two', { context: 'run/sub' }),
      conclusion('bot', 'three', { context: 'run' }),
    ])
    expect(drawn(spans)).toEqual(['invoke_agent bot', '  invoke_agent helper', '    invoke_agent bot'])
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([getTraceId(epoch, 'run')]))
    expect(spans.map(({ attributes }) => attributes['gen_ai.conversation.id'])).toEqual(
      Array(3).fill('demo/bot'),
    )
  })
})

test.for<[string, Fields, string | undefined]>([
  ['a conclusion', conclusion('bot', 'done', { context: 'run' }), undefined],
  ['a cancel', cancel('bot', 'run', 'no more'), 'cancelled'],
  [
    'a conclusion that says it was cancelled',
    conclusion('bot', '', { context: 'run', payload: { metadata: { cancelled: true } } }),
    'cancelled',
  ],
  ['the gateway', cancel(gateway, 'run', 'abandoned'), 'abandoned'],
])('how %s ends a run', ([, ending, error]) => {
  const [span] = foldSpans([start('bot', '', { id: 'run' }), ending])
  expect(span?.error).toBe(error)
})

test('the same log gives the same spans, and an envelope that comes twice gives none', () => {
  const log = [
    start('bot', '', { id: 'run' }),
    call('bot', 'read', {}, { id: 'c1', context: 'run' }),
    result('c1', 'text'),
    conclusion('bot', 'done', { context: 'run' }),
  ]
  const fold = createTraceFold({ space: 'demo', epoch })
  expect(feed(fold, log).flat()).toEqual(foldSpans(log))
  expect(fold.seq).toBe(4)
  expect(feed(fold, log).flat()).toEqual([])
  const [{ seq: _, ...unlogged } = {}] = toLog([conclusion('bot', '', { context: 'run' })]) as {
    seq?: number
  }[]
  expect(createTraceFold({ space: 'demo', epoch }).apply(unlogged as never)).toEqual([])
  expect(foldSpans(log, { epoch: 'another' }).map(({ traceId }) => traceId)).not.toContain(
    getTraceId(epoch, 'run'),
  )
})

describe('a run about a request', () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const carrying = { payload: { params: { name: 'review', _meta: { traceparent } } } }
  const answered = (request: Fields, to = 'bot') => [
    request,
    start(to, '', { id: 'run', correlationId: 'c1' }),
    conclusion(to, '', { context: 'run' }),
    result('c1', 'fine', to),
  ]

  test('is part of the span that the request carries', () => {
    const spans = foldSpans(answered(call('ana', 'review', {}, { id: 'c1', to: ['bot'], ...carrying })))
    expect(spans.map(({ name, traceId, parentSpanId }) => [name, traceId, parentSpanId])).toEqual([
      ['invoke_agent bot', '4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'],
      ['execute_tool review', '4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'],
    ])
  })

  test('is part of the call where it carries nothing', () => {
    const asked = call('boss', 'review', {}, { id: 'c1', to: ['bot'], context: 'outer' })
    const spans = foldSpans([
      start('boss', '', { id: 'outer' }),
      ...answered(asked),
      conclusion('boss', '', { context: 'outer' }),
    ])
    expect(drawn(spans)).toEqual(['invoke_agent boss', '  execute_tool review', '    invoke_agent bot'])
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([getTraceId(epoch, 'outer')]))
  })

  test('of somebody else begins a trace of its own', () => {
    const asked = call('ana', 'review', {}, { id: 'c1', to: ['bot'], ...carrying })
    const spans = foldSpans(answered(asked, 'stranger'))
    expect(spans[0]).toMatchObject({ name: 'invoke_agent stranger', traceId: getTraceId(epoch, 'run') })
    expect(spans[0]).not.toHaveProperty('parentSpanId')
  })
})
