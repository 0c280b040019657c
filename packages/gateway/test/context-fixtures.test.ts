import { testFoldFixtures } from '../../../test/support/fold-fixtures.js'
import { SpaceState } from '../src/core/state/state.js'

const everybody = { participant: 'ana', readsTargeted: true, readsRefusals: true }

testFoldFixtures('the gateway', {
  knows: { contexts: ['owner', 'state', 'hiddenBy', 'session'] },
  // Skips fixtures that begin with a welcome: the gateway does not receive welcomes.
  skips: ({ welcome }) => welcome !== undefined,
  read: ({ envelopes }) => {
    let state = new SpaceState()
    for (const envelope of envelopes) {
      state = SpaceState.from(state.toSnapshot())
      state.apply(envelope, new TextEncoder().encode(JSON.stringify(envelope)))
    }
    const known = state.contexts.report(everybody).map((info) => {
      const { session } = state.contexts.get(info.context) ?? {}
      return [info.context, { hiddenBy: [], ...info, session }] as const
    })
    return { contexts: Object.fromEntries(known) }
  },
})
