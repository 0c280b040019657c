import type { AnyEnvelope } from '@meup/protocol'
import { testFoldFixtures } from '../../../test/support/fold-fixtures.js'
import { PendingProposals } from '../src/join/pending-proposals.js'

testFoldFixtures('the terminal', {
  // Skips fixtures with a welcome: the terminal reads proposals from the log instead.
  skips: ({ welcome }) => welcome !== undefined,
  knows: { calls: ['from', 'rejectedBy', 'usesLeft', 'programEnded'] },
  // The terminal only lists proposals that this participant may still decide, so only these are compared with the fixture.
  forgets: (id, fact) => {
    const { state, rejectedBy = [] } = fact as { state: string; rejectedBy?: readonly string[] }
    return !id.startsWith('p') || state !== 'open' || rejectedBy.includes('ana')
  },
  read: async ({ envelopes, now }) => {
    const pending = new PendingProposals({ id: 'ana', proposals: {} } as never)
    await pending.read({ async *readLog() {} } as never)
    for (const envelope of envelopes) pending.onEnvelope(envelope as AnyEnvelope)
    const facts = pending.list(now).map(({ source, rejections, ...view }) => ({
      ...{ ...view, from: source.from },
      rejectedBy: [...new Set(rejections.map(({ by }) => by))],
    }))
    return { calls: Object.fromEntries(facts.map((fact) => [fact.id, fact])) }
  },
})
