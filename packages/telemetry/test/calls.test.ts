import { getSpanId, getTraceId } from '@meup/folds'
import { createTraceFold, type TraceSpan } from '@meup/telemetry'
import { describe, expect, test } from 'vitest'
import {
  call,
  conclusion,
  type Fields,
  failure,
  propose,
  refused,
  reject,
  response,
  result,
  start,
  toLog,
  toolError,
  withdraw,
} from '../../folds/test/support/log.js'
import { drawn, epoch, foldSpans } from './support/spans.js'

const at = (seq: number): number => Date.parse('2026-02-21T10:00:00Z') + (seq - 1) * 1000
const run = start('bot', '', { id: 'run' })
const inRun = { context: 'run' }
const over = conclusion('bot', '', inRun)
const callIds = (spans: readonly TraceSpan[]) =>
  spans.map(({ attributes }) => attributes['gen_ai.tool.call.id'])

test('a call is a span from the request to its response, and says why it was made', () => {
  const [span] = foldSpans([
    run,
    call(
      'bot',
      'read',
      { path: 'secret.txt' },
      { id: 'c1', rationale: 'what fails decides', parallelGroup: 2, ...inRun },
    ),
    result('c1', 'the secret'),
  ])
  expect(span).toEqual({
    traceId: getTraceId(epoch, 'run'),
    spanId: getSpanId(epoch, 'c1'),
    parentSpanId: getSpanId(epoch, 'run'),
    name: 'execute_tool read',
    start: at(2),
    end: at(3),
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'read',
      'gen_ai.tool.call.id': 'c1',
      'gen_ai.agent.id': 'bot',
      'gen_ai.agent.name': 'bot',
      'gen_ai.conversation.id': 'demo/bot',
      'mcp.method.name': 'tools/call',
      'meup.space': 'demo',
      'meup.context': 'run',
      'meup.seq': 2,
      'meup.to': ['tools'],
      'meup.rationale': 'what fails decides',
      'meup.parallel_group': 2,
    },
    events: [],
    droppedEvents: 0,
  })
})

test.for<[string, Fields, string | undefined]>([
  ['a result', result('c1', 'text'), undefined],
  ['a JSON-RPC error', failure('c1', 'no such file'), '-32000'],
  ['an error without a code', response('tools', 'c1', { error: { message: 'no' } }), '_OTHER'],
  ['a code that is none', response('tools', 'c1', { error: { code: 'x'.repeat(999) } }), '_OTHER'],
  ['a tool that says it failed', toolError('c1', 'no such file'), 'tool_error'],
  ['an error that is null', response('tools', 'c1', { error: null, result: {} }), undefined],
])('%s ends a call', ([, ending, error]) => {
  const [span] = foldSpans([call('bot', 'read', {}, { id: 'c1' }), ending])
  expect(span?.error).toBe(error)
  expect(JSON.stringify(span)).not.toContain('no such file')
})

test('calls side by side are siblings, whichever answers first', () => {
  const spans = foldSpans([
    run,
    ...['a', 'b'].map((name) => call('bot', name, {}, { id: name, parallelGroup: 0, ...inRun })),
    result('b', ''),
    failure('a', ''),
    over,
  ])
  expect(drawn(spans)).toEqual(['invoke_agent bot', '  execute_tool a: -32000', '  execute_tool b'])
})

test('what is no call is no span', () => {
  const list = { ...call('bot', '', {}, { id: 'c1' }), payload: { method: 'tools/list' } }
  const progress = {
    ...call('bot', '', {}, { id: 'c2' }),
    payload: { method: 'notifications/progress', params: {} },
  }
  expect(foldSpans([list, progress, result('c1', ''), result('c2', '')])).toEqual([])
})

