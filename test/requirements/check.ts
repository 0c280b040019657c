/**
 * Fails unless each requirement has a test that ran and succeeded. Reads the results of `pnpm test`, `pnpm test:integration`
 * and `pnpm test:system`. If a test of a requirement failed or was skipped, the requirement counts as not shown, even if other
 * tests of it succeeded.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { knownFailures } from '../known-failures.js'
import { isRequirementId, requirements } from '../requirements.js'
import { outcomesFolder, type RequirementOutcome } from '../support/reporter.js'

/** Lists, one per line, the requirements that are not shown, and the known failures that have a test. */
export function unshown(
  outcomes: readonly RequirementOutcome[],
  excused: Readonly<Record<string, string>>,
): string[] {
  return Object.keys(requirements)
    .filter(isRequirementId)
    .flatMap((id) => {
      const tests = outcomes.filter(({ ids }) => ids.includes(id))
      const reason = excused[id]
      if (reason !== undefined) {
        return tests.length === 0 ? [] : [`${id} has a test now: take it out of the known failures`]
      }
      if (tests.length === 0) return [`${id} was not tested: ${requirements[id].text}`]
      return tests
        .filter(({ state }) => state !== 'passed')
        .map(({ state, test }) => `${id} ${state}: ${test}`)
    })
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const suites = ['fast', 'integration', 'system'].map((suite) => join(outcomesFolder, `${suite}.json`))
  const missing = suites.filter((path) => !existsSync(path))
  if (missing.length > 0) {
    console.error(
      'Run "pnpm test", "pnpm test:integration" and "pnpm test:system" first: one of them has left no results.',
    )
    process.exit(1)
  }
  const outcomes = suites.flatMap((path): RequirementOutcome[] => JSON.parse(readFileSync(path, 'utf8')))
  const problems = unshown(outcomes, knownFailures)
  const known = Object.entries(knownFailures).map(([id, reason]) => `${id} not yet: ${reason}`)
  console.log([...known, ...problems].join('\n'))
  const total = Object.keys(requirements).length
  console.log(
    `${total - known.length - new Set(problems.map((line) => line.slice(0, 3))).size} of ${total} requirements shown`,
  )
  if (problems.length > 0) process.exit(1)
}
