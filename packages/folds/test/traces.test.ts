import { createHash } from 'node:crypto'
import {
  formatTraceparent,
  getSpanId,
  getTraceId,
  parseTraceparent,
  Traces,
  traceEndpoint,
} from '@meup/folds'
import { describe, expect, test } from 'vitest'
import { call, type Fields, propose, start, toLog } from './support/log.js'

test('ids are parts of a SHA-256 of epoch and id', () => {
  const digest = createHash('sha256').update('epoch-ü run_1').digest('hex')
  expect(getTraceId('epoch-ü', 'run_1')).toBe(digest.slice(0, 32))
  expect(getSpanId('epoch-ü', 'run_1')).toBe(digest.slice(32, 48))
})

describe('a traceparent', () => {
  const span = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }

  test('is read as it is written', () => {
    expect(formatTraceparent(span)).toBe('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01')
    expect(parseTraceparent(formatTraceparent(span))).toEqual(span)
  })

  test.for([`00-${span.traceId}-${span.spanId}-00`, `cc-${span.traceId}-${span.spanId}-01-what-comes-later`])(
    'may be %s',
    (text) => expect(parseTraceparent(text)).toEqual(span),
  )

  test.for([
    undefined,
    7,
    '',
    span.traceId,
    `ff-${span.traceId}-${span.spanId}-01`,
    `00-${'0'.repeat(32)}-${span.spanId}-01`,
    `00-${span.traceId}-${'0'.repeat(16)}-01`,
    `00-${span.traceId.toUpperCase()}-${span.spanId}-01`,
    `00-${span.traceId}-${span.spanId}-0`,
    `00-${span.traceId}-${span.spanId}-01x`,
    ` 00-${span.traceId}-${span.spanId}-01`,
  ])('is never %s', (text) => expect(parseTraceparent(text)).toBeUndefined())
})

describe('traces', () => {
  const epoch = 'epoch'
  const own = (id: string) => ({ traceId: getTraceId(epoch, id), spanId: getSpanId(epoch, id) })
  const foreign = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) }
  const _meta = { traceparent: formatTraceparent(foreign) }
  const carrying = { payload: { params: { name: 'review', _meta } } }

  function readLog(...log: Fields[]): Traces {
    const traces = new Traces(() => epoch)
    for (const envelope of toLog(log)) traces.apply(envelope)
    return traces
  }
  const request = (more: object = {}) => ({ id: 'c1', payload: { method: 'tools/call' }, ...more })

  test('a call carries its own span, in the trace of its run', () => {
    const { spanId } = own('c1')
    expect(readLog().getCarriedSpan(request())).toEqual(own('c1'))
    expect(readLog().getCarriedSpan(request({ context: 'run/sub' }))).toEqual({
      traceId: own('run').traceId,
      spanId,
    })
  })

  test('any other request carries the span of its context', () => {
    const list = { payload: { method: 'tools/list' } }
    expect(readLog().getCarriedSpan(request(list))).toBeUndefined()
    expect(readLog().getCarriedSpan(request({ ...list, context: 'run/sub' }))).toEqual({
      traceId: own('run').traceId,
      spanId: own('sub').spanId,
    })
  })

  test('what a request carries already goes before', () => {
    expect(
      readLog().getCarriedSpan(
        request({ context: 'run', ...{ payload: { method: 'tools/call', params: { _meta } } } }),
      ),
    ).toEqual(foreign)
  })

  test('a run about a request is in the trace that it carries, with all that is asked in it', () => {
    const traces = readLog(
      call('ana', 'review', {}, { id: 'q', to: ['bot'], ...carrying }),
      start('bot', '', { id: 'run', correlationId: ['unknown', 'q'] }),
    )
    expect(traces.getParentSpan('run')).toEqual(foreign)
    expect(traces.getContextSpan('run')).toEqual({ ...own('run'), traceId: foreign.traceId })
    expect(traces.getCarriedSpan(request({ context: 'run/sub' }))?.traceId).toBe(foreign.traceId)
  })

  test.for<[string, Fields, Fields]>([
    [
      'the request was for others',
      call('ana', 'review', {}, { id: 'q', to: ['tools'] }),
      start('bot', '', { id: 'run', correlationId: 'q' }),
    ],
    [
      'it was its own',
      call('bot', 'review', {}, { id: 'q', to: ['bot'] }),
      start('bot', '', { id: 'run', correlationId: 'q' }),
    ],
    [
      'it is nested',
      call('ana', 'review', {}, { id: 'q', to: ['bot'] }),
      start('bot', '', { id: 'run', correlationId: 'q', context: 'outer' }),
    ],
  ])('a run is no part of a request where %s', ([, asked, begun]) => {
    expect(readLog(asked, begun).getParentSpan('run')).toBeUndefined()
  })

  test('a request that fulfils a proposal carries the span of the proposal', () => {
    const traces = readLog(propose('bot', 'write', {}, { id: 'p1' }))
    expect(traces.getCarriedSpan(request({ correlationId: 'p1' }))).toEqual(own('p1'))
  })
})

test.for<[string, Record<string, string>, string | undefined]>([
  ['nothing is set', {}, undefined],
  ['it is empty', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, undefined],
  ['there is an endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a' }, 'http://a'],
  [
    'traces have their own',
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://b' },
    'http://b',
  ],
  ['the SDK is disabled', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a', OTEL_SDK_DISABLED: 'True' }, undefined],
  [
    'there is no exporter',
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a', OTEL_TRACES_EXPORTER: 'none' },
    undefined,
  ],
  [
    'the exporter is named',
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a', OTEL_TRACES_EXPORTER: 'otlp' },
    'http://a',
  ],
])('where traces go when %s', ([, env, endpoint]) => {
  expect(traceEndpoint(env)).toBe(endpoint)
})
