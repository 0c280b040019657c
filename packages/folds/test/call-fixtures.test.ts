import { Calls, createProposalFold } from '@meup/folds'
import { expect } from 'vitest'
import { callFact, callFields, testFoldFixtures } from '../../../test/support/fold-fixtures.js'

testFoldFixtures('the fold of calls', {
  knows: { calls: callFields },
  read: ({ envelopes }) => {
    const calls = new Calls<true>({ reduce: () => true })
    for (const envelope of envelopes) calls.apply(envelope)
    const restored = new Calls<true>({ reduce: () => true })
    restored.restore(calls.all())
    expect([...restored.open()]).toEqual([...calls.open()])
    return { calls: Object.fromEntries([...calls.all()].map((call) => [call.id, callFact(call)])) }
  },
})

testFoldFixtures('the fold of proposals', {
  knows: { calls: ['from', 'state', 'rejectedBy', 'usesLeft', 'programEnded'] },
  forgets: (id) => !id.startsWith('p'),
  read: ({ envelopes }) => {
    const proposals = createProposalFold()
    for (const envelope of envelopes) proposals.apply(envelope)
    const views = ['p1', 'p2'].flatMap((id) => proposals.get(id) ?? [])
    const facts = views.map(({ source, rejections, ...view }) => ({
      ...{ ...view, from: source.from },
      rejectedBy: [...new Set(rejections.map(({ by }) => by))],
    }))
    return { calls: Object.fromEntries(facts.map((fact) => [fact.id, fact])) }
  },
})
