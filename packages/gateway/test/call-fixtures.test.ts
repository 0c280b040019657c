import { callFact, callFields, testFoldFixtures } from '../../../test/support/fold-fixtures.js'
import { SpaceState } from '../src/core/state/state.js'

const encoder = new TextEncoder()

testFoldFixtures('the gateway', {
  knows: { calls: callFields },
  // The state only keeps requests and open proposals. Expiry is an event that the gateway itself logs.
  forgets: (_, fact) => !['open', 'answered', 'cancelled'].includes((fact as { state: string }).state),
  // Skips fixtures that begin with a welcome, because the state reads a log; that of expiry by the log's time, because the
  // gateway logs each expiry; and that of elicitations about chats, which the gateway does not track.
  skips: ({ name, welcome }) =>
    welcome !== undefined ||
    name === 'a proposal expires by the time of the log' ||
    name === 'an elicitation about a chat ends with the answer to that chat',
  read: ({ envelopes }) => {
    const state = new SpaceState()
    for (const envelope of envelopes) state.apply(envelope, encoder.encode(JSON.stringify(envelope)))
    const ids = envelopes.map(({ id }) => id)
    const kept = ids.flatMap((id) => state.calls.request(id) ?? state.calls.proposal(id, 0) ?? [])
    return { calls: Object.fromEntries(kept.map((call) => [call.id, callFact(call)])) }
  },
})
