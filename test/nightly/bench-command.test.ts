import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { repositoryRoot } from '../support/files.js'

/** Timeout in milliseconds. Each test starts several servers, on a machine that may be busy. */
const patience = 240_000
const page = readFileSync(join(repositoryRoot, 'docs/performance.md'), 'utf8')
const quick = ['--smoke', '--verify']

const run = async (file: string, ...args: string[]): Promise<string> => {
  const all = ['--import', 'tsx', `bench/${file}.ts`, ...args]
  return (await promisify(execFile)(process.execPath, all, { cwd: repositoryRoot })).stdout
}

test('fan-out, publish and latency, as the page has them', { timeout: patience }, async () => {
  const [documented = ''] = /(?<=pnpm bench )fanout .*--only a,sqlite$/m.exec(page) ?? []
  const fanout = await run('main', ...documented.split(' '), ...quick)
  expect(fanout).toMatch(/^50 × 1, 300 B, window 256 +\S+ k \(1\.00\) +\S+ k \(\d+\.\d\d\)$/m)
  const few = ['--receivers', '2', '--senders', '1', '--only', 'a,memory']
  const others = await run('main', 'publish', 'latency', ...few, ...quick)
  expect(others.match(/^\d × 300 B, window \d+ /gm)).toHaveLength(4)
  expect(others.match(/^(\(a\) ws|MEUP).*( +\d+\.\d\d){3}$/gm)).toHaveLength(2)
})

test('attacks, each by itself', { timeout: patience }, async () => {
  const found = await run(
    'main',
    'attacks',
    '--only',
    'retries,event streams',
    '--ms',
    '100',
    '--warm',
    '100',
  )
  for (const name of ['none', 'retries', 'event streams']) {
    expect(found).toMatch(new RegExp(`^${name} +\\d+\\.\\d\\d x( +[\\d.]+){3} +0 +\\d+ +\\d`, 'm'))
  }
})

test('what the safety gate hides, touches and takes', { timeout: patience }, async () => {
  const found = await run('main', 'safety', '--smoke')
  expect(found).toMatch(/^all +[\d,]+ +[\d,]+ +\d+\.\d %$/m)
  expect(found).toMatch(/^lock files +[\d,]+ +\d+ +\d+\.\d %$/m)
  expect(found).toMatch(/^8 KiB of prose +\d+\.\d +\d+\.\d\d +\d+\.\d\d x$/m)
})

test('what an agent adds to a token, a call and a turn of a model', { timeout: patience }, async () => {
  const found = await run('main', 'model', ...quick)
  for (const each of ['a token', 'a call', 'a turn of one token']) {
    expect(found).toMatch(new RegExp(`^${each}( +-?[\\d,]+){3} +-?\\d+\\.\\d{3}$`, 'm'))
  }
})

test('thoughts are measured by what they say', { timeout: patience }, async () => {
  const found = await run(
    'main',
    'thoughts',
    ...['--receivers', '5', '--texts', 'prose,mixture', '--window', '1', '--only', 'e,memory'],
    ...quick,
  )
  expect(found).toMatch(/^5 × 1, prose, 300 B, window 1 +\S+ k +\S+ k \(\d+\.\d\d × e\)$/m)
  expect(found).toMatch(/^5 × 1, mixture, 300 B, window 1 /m)
  await expect(run('main', 'thoughts', '--texts', 'poems')).rejects.toThrow('not poems')
})

/** Quick figures, in groups that one command measures. The others are measured by the same code as `mixture`. */
const groups = [
  ['mixture', 'guard', 'events'],
  ['reading', 'start', 'mcp-call', 'memory'],
]
test.for(groups)('quick figures are ratios: %s', { timeout: patience }, async (names) => {
  const found = await run('main', '--quick', ...names, ...quick)
  for (const name of names) {
    expect(found).toMatch(new RegExp(`^(ok|FELL) +${name} +\\d+\\.?\\d*  `, 'm'))
  }
})

test('a profile names the stages', { timeout: patience }, async () => {
  const found = await run('profile', 'publish', '--ms', '200', '--warm', '50')
  expect(found).toMatch(/^decode +main +\d+\.\d\d$/m)
  expect(found).toContain('publish-main.cpuprofile')
})

test('the way of a chat is short, and DESIGN.md of the gateway names each file of it', {
  timeout: patience,
}, async () => {
  const files = [...(await run('main', 'way')).matchAll(/^(?:packages|protocol)\/.*\/(\S+\.ts) /gm)].map(
    ([, file = '']) => file,
  )
  expect(files).toContain('space.ts')
  expect(files.length).toBeLessThanOrEqual(35)
  const design = readFileSync(join(repositoryRoot, 'packages/gateway/DESIGN.md'), 'utf8')
  const [walk = ''] = /(?<=## The way of one chat\n).*?(?=\n## )/s.exec(design) ?? []
  expect(files.filter((file) => !walk.includes(`${file}\``))).toEqual([])
})

test('what is not there is said', { timeout: patience }, async () => {
  await expect(run('main', 'nonsense')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('nonsense'),
  })
  await expect(run('main', 'fanout', '--only', 'x')).rejects.toThrow('there is no x')
})
