import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { cases } from '../../bench/cases/index.js'
import { shapes } from '../../bench/cases/profiling.js'
import { readCommandLine } from '../../bench/load/options.js'
import { quickFigures } from '../../bench/quick/figures.js'
import { inRepository } from '../../bench/report/write.js'
import { repositoryRoot } from '../support/files.js'

/** Milliseconds: each test starts several servers, on a machine that may be busy. */
const patience = 240_000
const page = readFileSync(join(repositoryRoot, 'docs/performance.md'), 'utf8')
const figures = readFileSync(inRepository.page, 'utf8')

const run = async (...args: string[]): Promise<string> => {
  const all = ['--import', 'tsx', 'bench/main.ts', ...args]
  return (await promisify(execFile)(process.execPath, all, { cwd: repositoryRoot })).stdout
}

test('the way of a chat is short, and DESIGN.md of the gateway names each file of it', {
  timeout: patience,
}, async () => {
  const files = [...(await run('way')).matchAll(/^(?:packages|protocol)\/.*\/(\S+\.ts) /gm)].map(
    ([, file = '']) => file,
  )
  expect(files).toContain('space.ts')
  expect(files.length).toBeLessThanOrEqual(35)
  const design = readFileSync(join(repositoryRoot, 'packages/gateway/DESIGN.md'), 'utf8')
  const [walk = ''] = /(?<=## The way of one chat\n).*?(?=\n## )/s.exec(design) ?? []
  expect(files.filter((file) => !walk.includes(`${file}\``))).toEqual([])
})

test('every command of the page is understood', () => {
  const command = /(?:pnpm bench|bench\/main\.ts|pnpm run profile)(?: ([^#`\n]*))?/g
  const commands = [...page.matchAll(command), ...figures.matchAll(command)]
  expect(commands.length).toBeGreaterThan(5)
  for (const [, args = ''] of commands) {
    const { cases: named } = readCommandLine(args.split(/\s+/).filter(Boolean))
    const known = [...Object.keys(cases), ...Object.keys(shapes), ...Object.keys(quickFigures)]
    expect(named.filter((name) => !known.includes(name))).toEqual([])
  }
})

test('the page has a block for whatever is measured', () => {
  const blocks = [...figures.matchAll(/<!-- figures: (\S+) -->/g)].map(([, id = '']) =>
    id.replace(/^(stages|jetstream)-.*/, '$1'),
  )
  const named = ['soak', 'jetstream', 'attacks']
  const measured = Object.entries(cases).filter(([name, { usual }]) => usual || named.includes(name))
  expect(new Set(blocks)).toEqual(new Set([...measured.map(([name]) => name), 'quick']))
})

test('what is not there is said', { timeout: patience }, async () => {
  await expect(run('nonsense')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('nonsense'),
  })
  await expect(run('fanout', '--only', 'x')).rejects.toThrow('there is no x')
})
