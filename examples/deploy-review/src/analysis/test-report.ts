import { Json } from './json.js'
import { Unreadable } from './unreadable.js'

export interface FailedTest {
  readonly name: string
  /** The failed expectation, and the location of the test. */
  readonly message: string
}

export interface TestReport {
  /** Number of tests that ran, without skipped ones. */
  readonly total: number
  readonly failed: readonly FailedTest[]
}

/** Parses the JSON report of vitest or jest. Throws `Unreadable` if the text is not one, or no test ran. */
export function parseTestReport(text: string): TestReport {
  const results = Json.parse('the test report', text).at('testResults').items.flatMap(readFile)
  const ran = results.filter(({ status }) => status === 'passed' || status === 'failed')
  if (ran.length === 0) throw new Unreadable('the test report has no test that ran')
  return { total: ran.length, failed: ran.filter(({ status }) => status === 'failed') }
}

/** Reads the results of one test file. A file that could not be loaded has no tests, and counts as one failed test. */
function readFile(file: Json): (FailedTest & { status: string })[] {
  const tests = file.at('assertionResults').items
  if (tests.length === 0) {
    return [{ name: file.at('name').text, status: file.at('status').text, message: file.at('message').text }]
  }
  return tests.map((test) => ({
    name: test.at('fullName').text,
    status: test.at('status').text,
    message: test
      .at('failureMessages')
      .items.map(({ text }) => text.replace(/\s*\n\s*/g, ' '))
      .join('; '),
  }))
}
