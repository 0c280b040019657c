import { participantFact, participantFields, testFoldFixtures } from '../../../test/support/fold-fixtures.js'
import { participantsIn } from '../src/core/delivery/introduction.js'
import { SpaceState } from '../src/core/state/state.js'

testFoldFixtures('the gateway', {
  knows: { participants: [...participantFields, 'sessions', 'replaced'] },
  // Skips fixtures that begin with a welcome or in the middle of a log: the state is computed from the whole log.
  skips: ({ welcome, envelopes }) => welcome !== undefined || envelopes[0]?.seq !== 1,
  read: ({ envelopes, now }) => {
    const written = new SpaceState()
    for (const envelope of envelopes)
      written.apply(envelope, new TextEncoder().encode(JSON.stringify(envelope)))
    const state = SpaceState.from(written.toSnapshot())
    const known = participantsIn(state, now).map((participant) => {
      const { id } = participant
      const sessions = [...state.programs.living(id)].map(({ session }) => session)
      const replaced = ['s1', 's2'].filter((session) => state.programs.isReplaced(id, session))
      return [id, { ...participantFact(participant), sessions, replaced }] as const
    })
    return { participants: Object.fromEntries(known) }
  },
})
