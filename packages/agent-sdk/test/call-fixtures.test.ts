import { Participants, SpaceView } from '@meup/folds'
import type { AnyEnvelope } from '@meup/protocol'
import { testFoldFixtures } from '../../../test/support/fold-fixtures.js'
import { Proposals } from '../src/client/proposals.js'

const client = { id: 'ana', gatewayTime: () => Date.parse('2026-01-01T00:00:00.000Z') }

testFoldFixtures('the SDK', {
  knows: { calls: ['from', 'rejectedBy', 'usesLeft', 'programEnded'] },
  // Calls that `proposals` does not list: requests, and proposals that are not open or that this participant has rejected.
  forgets: (id, fact) => {
    const { state, rejectedBy = [] } = fact as { state: string; rejectedBy?: readonly string[] }
    return !id.startsWith('p') || state !== 'open' || rejectedBy.includes('ana')
  },
  read: ({ welcome, envelopes }) => {
    const proposals = new Proposals(client as never, {} as never, {} as never)
    const space = new SpaceView({ participants: new Participants(), proposals: proposals.fold })
    if (welcome !== undefined) space.onWelcome(welcome)
    for (const envelope of envelopes) {
      const changes = space.apply(envelope) ?? {}
      proposals.onEnvelope(envelope as AnyEnvelope, changes)
    }
    const facts = proposals.list().map((proposal) => ({ programEnded: false, ...proposal }))
    proposals.onClose()
    return { calls: Object.fromEntries(facts.map((fact) => [fact.id, fact])) }
  },
})
