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
    const [restored, last] = [new Calls<true>({ reduce: () => true }), envelopes.at(-1)]
    restored.restore(calls.all())
    for (const open of [calls, restored]) if (last !== undefined) open.apply({ ...last, kind: 'later.kind' })
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

test('a callee that asks without end about one call costs no more each time', () => {
  const calls = new Calls<true>({ reduce: () => true })
  const common = { protocol: 'meup/v0.3', ts: '2026-01-01T00:00:00.000Z' } as const
  const ask = (id: string, fields: Partial<Envelope>): void =>
    void calls.apply({ ...common, id, from: 'tool', kind: 'mcp.request', payload: {}, ...fields })
  ask('c1', { from: 'ana', to: ['tool'], payload: { id: 1, method: 'tools/call' } })
  // If each of them copied those before it, this would take minutes.
  for (let count = 1; count <= 100_000; count++)
    ask(`x${count}`, {
      to: ['ana'],
      correlationId: 'c1',
      payload: { id: count, method: 'elicitation/create' },
    })
  ask('answer', { kind: 'mcp.response', to: ['ana'], correlationId: 'c1' })
  expect(calls.get('x100000')?.state).toBe('cancelled')
})
