import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { printedBy } from '../support/page-programs.js'
import { snippetsOf, writeSnippets } from '../support/snippets.js'

const snippets = snippetsOf('docs/memory.md')

test('the programs of the page print what it says', { timeout: 120_000 }, () => {
  const clone = temporaryFolder({ 'package.json': '{"type":"module"}' })
  symlinkSync(join(repositoryRoot, 'node_modules'), join(clone, 'node_modules'))
  writeSnippets(
    snippets.filter(({ language }) => language === 'ts'),
    clone,
  )
  const outputs = snippets.filter(({ language }) => language === 'text')
  expect(outputs).toHaveLength(5)
  for (const { file = '', text } of outputs) expect([file, printedBy(clone, file)]).toEqual([file, text])
})
