import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { snippetsOf, writeSnippets } from '../support/snippets.js'

const snippets = snippetsOf('docs/transcript.md')

/** The folder of the page, below one that stands for the clone. */
function pageFolder(): string {
  const clone = temporaryFolder({ 'package.json': '{"type":"module"}' })
  symlinkSync(join(repositoryRoot, 'node_modules'), join(clone, 'node_modules'))
  writeSnippets(snippets, clone)
  return join(clone, 'transcript')
}

const printed = (cwd: string, file: string): string =>
  execFileSync(process.execPath, ['--import', 'tsx', file], { cwd, encoding: 'utf8' })

test('the programs of the page print what it says', () => {
  const folder = pageFolder()
  const outputs = snippets.filter(({ language }) => language === 'text').map(({ text }) => text)
  expect(printed(folder, 'ask.ts')).toBe(outputs.slice(0, -1).join(''))
  expect(printed(folder, 'space.ts')).toBe(outputs.at(-1))
})

test('a transcript needs nothing of Node', async () => {
  const { outputFiles } = await build({
    stdin: { contents: `export * from '@meup/agent-sdk/transcript'`, resolveDir: repositoryRoot },
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
  })
  expect(outputFiles[0]?.text).not.toMatch(/from ?"(node:|ws")/)
  expect(outputFiles[0]?.text).toContain('openTranscript')
})
