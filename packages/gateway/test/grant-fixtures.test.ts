import { testFoldFixtures } from '../../../test/support/fold-fixtures.js'
import { SpaceState } from '../src/core/state/state.js'

testFoldFixtures('the gateway', {
  knows: { grants: ['grantor', 'recipient', 'capabilities'] },
  read: ({ envelopes }) => {
    const written = new SpaceState()
    for (const envelope of envelopes)
      written.apply(envelope, new TextEncoder().encode(JSON.stringify(envelope)))
    const state = SpaceState.from(written.toSnapshot())
    return { grants: Object.fromEntries(state.trust.grants.list().map((grant) => [grant.id, grant])) }
  },
})
