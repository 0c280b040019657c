import { testFoldFixtures } from '../../../test/support/fold-fixtures.js'
import { Log } from '../src/model/log/log.js'
import { Folding } from '../src/model/rows/folding.js'
import { SpaceFolds } from '../src/model/space-folds.js'

testFoldFixtures('the page', {
  knows: { contexts: ['owner', 'state', 'hiddenBy'] },
  read: ({ welcome, envelopes }) => {
    const log = new Log()
    const folds = new SpaceFolds(
      log,
      new Folding(),
      () => true,
      () => undefined,
    )
    if (welcome !== undefined) folds.onWelcome(welcome)
    for (const envelope of envelopes) {
      folds.restore(folds.checkpoint(undefined))
      if (log.append(envelope)) folds.apply(envelope)
    }
    const views = [...folds.contexts].flatMap((context) => folds.getContext(context) ?? [])
    const going = new Set(folds.runs().map(({ context }) => context))
    const known = views
      .filter(({ state }) => state !== 'free')
      // Leaves out a context if `runs()` disagrees with its state, so that the comparison with the fixture fails.
      .filter(({ context, state }) => context.includes('/') || going.has(context) === (state === 'open'))
    return { contexts: Object.fromEntries(known.map((view) => [view.context, view])) }
  },
})
