import { testFoldFixtures } from '../../../test/support/fold-fixtures.js'
import { Runs } from '../src/client/space-state.js'

testFoldFixtures('the SDK', {
  knows: { contexts: ['owner', 'hiddenBy'] },
  // Contexts that `runs` does not list: those that are closed, or nested in a run.
  forgets: (id, fact) => id.includes('/') || !('state' in fact && fact.state === 'open'),
  read: ({ welcome, envelopes }) => {
    const runs = new Runs(() => {})
    if (welcome !== undefined) runs.fold.onWelcome(welcome)
    for (const envelope of envelopes) runs.fold.apply(envelope)
    return { contexts: Object.fromEntries(runs.list().map((run) => [run.context, { hiddenBy: [], ...run }])) }
  },
})
