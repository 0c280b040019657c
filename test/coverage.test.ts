import { expect, test } from 'vitest'
import { unshown } from './requirements/check.js'
import { requirements } from './requirements.js'
import type { RequirementOutcome } from './support/reporter.js'

const all = Object.keys(requirements)
const passed = (ids: readonly string[]): RequirementOutcome => ({
  ids,
  test: 'a.test.ts works',
  state: 'passed',
})

test('every requirement of the documents is listed', () => {
  const upTo = (letter: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${letter}${String(index + 1).padStart(2, '0')}`)
  expect(all).toEqual([
    ...upTo('M', 33),
    ...upTo('I', 41),
    ...upTo('O', 23),
    ...upTo('A', 23),
    ...upTo('T', 20),
  ])
})

test('a requirement is shown by a test that passed', () => {
  expect(unshown([passed(all)], {})).toEqual([])
})

test('a requirement without a test is named', () => {
  const problems = unshown([passed(all.filter((id) => id !== 'M17'))], {})
  expect(problems).toEqual([expect.stringMatching(/^M17 was not tested: /)])
})

test.for(['skipped', 'failed'] as const)('a requirement with a %s test is named, with the test', (state) => {
  const other: RequirementOutcome = { ids: ['A03'], test: 'b.test.ts breaks', state }
  expect(unshown([passed(all), other], {})).toEqual([`A03 ${state}: b.test.ts breaks`])
})

test('a known failure needs no test, and has none', () => {
  const others = passed(all.filter((id) => id !== 'O10'))
  expect(unshown([others], { O10: 'not yet' })).toEqual([])
  expect(unshown([passed(all)], { O10: 'not yet' })).toEqual([
    'O10 has a test now: take it out of the known failures',
  ])
})
