import { expect, test } from 'vitest'
import { checkSubject } from '../scripts/subjects.js'

test.each([
  'gateway: reject frames without a subprotocol',
  'gateway, protocol: charge `tail` like any other log read',
  'Merge branch prose',
])('accepts %s', (subject) => {
  expect(checkSubject(subject)).toBeUndefined()
})

test.each([
  ['a tail is reading of the log too', /scope/],
  ['protocol: a tail is reading of the log too', /"a" is not a verb/],
  ['gateway: charging of reads', /"charging" is not a verb/],
  [`gateway: charge ${'x'.repeat(60)}`, /76 characters/],
])('refuses %s', (subject, problem) => {
  expect(checkSubject(subject)).toMatch(problem)
})
