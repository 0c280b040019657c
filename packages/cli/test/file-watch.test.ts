import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { FileWatch } from '../src/run/file-watch.js'
import { folderWith } from './support/folder.js'

/** Watches paths of a folder. `notices` resolves once the change that it makes was noticed. */
function watching(files: Readonly<Record<string, string>>, ...paths: readonly string[]) {
  const folder = folderWith(files)
  let count = 0
  const watch = new FileWatch({
    settleMs: 20,
    changed: () => void count++,
    failed: (error) => expect.unreachable(String(error)),
  })
  onTestFinished(() => watch.close())
  const resolve = (path: string): string => join(folder, path)
  return {
    resolve,
    watch,
    follow: () => watch.follow(paths.map(resolve)),
    getCount: () => count,
    async notices(act: () => unknown): Promise<void> {
      const before = count
      await act()
      await expect.poll(() => count).toBeGreaterThan(before)
    },
  }
}

test('a configuration that is saved in place and at once by renaming is watched on', async () => {
  const { resolve, follow, notices } = watching({ 'space.yaml': '' }, 'space.yaml')
  const file = resolve('space.yaml')
  follow()
  for (const delayMs of [0, 0, 1, 1, 2, 3, 4]) {
    await notices(async () => {
      writeFileSync(file, 'in place')
      await new Promise((resolve) => setTimeout(resolve, delayMs)) // The first event arrives in between.
      writeFileSync(`${file}.new`, 'renamed')
      renameSync(`${file}.new`, file)
    })
    await notices(() => writeFileSync(file, `later, after ${delayMs}`))
  }
})

test('a folder is watched with what is below it, before and after it exists', async () => {
  const { resolve, follow, notices } = watching({}, '.meup/tokens')
  follow()
  const token = resolve('.meup/tokens/demo/ana')
  await notices(() => mkdirSync(resolve('.meup/tokens/demo'), { recursive: true }))
  await notices(() => writeFileSync(token, 'one'))
  await notices(() => writeFileSync(token, 'two'))
  await notices(() => rmSync(resolve('.meup'), { recursive: true }))
  await notices(() => mkdirSync(resolve('.meup/tokens/demo'), { recursive: true }))
  await notices(() => writeFileSync(token, 'three'))
})

test('a folder that is deleted and created at once is watched on', async () => {
  const { resolve, follow, notices } = watching({ 'dist/agent.js': '1' }, 'dist/agent.js')
  follow()
  for (const round of ['2', '3', '4']) {
    await notices(() => {
      rmSync(resolve('dist'), { recursive: true })
      mkdirSync(resolve('dist'))
      writeFileSync(resolve('dist/agent.js'), round)
    })
    await notices(() => writeFileSync(resolve('dist/agent.js'), `later ${round}`))
  }
})

test('a path below a file hides no other path', async () => {
  const { resolve, follow, notices } = watching({ lib: '', 'agent.js': '1' }, 'lib/util.js', 'agent.js')
  follow()
  await notices(() => writeFileSync(resolve('agent.js'), '2'))
})

test('a symbolic link is watched, and what it leads to', async () => {
  const { resolve, follow, notices } = watching({ 'one/real.yaml': '', 'two/real.yaml': '' }, 'in/space.yaml')
  mkdirSync(resolve('in'))
  symlinkSync(resolve('one/real.yaml'), resolve('in/space.yaml'))
  follow()
  await notices(() => writeFileSync(resolve('one/real.yaml'), 'changed'))
  await notices(() => {
    symlinkSync(resolve('two/real.yaml'), resolve('in/next'))
    renameSync(resolve('in/next'), resolve('in/space.yaml'))
  })
  await notices(() => writeFileSync(resolve('two/real.yaml'), 'changed'))
})

test.for<[name: string, watched: string, link: string, parent: string]>([
  ['a release that a link names', 'current/agent.js', 'current', 'releases'],
  ['a configuration map of Kubernetes', 'agent.js', '..data', '.'],
])('a symbolic link to a folder is watched: %s', async ([, watched, link, parent]) => {
  const { resolve, follow, notices, getCount } = watching(
    { [`${parent}/1/agent.js`]: '1', [`${parent}/2/agent.js`]: '2', [`${parent}/1/other.js`]: '' },
    watched,
  )
  symlinkSync(`${parent}/1`, resolve(link))
  if (link !== dirname(watched)) symlinkSync(`${link}/agent.js`, resolve(watched))
  follow()
  for (const release of ['2', '1', '2']) {
    await notices(() => {
      symlinkSync(`${parent}/${release}`, resolve('next'))
      renameSync(resolve('next'), resolve(link))
    })
    await notices(() => writeFileSync(resolve(`${parent}/${release}/agent.js`), 'in place'))
  }
  const before = getCount()
  writeFileSync(resolve(`${parent}/1/other.js`), 'changed')
  await notices(() => writeFileSync(resolve(`${parent}/2/agent.js`), 'changed'))
  expect(getCount()).toBe(before + 1)
})

test('links that lead to each other are not followed forever', async () => {
  const { resolve, follow, notices } = watching({ a: '' }, 'a', 'one/agent.js')
  symlinkSync('two', resolve('one'))
  symlinkSync('one', resolve('two'))
  follow()
  await notices(() => writeFileSync(resolve('a'), '1'))
  await notices(() => {
    rmSync(resolve('one'))
    mkdirSync(resolve('one'))
  })
  await notices(() => writeFileSync(resolve('one/agent.js'), ''))
})

test('other files are not watched, and after close none is', async () => {
  const { resolve, follow, notices, watch, getCount } = watching({ a: '' }, 'a')
  follow()
  writeFileSync(resolve('b'), '')
  await notices(() => writeFileSync(resolve('a'), '1'))
  expect(getCount()).toBe(1)
  watch.close()
  follow()
  watch.settle()
  writeFileSync(resolve('a'), '2')
  const next = watching({ a: '' }, 'a')
  next.follow()
  await next.notices(() => writeFileSync(next.resolve('a'), '1'))
  expect(getCount()).toBe(1)
})
