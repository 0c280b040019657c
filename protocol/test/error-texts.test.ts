import { addAdvice, compileCapabilities, PatternError } from '@meup/protocol'
import { expect, test } from 'vitest'
import { describeErrorTexts } from '../../test/support/error-texts.js'
import { patternTexts } from '../src/capability/errors.js'

describeErrorTexts({ name: 'patternTexts', folder: 'protocol/src', texts: patternTexts, begins: /^[a-z]/ })

test('an error of a pattern has the values in its message, after the path', () => {
  const details = { length: 513, limit: 512 }
  const problem = 'has 513 characters. Use at most 512.'
  expect(new PatternError('long_text', details, '/0/to')).toMatchObject({
    ...{ name: 'PatternError', code: 'long_text', details, path: '/0/to', problem },
    message: `/0/to ${problem}`,
  })
  expect(() => compileCapabilities('chat' as never)).toThrow(`it ${patternTexts.not_a_list}`)
})

test.for([
  ['it ended', 'look at its log', 'it ended. Look at its log.'],
  ['It ended.', 'Look at its log.', 'It ended. Look at its log.'],
  ['is it there?', 'meup up starts it', 'is it there? meup up starts it.'],
] as const)('%s + %s', ([message, advice, text]) => {
  expect(addAdvice(message, advice)).toBe(text)
})
