import { createTraceFold } from '@meup/telemetry'
import { testFoldFixtures } from '../../../test/support/fold-fixtures.js'

testFoldFixtures('telemetry', {
  knows: { contexts: ['owner', 'state'] },
  // Expects no facts about open contexts: a context gets its span when it ends.
  forgets: (_, fact) => 'state' in fact && fact.state === 'open',
  // Skips fixtures that begin with a welcome: this fold reads a log, which contains none.
  skips: ({ welcome }) => welcome !== undefined,
  read: ({ envelopes }) => {
    const fold = createTraceFold({ space: 'test', epoch: 'epoch' })
    const spans = envelopes.flatMap((envelope) => fold.apply(envelope))
    const known = spans.map(({ attributes, error }) => [
      attributes['meup.context'],
      { owner: attributes['gen_ai.agent.id'], state: error === undefined ? 'concluded' : 'cancelled' },
    ])
    return { contexts: Object.fromEntries(known) }
  },
})
