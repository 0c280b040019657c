import { Calls, defaultGuard, Participants, ProposalViews, SpaceView } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import { expect, test } from 'vitest'
import { callFact, callFields, testFoldFixtures } from '../../../test/support/fold-fixtures.js'

testFoldFixtures('the fold of calls', {
  knows: { calls: callFields },
  read: ({ welcome, envelopes }) => {
    const calls = new Calls<true>({ reduce: () => true })
    const space = new SpaceView({ participants: new Participants(), calls })
    if (welcome !== undefined) space.onWelcome(welcome)
    for (const envelope of envelopes) space.apply(envelope)
    const restored = new Calls<true>({ reduce: () => true })
    restored.restore(calls.all())
    expect([...restored.open()]).toEqual([...calls.open()])
    return { calls: Object.fromEntries([...calls.all()].map((call) => [call.id, callFact(call)])) }
  },
})

testFoldFixtures('the fold of proposals', {
  knows: { calls: ['from', 'state', 'rejectedBy', 'usesLeft', 'programEnded'] },
  forgets: (id) => !id.startsWith('p'),
  read: ({ welcome, envelopes }) => {
    const participants = new Participants()
    const space = new SpaceView({ participants, proposals: new ProposalViews(defaultGuard) })
    const { proposals } = space.facts
    if (welcome !== undefined) space.onWelcome(welcome)
    for (const envelope of envelopes) space.apply(envelope)
    const views = ['p1', 'p2'].flatMap((id) => proposals.get(id) ?? [])
    const facts = views.map(({ source, rejections, ...view }) => ({
      ...{ ...view, from: source.from },
      rejectedBy: [...new Set(rejections.map(({ by }) => by))],
    }))
    return { calls: Object.fromEntries(facts.map((fact) => [fact.id, fact])) }
  },
})

test('the latest call with a JSON-RPC id is the one that is cancelled, also after a snapshot', () => {
  const calls = new Calls<true>({ reduce: () => true })
  const request = { ts: '2026-01-01T00:00:00.000Z', from: 'ana', kind: 'mcp.request' } as const
  const apply = (id: string, seq: number, fields: Partial<Envelope>): void =>
    void calls.apply({ protocol: 'meup/v0.3', ...request, id, seq, payload: { id: 1 }, ...fields })
  apply('open', 1, {})
  apply('answered', 2, {})
  apply('answer', 3, { kind: 'mcp.response', from: 'tool', correlationId: 'answered' })
  const restored = new Calls<true>({ reduce: () => true })
  restored.restore(calls.snapshot())
  const payload = { method: 'notifications/cancelled', params: { requestId: 1 } }
  const cancellation: Envelope = { protocol: 'meup/v0.3', ...request, id: 'cancel', seq: 4, payload }
  for (const each of [calls, restored]) expect(each.findCancelled(cancellation)?.id).toBe('answered')
})
