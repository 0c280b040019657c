import { SafetyError } from '@meup/safety'
import { expect, test } from 'vitest'
import { describeErrorTexts } from '../../../test/support/error-texts.js'
import { safetyTexts } from '../src/errors.js'

const values = { maxLength: 1.5, name: 'own', lower: 'key', reason: 'missing )', size: 2001, limit: 2000 }

describeErrorTexts({
  name: 'safetyTexts',
  folder: 'packages/safety/src',
  texts: Object.fromEntries(Object.entries(safetyTexts).map(([code, write]) => [code, write(values)])),
  begins: /^[a-z]/,
})

test('a safety error has its code, values and path', () => {
  const details = { size: 2001, limit: 2000 }
  expect(new SafetyError('large_pattern', details, '/rules/0/pattern')).toMatchObject({
    ...{ name: 'SafetyError', code: 'large_pattern', details, path: '/rules/0/pattern' },
    message: 'takes 2001 steps of at most 2000. Let it repeat less.',
  })
})
