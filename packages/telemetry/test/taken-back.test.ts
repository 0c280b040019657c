import { describe, expect, test } from 'vitest'
import { call, type Fields, propose, result } from '../../folds/test/support/log.js'
import { foldSpans } from './support/spans.js'

const at = (seq: number): number => Date.parse('2026-02-21T10:00:00Z') + (seq - 1) * 1000

describe('a call that is taken back', () => {
  const cancelled = (from: string, requestId: unknown, more: Partial<Fields> = {}): Fields => ({
    ...call(from, '', {}),
    ...more,
    payload: { method: 'notifications/cancelled', params: { requestId } },
  })
  const asked = call('bot', 'read', {}, { id: 'c1', payload: { id: 7 } })

  test.for<[string, Fields]>([
    ['by the id of the envelope', cancelled('bot', 'c1')],
    ['by that of JSON-RPC', cancelled('bot', 7)],
    ['by what it answers', cancelled('bot', 'other', { correlationId: 'c1' })],
  ])('%s has ended', ([, ending]) => {
    const spans = foldSpans([asked, ending, result('c1', 'late')])
    expect(spans.map(({ end, error }) => [end, error])).toEqual([[at(2), 'cancelled']])
  })

  test('by the id of JSON-RPC has ended, too, where it was proposed by another', () => {
    const proposal = propose('bot', 'write', {}, { id: 'p1', payload: { id: 7 } })
    const approval = call('ana', 'write', {}, { id: 'c9', correlationId: 'p1', payload: { id: 8 } })
    const ended = (requestId: number) =>
      foldSpans([proposal, approval, cancelled('ana', requestId), result('c9', '')]).map(({ error }) => error)
    expect([ended(8), ended(7)]).toEqual([['cancelled'], [undefined]])
  })

  test('by somebody else goes on', () => {
    const spans = foldSpans([asked, cancelled('ana', 'c1'), cancelled('ana', 7), result('c1', '')])
    expect(spans.map(({ end, error }) => [end, error])).toEqual([[at(4), undefined]])
  })
})
