import { cut } from '@meup/folds'
import type { ModelStep } from './dialogue.js'
import { GivenUp } from './given-up.js'

const isCut = '\n\n(The answer ends here: the model reached its limit of tokens.)'

/** The text of a last step. Throws `GivenUp` where there is none to give. */
export function answerOf({ text, end, tagged }: ModelStep): string {
  const answer = text.trim()
  if (end === 'broken') throw new GivenUp(`the model's answer broke off${answer && `: ${cut(answer, 300)}`}`)
  if (end === 'filtered') throw new GivenUp(`the model's provider withheld the answer`)
  if (answer === '') {
    const why = end === 'length' ? ' before its limit of tokens' : tagged === '' ? '' : ', it only thought'
    throw new GivenUp(`the model gave no answer${why}`)
  }
  return end === 'length' ? `${answer}${isCut}` : answer
}
