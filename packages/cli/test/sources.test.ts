import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { changedSources, findSources, SourceWatch } from '../src/run/sources.js'
import { folderWith } from './support/folder.js'

/** Relative paths of a program's source files, without package.json. */
const names = (cwd: string, command: string, ...args: string[]): string[] =>
  [...findSources({ command, args, cwd }, cwd).keys()]
    .map((file) => file.slice(cwd.length + 1))
    .filter((file) => file !== 'package.json')
    .sort()

test('of package.json only the type of its modules counts', () => {
  const folder = folderWith({ 'src/agent.ts': '', 'package.json': '{"name":"a"}' })
  const read = () => findSources({ command: 'npx', args: ['tsx', 'src/agent.ts'], cwd: folder }, folder)
  const before = read()
  const file = join(folder, 'package.json')
  writeFileSync(file, '{"name":"a","dependencies":{"zod":"4"}}')
  expect(changedSources(before, read(), false)).toEqual([])
  writeFileSync(file, '{"name":"a","type":"module"}')
  expect(changedSources(before, read(), false)).toEqual([file])
})

test('a program consists of its script and what that imports by a relative path', () => {
  const folder = folderWith({
    'agent.ts': `
      import { a } from './lib/a.js'
      export * from "./b"
      import data from './data.json' with { type: 'json' }
      import { connect } from '@meup/agent-sdk'
      const late = await import('./late.mjs')`,
    'lib/a.ts': `import '../c.cjs'; import './a.js'`,
    'b/index.ts': '',
    'c.cjs': `require('./d')`,
    'd.js': `import './node_modules/left/index.js'`,
    'data.json': '{}',
    'late.mjs': '',
    'node_modules/left/index.js': '',
    'unused.ts': '',
    'report.txt': '',
  })
  const expected = ['agent.ts', 'b/index.ts', 'c.cjs', 'd.js', 'data.json', 'late.mjs', 'lib/a.ts']
  expect(names(folder, 'node', '--import', 'tsx', 'agent.ts', 'report.txt')).toEqual(expected)
})

test.for([
  ['node', ['--import=./setup.mjs', 'agent.mjs'], ['agent.mjs', 'setup.mjs']],
  ['python3', ['agent.py', '--log', 'agent.log'], ['agent.py']],
  ['npx', ['some-agent'], []],
] as const)('%s %j names %j', ([command, args, expected]) => {
  const folder = folderWith({ 'setup.mjs': '', 'agent.mjs': '', 'agent.py': '', 'agent.log': '' })
  expect(names(folder, command, ...args)).toEqual(expected)
})

test('a command in the folder is watched itself', () => {
  const folder = folderWith({ agent: '#!/bin/sh' })
  expect(names(folder, join(folder, 'agent'))).toEqual(['agent'])
  expect(names(folder, '/bin/sh')).toEqual([])
})

test('a folder that is imported without an index file is not watched as a whole', () => {
  const folder = folderWith({ 'src/agent.cjs': `require('..')`, 'package.json': '{"main":"dist/index.js"}' })
  // The name of the folder itself is empty.
  expect(names(folder, 'node', 'src/agent.cjs')).not.toContain('')
})

test('an import of what is still to be written is watched, too', () => {
  const folder = folderWith({ 'agent.mjs': `import './helper.js'` })
  expect(names(folder, 'node', 'agent.mjs')).toContain('helper.ts')
})

test('a file that is written again and is the same is changed only by its time', () => {
  const folder = folderWith({ 'agent.mjs': 'same' })
  const read = () => findSources({ command: 'node', args: ['agent.mjs'], cwd: folder }, folder)
  const before = read()
  utimesSync(join(folder, 'agent.mjs'), 1, 1)
  expect(changedSources(before, read(), false)).toEqual([])
  expect(changedSources(before, read(), true)).toEqual([join(folder, 'agent.mjs')])
})