describe('a call outside of a run', () => {
  test('begins a trace, or is part of what it carries', () => {
    const _meta = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00` }
    const [own, carried] = foldSpans([
      call('ana', 'read', {}, { id: 'c1' }),
      call('ana', 'read', {}, { id: 'c2', payload: { params: { name: 'read', _meta } } }),
      result('c1', ''),
      result('c2', ''),
    ])
    expect(own).toMatchObject({
      traceId: getTraceId(epoch, 'c1'),
      attributes: { 'gen_ai.conversation.id': 'demo/ana' },
    })
    expect(own).not.toHaveProperty('parentSpanId')
    expect(carried).toMatchObject({ traceId: 'a'.repeat(32), parentSpanId: 'b'.repeat(16) })
  })

  test('that carries itself is not its own parent', () => {
    const _meta = { traceparent: `00-${getTraceId(epoch, 'c1')}-${getSpanId(epoch, 'c1')}-01` }
    const [span] = foldSpans([
      call('ana', 'read', {}, { id: 'c1', payload: { params: { name: 'read', _meta } } }),
      result('c1', ''),
    ])
    expect(span).toMatchObject({ traceId: getTraceId(epoch, 'c1'), spanId: getSpanId(epoch, 'c1') })
    expect(span).not.toHaveProperty('parentSpanId')
  })

  test('stands in the trace of its free path, with no parent that does not exist', () => {
    const [span] = foldSpans([call('bot', 'read', {}, { id: 'c1', context: 'notes/one' }), result('c1', '')])
    expect(span).toMatchObject({ traceId: getTraceId(epoch, 'notes') })
    expect(span).not.toHaveProperty('parentSpanId')
  })
})

describe('a proposal', () => {
  const proposal = propose('bot', 'write', {}, { id: 'p1', ...inRun })
  const approval = call('ana', 'write', {}, { id: 'c1', correlationId: 'p1', ...inRun })

  test('is one call with the request that fulfils it, of the one who asked for it', () => {
    const spans = foldSpans([run, proposal, approval, result('c1', ''), over])
    expect(drawn(spans)).toEqual(['invoke_agent bot', '  execute_tool write'])
    expect(spans[0]).toMatchObject({
      spanId: getSpanId(epoch, 'p1'),
      start: at(2),
      end: at(4),
      attributes: {
        'gen_ai.agent.name': 'bot',
        'gen_ai.tool.call.id': 'c1',
        'meup.proposal': 'p1',
        'meup.approved_by': 'ana',
      },
    })
  })

  test.for<[string, Fields[], string]>([
    ['rejected', [reject('ana', 'p1')], 'rejected'],
    ['rejected and then withdrawn', [reject('ana', 'p1'), withdraw('bot', 'p1')], 'rejected'],
    ['approved and failed', [approval, toolError('c1', '')], 'tool_error'],
  ])('that is %s', ([, endings, error]) => {
    const spans = foldSpans([run, proposal, ...endings, over])
    expect(drawn(spans)).toEqual(['invoke_agent bot', `  execute_tool write: ${error}`])
    expect(spans[0]?.attributes['meup.proposal']).toBe('p1')
  })

  test('ends when it expires, not when that is noticed', () => {
    const expiresAt = new Date(at(2) + 500).toISOString()
    const [span] = foldSpans([
      propose('bot', 'write', {}, { id: 'p1', payload: { expiresAt } }),
      run,
      run,
      over,
    ])
    expect(span).toMatchObject({ end: at(2) + 500, error: 'expired' })
  })

  test('that somebody approves after a rejection is another call; so is every further use', () => {
    const twice = propose('bot', 'write', {}, { id: 'p2', payload: { uses: 2 } })
    const uses = ['u1', 'u2'].flatMap((id) => [
      call('ana', 'write', {}, { id, correlationId: 'p2' }),
      result(id, ''),
    ])
    const spans = foldSpans([proposal, reject('bob', 'p1'), approval, result('c1', ''), twice, ...uses])
    expect(spans.map(({ spanId, error }) => [spanId, error])).toEqual([
      [getSpanId(epoch, 'p1'), 'rejected'],
      [getSpanId(epoch, 'c1'), undefined],
      [getSpanId(epoch, 'p2'), undefined],
      [getSpanId(epoch, 'u2'), undefined],
    ])
  })
})

describe('what the gateway refuses', () => {
  const payload = { attemptedTool: 'write', attemptedId: 'c1', context: 'run', count: 3 }

  test('is a call of no length', () => {
    const spans = foldSpans([run, refused('bot', payload), over])
    expect(drawn(spans)).toEqual(['invoke_agent bot', '  execute_tool write: capability_violation'])
    expect(spans[0]).toMatchObject({ start: at(2), end: at(2) })
    expect(spans[0]?.attributes).toMatchObject({
      'gen_ai.agent.name': 'bot',
      'gen_ai.tool.call.id': 'c1',
      'meup.count': 3,
    })
  })

  test('may be tried again under the same id', () => {
    const spans = foldSpans([
      run,
      refused('bot', payload),
      call('bot', 'write', {}, { id: 'c1', ...inRun }),
      result('c1', ''),
    ])
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(2)
    expect(callIds(spans)).toEqual(['c1', 'c1'])
  })

  test.for<[string, Fields['payload']]>([
    ['was let through for review', { ...payload, decision: 'review' }],
    ['was something else', { ...payload, attemptedKind: 'chat' }],
    ['had no tool', { attemptedId: 'c1' }],
  ])('is none where it %s', ([, decision]) => {
    expect(foldSpans([refused('bot', decision ?? {})])).toEqual([])
  })
})

describe('a participant that leaves', () => {
  const presence = (event: string, id: string): Fields => ({
    kind: 'system.presence',
    from: 'system:gateway',
    payload: { event, participant: { id } },
  })
  const later = (seconds: number) => ({ ts: new Date(at(1) + seconds * 1000).toISOString() })

  function spansAfter(log: Fields[], seconds: number): TraceSpan[] {
    const fold = createTraceFold({ space: 'demo', epoch })
    const envelopes = toLog([...log, { ...start('clock', ''), ...later(seconds) }])
    return envelopes.flatMap((envelope) => [...fold.apply(envelope)])
  }
  const asked = call('bot', 'read', {}, { id: 'c1' })

  test.for(['bot', 'tools'])('gives up the calls of %s after a minute, as of when it left', (id) => {
    expect(spansAfter([asked, presence('leave', id)], 60)).toEqual([])
    const [span] = spansAfter([asked, presence('leave', id)], 61)
    expect(span).toMatchObject({ end: at(2), error: 'abandoned' })
  })

  test('and comes back has given up nothing', () => {
    expect(spansAfter([asked, presence('leave', 'tools'), presence('join', 'tools')], 3600)).toEqual([])
  })

  test('gives up no call that others may answer, and no proposal for it', () => {
    const toTwo = { ...asked, to: ['tools', 'more'] }
    const proposed = propose('bot', 'write', {}, { id: 'p1' })
    expect(spansAfter([toTwo, proposed, presence('leave', 'tools')], 3600)).toEqual([])
  })

  test('gives up what it has proposed, unless somebody does it', () => {
    const proposed = propose('bot', 'write', {}, { id: 'p1' })
    const approved = call('ana', 'write', {}, { id: 'c2', correlationId: 'p1' })
    expect(spansAfter([proposed, presence('leave', 'bot')], 61).map(({ error }) => error)).toEqual([
      'abandoned',
    ])
    expect(spansAfter([proposed, approved, presence('leave', 'bot')], 61)).toEqual([])
    expect(spansAfter([proposed, approved, presence('leave', 'ana')], 63).map(({ error }) => error)).toEqual([
      'abandoned',
    ])
  })
})

test('calls that are never answered do not pile up', () => {
  const asked = Array.from({ length: 20_000 }, (_, n) => call('bot', 'read', {}, { id: `c${n}` }))
  const spans = foldSpans([...asked, result('c0', ''), result('c19999', '')])
  expect(callIds(spans)).toEqual(['c19999'])
})
