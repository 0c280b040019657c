import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { readText, testFiles } from '../support/packages.js'
import { verifies } from '../verifies.js'

/** Names of tests that the requirements (`test/requirements/summary.ts`) demand. */
const named = [
  'test_turn_narrative_set_and_get',
  'test_record_tool_call_with_rationale',
  'test_toolcall_reasoning_threaded_from_selection',
  'test_reasoning_safety_block_narrative',
  'test_reasoning_safety_block_rationale_fallback',
  'test_reasoning_safety_redact_rationale',
  'test_parallel_group_assigned',
  'test_single_tool_no_parallel_group',
  'test_turn_info_reasoning_serialization',
  'test_repl_reasoning_command_routing',
]

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[]
  }[]
}

verifies(
  'I40',
  'the report lists the ten tests that the document names, each once, and each has passed',
  async () => {
    const files = testFiles.filter(
      (path) => !path.includes('/scenarios/') && named.some((name) => readText(path).includes(`'${name}'`)),
    )
    const report = join(temporaryFolder(), 'report.json')
    const vitest = join(repositoryRoot, 'node_modules/vitest/vitest.mjs')
    const only = ['-t', `(${named.join('|')})$`, '--reporter=json', `--outputFile=${report}`]
    await promisify(execFile)(
      process.execPath,
      [vitest, 'run', '--project', 'fast', '--project', 'integration', ...files, ...only],
      {
        cwd: repositoryRoot,
      },
    )
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report
    const run = testResults.flatMap(({ assertionResults }) => assertionResults)
    const results = run.filter(({ status }) => status !== 'skipped' && status !== 'pending')
    expect(
      results.map(({ title, status }) => `${title.replace(/^(\[\w+\])+ /, '')} ${status}`).sort(),
    ).toEqual(named.map((name) => `${name} passed`).sort())
  },
  { timeout: 120_000 },
)