test('a script that is deleted is the only file that has changed', () => {
  const folder = folderWith({ 'agent.ts': `import './lib/a.js'`, 'lib/a.ts': '', 'package.json': '{}' })
  const read = () => findSources({ command: 'npx', args: ['tsx', 'agent.ts'], cwd: folder }, folder)
  const before = read()
  rmSync(join(folder, 'agent.ts'))
  const without = read()
  expect(changedSources(before, without, false)).toEqual([join(folder, 'agent.ts')])
  rmSync(join(folder, 'lib/a.ts'))
  expect(changedSources(before, without, true)).toEqual([join(folder, 'agent.ts'), join(folder, 'lib/a.ts')])
})

/** Watches a program's files; marks each change immediately, like a restart does. */
function watched(files: Readonly<Record<string, string>>, isWaiting = false) {
  const folder = folderWith(files)
  const changes: string[][] = []
  const watch = new SourceWatch({
    read: () => findSources({ command: 'node', args: ['agent.mjs'], cwd: folder }, folder),
    isWaiting: () => isWaiting,
    changed(paths) {
      changes.push(paths.map((path) => path.slice(folder.length + 1)))
      watch.mark()
    },
    failed: (error) => expect.unreachable(String(error)),
  })
  onTestFinished(() => watch.close())
  watch.mark()
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
  /** Saves like an editor: writes a new file, then renames it. */
  const replace = (name: string, text: string): void => {
    write(`${name}.new`, text)
    renameSync(join(folder, `${name}.new`), join(folder, name))
  }
  return { changes, folder, write, replace }
}

test('each save is a change, in place or by renaming, and in files that were imported later', async () => {
  const { changes, write, replace } = watched({ 'agent.mjs': '1' })
  write('agent.mjs', '2')
  await expect.poll(() => changes).toEqual([['agent.mjs']])
  for (const text of ['3', '4', `import './late.mjs'`]) {
    const count = changes.length
    replace('agent.mjs', text)
    await expect.poll(() => changes.length).toBe(count + 1)
  }
  write('late.mjs', '1')
  await expect.poll(() => changes.at(-1)).toContain('late.mjs')
  const count = changes.length
  write('late.mjs', '2')
  await expect.poll(() => changes.slice(count)).toEqual([['late.mjs']])
})

test('saves at once in place and by renaming leave no later save unseen', async () => {
  const { changes, write, replace } = watched({ 'agent.mjs': '0', 'lib/word.mjs': '', 'package.json': '{}' })
  for (let round = 1; round <= 6; round++) {
    write('agent.mjs', `in place ${round}`)
    await new Promise((resolve) => setTimeout(resolve, round - 1)) // The first event arrives in between.
    replace('agent.mjs', `import './lib/word.mjs' // ${round}`)
    await expect.poll(() => changes.length).toBe(3 * round - 2)
    for (const [more, text] of ['a', 'b'].entries()) {
      write('lib/word.mjs', `${text}${round}`)
      await expect.poll(() => changes.length).toBe(3 * round - 1 + more)
    }
  }
})

test.for([
  [
    'deleted and written anew, as git does',
    (folder: string) => rmSync(join(folder, 'lib'), { recursive: true }),
  ],
  ['renamed away', (folder: string) => renameSync(join(folder, 'lib'), join(folder, 'old'))],
] as const)('a file is still watched after its folder was %s', async ([, remove]) => {
  const { changes, write, folder } = watched({ 'agent.mjs': `import './lib/word.mjs'`, 'lib/word.mjs': '1' })
  remove(folder)
  await expect.poll(() => changes.length).toBe(1)
  mkdirSync(join(folder, 'lib'))
  write('lib/word.mjs', '2')
  await expect.poll(() => changes.length).toBe(2)
  write('lib/word.mjs', '3')
  await expect.poll(() => changes.length).toBe(3)
})

// Retried, because two saves count as two changes if the machine stalls in between.
test('ten saves within a second are one change, and other files are none', { retry: 3 }, async () => {
  const { changes, write } = watched({ 'agent.mjs': '0' })
  write('agent.mjs', 'first')
  await expect.poll(() => changes.length).toBe(1)
  for (let save = 0; save < 10; save++) {
    write('agent.mjs', `save ${save}`)
    write('report.txt', `report ${save}`)
    await new Promise((resolve) => setTimeout(resolve, 60))
  }
  await expect.poll(() => changes.length).toBe(2)
  write('agent.mjs', 'last')
  await expect.poll(() => changes.length).toBe(3)
})
