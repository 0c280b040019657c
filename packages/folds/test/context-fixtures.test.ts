import { ContextStates, createContextFold, toVisibility } from '@meup/folds'
import { testFoldFixtures } from '../../../test/support/fold-fixtures.js'

testFoldFixtures('the fold of contexts', {
  knows: { contexts: ['owner', 'state', 'hiddenBy', 'session'] },
  // Skips fixtures that begin with the welcome of a log in progress: earlier envelopes are missing.
  skips: ({ welcome }) => (welcome?.space.head ?? 0) > 0,
  read: ({ welcome, envelopes }) => {
    let contexts = new ContextStates()
    if (welcome !== undefined) contexts.onWelcome(welcome)
    for (const envelope of envelopes) {
      const later = new ContextStates()
      later.restore(JSON.parse(JSON.stringify(contexts.snapshot())))
      contexts = later
      contexts.apply(envelope)
    }
    const known = [...contexts.values()].map((opened) => {
      const { hiddenBy = [] } = toVisibility(contexts.getRun(opened.context)?.hiddenBy)
      return [opened.context, { ...opened, hiddenBy }] as const
    })
    return { contexts: Object.fromEntries(known) }
  },
})

testFoldFixtures('the view of contexts', {
  knows: { contexts: ['owner', 'state', 'hiddenBy'] },
  read: ({ welcome, envelopes }) => {
    let contexts = createContextFold()
    if (welcome !== undefined) contexts.onWelcome(welcome)
    for (const envelope of envelopes) {
      const later = createContextFold()
      later.restore(JSON.parse(JSON.stringify(contexts.snapshot())))
      contexts = later
      contexts.apply(envelope)
    }
    const opened = contexts.all().filter(({ state }) => state !== 'free')
    return { contexts: Object.fromEntries(opened.map((each) => [each.context, each])) }
  },
})
