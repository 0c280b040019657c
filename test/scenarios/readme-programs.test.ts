import { spawnSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { packages } from '../support/packages.js'
import { printedBy } from '../support/page-programs.js'
import { snippetsOf, writeSnippets } from '../support/snippets.js'

const readmes = packages.map(({ directory }) => ({
  directory,
  snippets: snippetsOf(`${directory}/README.md`),
}))
const withPrograms = readmes.filter(({ snippets }) => snippets.some(({ language }) => language === 'ts'))

/** Makes a folder in place of a clone of this repository, with the programs of each README in the folder of its package. */
function clone(): string {
  const root = temporaryFolder({
    'package.json': '{"type":"module"}',
    'tsconfig.json': JSON.stringify({
      extends: join(repositoryRoot, 'tsconfig.base.json'),
      compilerOptions: {
        composite: false,
        noEmit: true,
        rootDir: '.',
        declaration: false,
        declarationMap: false,
      },
      include: ['.'],
    }),
  })
  symlinkSync(join(repositoryRoot, 'node_modules'), join(root, 'node_modules'))
  return root
}

test('the programs of the READMEs have no type errors', () => {
  const root = clone()
  for (const { directory, snippets } of withPrograms) {
    const programs = snippets.filter(({ language }) => language === 'ts')
    expect(programs.map(({ file }) => file)).not.toContain(undefined)
    writeSnippets(programs, join(root, directory))
    symlinkSync(join(repositoryRoot, directory, 'node_modules'), join(root, directory, 'node_modules'))
  }
  const tsc = join(repositoryRoot, 'node_modules/.bin/tsc')
  const { status, stdout } = spawnSync(tsc, ['-p', root], { encoding: 'utf8' })
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
})

const printing = withPrograms.flatMap(({ directory, snippets }) =>
  snippets
    .filter(({ language, file }) => language === 'text' && file !== undefined)
    .map(({ file = '', text }) => ({ directory, file, output: text, snippets })),
)

test.for(printing)('$directory: $file prints what its README says', (program) => {
  const root = clone()
  writeSnippets(
    program.snippets.filter(({ language }) => language === 'ts'),
    root,
  )
  expect(printedBy(root, program.file)).toBe(program.output)
})

test('the README of the command line has the commands of the page on the terminal', () => {
  const commands = snippetsOf('packages/cli/README.md').map(({ text }) => text)
  const [after] = snippetsOf('docs/terminal.md').filter(({ language }) => language === 'text')
  expect(commands).toEqual(['pnpm meup init ../my-space\n', after?.text])
})
