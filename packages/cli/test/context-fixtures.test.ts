import type { AnyEnvelope } from '@meup/protocol'
import { testFoldFixtures } from '../../../test/support/fold-fixtures.js'
import { ActivityFold } from '../src/view/activity-fold.js'

testFoldFixtures('the terminal', {
  knows: { contexts: ['owner', 'state', 'hiddenBy'] },
  read: ({ welcome, envelopes }) => {
    const activity = new ActivityFold(() => 0)
    if (welcome !== undefined) activity.reset(welcome)
    for (const envelope of envelopes) activity.onEnvelope(envelope as AnyEnvelope)
    const thinkers = new Map(activity.thinkers().map((thinker) => [thinker.agent, thinker]))
    const known = activity.contexts
      .all()
      .filter(({ state }) => state !== 'free')
      // Leaves out an open context whose owner the footer does not list as thinking, so that the comparison with the fixture
      // fails.
      .filter(({ state, owner }) => state !== 'open' || thinkers.has(owner ?? ''))
    return { contexts: Object.fromEntries(known.map((view) => [view.context, view])) }
  },
})
