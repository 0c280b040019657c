import { SpaceModel } from '@meup/observer/model'
import { participantFact, participantFields, testFoldFixtures } from '../../../test/support/fold-fixtures.js'

testFoldFixtures('the page', {
  knows: { participants: participantFields },
  read: ({ welcome, envelopes, now }) => {
    const model = new SpaceModel()
    if (welcome !== undefined) model.onWelcome(welcome, now)
    model.append(envelopes, now)
    model.moment = now
    const known = model.members.infos(now).map((each) => {
      const isPresent = model.people.find(({ id }) => id === each.id)?.isPresent === true
      const status = isPresent ? ('present' as const) : ('away' as const)
      return [each.id, participantFact({ ...each, status, ...model.stateOf(each.id, now) })] as const
    })
    return { participants: Object.fromEntries(known) }
  },
})
