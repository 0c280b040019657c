import { expect, test } from 'vitest'
import { knownFailures } from './known-failures.js'
import { isRequirementId, requirements } from './requirements.js'
import { readText, testFiles } from './support/packages.js'
import { scan, stringsAt } from './support/source.js'

const calls = testFiles
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => ({ path, source: scan(readText(path)) }))
const tested = calls.flatMap(({ path, source }) =>
  stringsAt(source, /\bverifies\(\s*("\d+"|\[[\s\d",]*\])\s*,/g).map((id) => ({ id, path })),
)
const testedIds = new Set(tested.map(({ id }) => id))
const all = Object.keys(requirements).filter(isRequirementId)

test('every requirement of the documents is listed', () => {
  const upTo = (letter: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${letter}${String(index + 1).padStart(2, '0')}`)
  const expected = [...upTo('M', 33), ...upTo('I', 41), ...upTo('O', 23), ...upTo('A', 23), ...upTo('T', 20)]
  expect(Object.keys(requirements)).toEqual(expected)
})

test('every requirement has a test or a reason why not', () => {
  const without = all.filter((id) => !testedIds.has(id))
  const unexplained = without.filter((id) => knownFailures[id] === undefined)
  const reasons = [...new Set(without.flatMap((id) => knownFailures[id] ?? []))]
  const report = [
    `${without.length} of ${all.length} requirements have no test`,
    ...reasons.map(
      (reason) => `  ${reason}: ${without.filter((id) => knownFailures[id] === reason).join(' ')}`,
    ),
    ...unexplained.map((id) => `  no reason given: ${id} ${requirements[id].text}`),
  ]
  console.info(report.join('\n'))
  expect(unexplained).toEqual([])
})

test('no known failure has a test', () => {
  expect(Object.keys(knownFailures).filter((id) => testedIds.has(id))).toEqual([])
})

test('no test names an unknown requirement', () => {
  expect(tested.filter(({ id }) => !isRequirementId(id))).toEqual([])
})

test('every test writes its requirements out', () => {
  const unreadable = calls.filter(({ source }) =>
    /\bverifies\((?!\s*(?:"\d+"\s*,|\[[\s\d",]*\]\s*,))/.test(source.code),
  )
  expect(unreadable.map(({ path }) => path)).toEqual([])
})
