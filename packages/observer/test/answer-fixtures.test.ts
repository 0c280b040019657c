import { SpaceModel } from '@meup/observer/model'
import { testFoldFixtures } from '../../../test/support/fold-fixtures.js'

testFoldFixtures('the page', {
  knows: { answers: ['from', 'text'] },
  read: ({ envelopes }) => {
    const model = new SpaceModel()
    model.append(envelopes, 0)
    return { answers: Object.fromEntries(model.answers.map((answer) => [answer.trigger, answer])) }
  },
})
