import { createTraceFold } from '@meup/telemetry'
import { testFoldFixtures } from '../../../test/support/fold-fixtures.js'

testFoldFixtures('telemetry', {
  // Skips fixtures that begin with a welcome: this fold reads a log, which contains none.
  skips: ({ welcome }) => welcome !== undefined,
  knows: { calls: ['state'] },
  // Expects only facts that spans show: those about tool calls that have ended. A fulfilled proposal shares the span of the
  // request that fulfils it.
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
