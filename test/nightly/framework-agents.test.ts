import { execFile } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { printedBy } from '../support/page-programs.js'
import { snippetsOf, writeSnippets } from '../support/snippets.js'

test.for(['langgraph-agent', 'openai-agents'])(
  'the space of %s comes to an answer without a key',
  async (name) => {
    const program = join(repositoryRoot, 'examples', name, 'dist/start.js')
    const env = { PATH: process.env.PATH }
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, '--once'], { env })
    expect(stderr).toBe('')
    const lines = stdout.trim().split('\n')
    expect(lines).toContain('  reviewer → files/list_directory {"path":"."}  — to find the test report')
    expect(lines).toContain('  reviewer · There is a report; what fails decides.')
    expect(lines.at(-1)).toBe('reviewer: Do not deploy yet: FAIL 2 token expires.')
  },
)

test.for(['tools', 'agent', 'ai-sdk'])('the program %s of the page prints what it says', (name) => {
  const programs = snippetsOf('docs/frameworks.md')
  const [program, output] = programs.filter(({ file }) => file === `frameworks/${name}.ts`)
  const clone = temporaryFolder({ 'package.json': '{"type":"module"}' })
  symlinkSync(join(repositoryRoot, 'node_modules'), join(clone, 'node_modules'))
  writeSnippets(program === undefined ? [] : [program], clone)
  expect(printedBy(join(clone, 'frameworks'), `${name}.ts`)).toBe(output?.text)
})

test('every program of the page is run', () => {
  const programs = snippetsOf('docs/frameworks.md').filter(({ language }) => language === 'ts')
  expect(programs.map(({ file }) => file)).toEqual(
    ['tools', 'agent', 'ai-sdk'].map((name) => `frameworks/${name}.ts`),
  )
})
