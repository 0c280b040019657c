import { addAdvice } from '@meup/protocol'
import { expect, test } from 'vitest'

test.for([
  ['it ended', 'look at its log', 'it ended. Look at its log.'],
  ['It ended.', 'Look at its log.', 'It ended. Look at its log.'],
  ['is it there?', 'meup up starts it', 'is it there? meup up starts it.'],
] as const)('%s + %s', ([message, advice, text]) => {
  expect(addAdvice(message, advice)).toBe(text)
})
