import { createTraceFold } from '@meup/telemetry'
import { testFoldFixtures } from '../../../test/support/fold-fixtures.js'

testFoldFixtures('telemetry', {
  // It reads the log, without a welcome.
  skips: ({ welcome }) => welcome !== undefined,
  knows: { calls: ['state'] },
  // Calls of tools that are over have a span; that of a proposal is that of the request which fulfils it.
  forgets: (id, fact) => /^x/.test(id) || ['open', 'fulfilled'].includes((fact as { state: string }).state),
  read: ({ envelopes }) => {
    const fold = createTraceFold({ space: 'demo', epoch: 'epoch' })
    const spans = envelopes.flatMap((envelope) => fold.apply(envelope))
    const states = spans
      .filter(({ error }) => error !== 'rejected')
      .map(({ attributes, error = '' }) => [
        attributes['gen_ai.tool.call.id'],
        { state: /^(-\d+)?$/.test(error) ? 'answered' : error },
      ])
    return { calls: Object.fromEntries(states) }
  },
})
