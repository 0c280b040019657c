import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { repositoryRoot } from './support/files.js'
import { packages, readText, testFiles } from './support/packages.js'
import { scan, stringsAt } from './support/source.js'
import { verifies } from './verifies.js'

/** As the document names them. */
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

verifies('I40', 'the ten tests that the document names are there, each once', () => {
  const titles = testFiles
    .filter((path) => path.endsWith('.test.ts'))
    .flatMap((path) =>
      stringsAt(scan(readText(path)), /\b(?:verifies\(\s*(?:"\d+"|\[[\s\d",]*\])|test\()\s*,?\s*("\d+")/g),
    )
  expect(titles.filter((title) => named.includes(title)).sort()).toEqual([...named].sort())
})

const settings = (file: string): unknown => JSON.parse(readFileSync(join(repositoryRoot, file), 'utf8'))

verifies('I41', 'types and lint are strict, and the list of features names the reasoning summary', () => {
  expect(settings('tsconfig.base.json')).toMatchObject({
    compilerOptions: { strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true },
  })
  const files = packages.map(({ directory }) => `${directory}/tsconfig.json`)
  for (const file of files.filter((each) => existsSync(join(repositoryRoot, each)))) {
    const { compilerOptions = {} } = settings(file) as { compilerOptions?: object }
    const relaxing = Object.keys(compilerOptions).filter((name) => /strict|unchecked|exact/i.test(name))
    expect([file, relaxing]).toEqual([file, []])
  }
  expect(settings('biome.json')).toMatchObject({
    linter: { rules: { preset: 'recommended', style: { noNonNullAssertion: 'error' } } },
  })
  const { scripts } = settings('package.json') as { scripts: Record<string, string> }
  expect(scripts.check).toBe('pnpm lint && pnpm test')
  expect(scripts.lint).toMatch(/tsc .*biome check \. .*knip/)
  expect(readText('docs/features.md')).toMatch(/^\| Agent Reasoning Summary +\| ✅ +\|/m)
})
