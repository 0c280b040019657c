import { participantFact, participantFields, testFoldFixtures } from '../../../test/support/fold-fixtures.js'
import { GatewayTime, ParticipantList } from '../src/client/space-state.js'

testFoldFixtures('the SDK', {
  knows: { participants: participantFields },
  read: ({ welcome, envelopes, now }) => {
    const time = new GatewayTime()
    const participants = new ParticipantList(time)
    if (welcome !== undefined) participants.fold.onWelcome(welcome)
    for (const envelope of envelopes) participants.fold.apply(envelope)
    time.update(new Date(now).toISOString())
    const known = participants.list().map((each) => [each.id, participantFact(each)] as const)
    return { participants: Object.fromEntries(known) }
  },
})
