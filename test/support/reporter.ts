import type { Reporter, TestModule } from 'vitest/node'

/** Counts of the run. What fails outside any test (a file that does not load, a hook) counts as one failure each. */
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

/** Ends the run's output with one plain line that a program can read: `N passed, N failed, N skipped`. */
export const totalsReporter: Reporter = {
  onTestRunEnd(modules, unhandledErrors) {
    const { passed, failed, skipped } = countResults(modules)
    process.stdout.write(`${passed} passed, ${failed + unhandledErrors.length} failed, ${skipped} skipped\n`)
  },
}
