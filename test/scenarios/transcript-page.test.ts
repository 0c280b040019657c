import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { repositoryRoot } from '../support/files.js'
import { cloneWith, printedBy } from '../support/page-programs.js'
import { snippetsOf } from '../support/snippets.js'

const snippets = snippetsOf('docs/transcript.md')

test('the programs of the page print what it says', () => {
  const folder = join(cloneWith('docs/transcript.md'), 'transcript')
  const output = snippets.find(({ language }) => language === 'text')?.text
  expect(printedBy(folder, 'ask.ts')).toBe(output)
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
