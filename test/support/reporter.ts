import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Reporter, TestCase, TestModule } from 'vitest/node'
import { repositoryRoot } from './files.js'

/** Counts the results of a run. Failures outside of tests (a file that does not load, a hook) count as one each. */
const countResults = (modules: readonly TestModule[]) => {
  const tests = modules.flatMap((module) => [...module.children.allTests()])
  const suites = modules.flatMap((module) => [module, ...module.children.allSuites()])
  const count = (state: string) => tests.filter((each) => each.result().state === state).length
  return {
    passed: count('passed'),
    failed: count('failed') + suites.reduce((sum, suite) => sum + suite.errors().length, 0),
    skipped: count('skipped'),
  }
}

/** Prints a last line that a program can read: `N passed, N failed, N skipped`. */
export const totalsReporter: Reporter = {
  onTestRunEnd(modules, unhandledErrors) {
    const { passed, failed, skipped } = countResults(modules)
    process.stdout.write(`${passed} passed, ${failed + unhandledErrors.length} failed, ${skipped} skipped\n`)
  },
}

/** Folder for the outcomes of tests that name requirements, for `pnpm requirements`. */
export const outcomesFolder = join(repositoryRoot, 'node_modules/.cache/meup/requirements')

export interface RequirementOutcome {
  readonly ids: readonly string[]
  readonly test: string
  readonly state: ReturnType<TestCase['result']>['state']
}

export const requirementsReporter: Reporter = {
  onTestRunEnd(modules) {
    const outcomes = new Map<string, RequirementOutcome[]>()
    for (const module of modules) {
      const suite = outcomes.get(module.project.name) ?? []
      outcomes.set(module.project.name, suite)
      for (const test of module.children.allTests()) {
        const ids = [...test.name.matchAll(/\[([MIOAT]\d\d)\]/g)].map(([, id = '']) => id)
        if (ids.length === 0) continue
        suite.push({ ids, test: `${module.relativeModuleId} ${test.fullName}`, state: test.result().state })
      }
    }
    mkdirSync(outcomesFolder, { recursive: true })
    for (const [suite, found] of outcomes) {
      writeFileSync(join(outcomesFolder, `${suite}.json`), JSON.stringify(found, undefined, 1))
    }
  },
}
