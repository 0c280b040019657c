import { LiveAnswers } from '@meup/folds'
import { testFoldFixtures } from '../../../test/support/fold-fixtures.js'

testFoldFixtures('the fold of answers', {
  knows: { answers: ['from', 'text'] },
  read: ({ envelopes }) => {
    const answers = new LiveAnswers()
    for (const envelope of envelopes) answers.apply(envelope)
    return { answers: Object.fromEntries(answers.list().map((answer) => [answer.trigger, answer])) }
  },
})
