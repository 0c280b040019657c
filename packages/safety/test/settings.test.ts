import { builtInRules, compileSafety, defaultSafety, SafetyError, type SafetySettings } from '@meup/safety'
import { expect, test } from 'vitest'
import { gate } from './support.js'

const rule = { name: 'own', pattern: 'a+', action: 'mask' } as const
const policy = { name: 'own', pattern: 'a+', action: 'block' } as const

function refusal(settings: Partial<SafetySettings>): { path: string; message: string } | undefined {
  try {
    gate({ rules: [], ...settings })
  } catch (error) {
    if (error instanceof SafetyError) return { path: error.path, message: error.message }
    throw error
  }
  return undefined
}

test('the default settings can be used, and so can one rule of each kind', () => {
  expect(compileSafety(defaultSafety).guard('all is well').text).toBe('all is well')
  expect(refusal({ rules: [rule], policy: [{ ...policy, name: 'own-2' }] })).toBeUndefined()
})

test.for<[Partial<SafetySettings>, string, RegExp]>([
  [
    { rules: [rule, { ...rule, name: 'b', pattern: '(' }] },
    '/rules/1/pattern',
    /not a regular expression.*missing/,
  ],
  [{ rules: [{ ...rule, pattern: '(?=a)' }] }, '/rules/0/pattern', /not a regular expression in RE2 syntax/],
  [{ rules: [{ ...rule, pattern: 'a*' }] }, '/rules/0/pattern', /matches the empty text/],
  [
    { rules: [{ ...rule, pattern: '(?:abcdef){1000}' }] },
    '/rules/0/pattern',
    /takes 6\d+ steps of at most 2000/,
  ],
  [{ rules: [{ ...rule, name: '' }] }, '/rules/0/name', /lower-case letters/],
  [{ rules: [{ ...rule, name: 'My rule' }] }, '/rules/0/name', /lower-case letters/],
  [{ rules: [{ ...rule, name: 'a'.repeat(65) }] }, '/rules/0/name', /1 to 64/],
  [{ rules: [rule, rule] }, '/rules/1/name', /taken by another rule: own/],
  [{ rules: [rule], policy: [policy] }, '/policy/0/name', /taken/],
  [{ rules: [{ ...rule, name: 'known-secret' }] }, '/rules/0/name', /taken/],
  [{ rules: [{ ...rule, name: builtInRules[0]?.name ?? '' }] }, '/rules/0/name', /taken/],
  [{ rules: [{ ...rule, keywords: [] }] }, '/rules/0/keywords', /is empty/],
  [{ rules: [{ ...rule, keywords: ['ok', 'Key'] }] }, '/rules/0/keywords/1', /in lower case/],
  [{ rules: [{ ...rule, keywords: [''] }] }, '/rules/0/keywords/0', /is empty/],
  [{ policy: [{ ...policy, pattern: '[' }] }, '/policy/0/pattern', /not a regular expression/],
  [{ maxLength: 0 }, '/maxLength', /above 0/],
  [{ maxLength: 1.5 }, '/maxLength', /whole number/],
])('%j is refused with its place', ([settings, path, message]) => {
  expect(refusal(settings)).toEqual({ path, message: expect.stringMatching(message) })
})
