import { builtInRules, compileSafety, defaultSafety, SafetyError, type SafetySettings } from '@meup/safety'
import { expect, test } from 'vitest'
import { gate } from './support.js'

const rule = { name: 'own', pattern: 'a+', action: 'mask' } as const
const policy = { name: 'own', pattern: 'a+', action: 'block' } as const

function refusal(settings: Partial<SafetySettings>): SafetyError | undefined {
  try {
    gate({ rules: [], ...settings })
  } catch (error) {
    if (error instanceof SafetyError) return error
    throw error
  }
  return undefined
}

test('the default settings can be used, and so can one rule of each kind', () => {
  expect(compileSafety(defaultSafety).guard('all is well').text).toBe('all is well')
  expect(refusal({ rules: [rule], policy: [{ ...policy, name: 'own-2' }] })).toBeUndefined()
})

test.for<[Partial<SafetySettings>, path: string, SafetyError['code'], details?: object]>([
  [
    { rules: [rule, { ...rule, name: 'b', pattern: '(' }] },
    '/rules/1/pattern',
    'invalid_pattern',
    { reason: expect.stringContaining('missing') },
  ],
  [{ rules: [{ ...rule, pattern: '(?=a)' }] }, '/rules/0/pattern', 'invalid_pattern'],
  [{ rules: [{ ...rule, pattern: 'a*' }] }, '/rules/0/pattern', 'empty_match'],
  [
    { rules: [{ ...rule, pattern: '(?:abcdef){1000}' }] },
    '/rules/0/pattern',
    'large_pattern',
    { size: expect.any(Number), limit: 2000 },
  ],
  [{ rules: [{ ...rule, name: '' }] }, '/rules/0/name', 'invalid_name'],
  [{ rules: [{ ...rule, name: 'My rule' }] }, '/rules/0/name', 'invalid_name'],
  [{ rules: [{ ...rule, name: 'a'.repeat(65) }] }, '/rules/0/name', 'invalid_name'],
  [{ rules: [rule, rule] }, '/rules/1/name', 'taken_name', { name: 'own' }],
  [{ rules: [rule], policy: [policy] }, '/policy/0/name', 'taken_name'],
  [{ rules: [{ ...rule, name: 'known-secret' }] }, '/rules/0/name', 'taken_name'],
  [{ rules: [{ ...rule, name: builtInRules[0]?.name ?? '' }] }, '/rules/0/name', 'taken_name'],
  [{ rules: [{ ...rule, keywords: [] }] }, '/rules/0/keywords', 'no_keywords'],
  [
    { rules: [{ ...rule, keywords: ['ok', 'Key'] }] },
    '/rules/0/keywords/1',
    'capital_keyword',
    { lower: 'key' },
  ],
  [{ rules: [{ ...rule, keywords: [''] }] }, '/rules/0/keywords/0', 'empty_keyword'],
  [{ policy: [{ ...policy, pattern: '[' }] }, '/policy/0/pattern', 'invalid_pattern'],
  [{ maxLength: 0 }, '/maxLength', 'invalid_length', { maxLength: 0 }],
  [{ maxLength: 1.5 }, '/maxLength', 'invalid_length', { maxLength: 1.5 }],
])('%j is refused with its place', ([settings, path, code, details = {}]) => {
  expect(refusal(settings)).toMatchObject({ code, path, details })
})
