import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cases } from '../../bench/cases/index.js'
import { shapes } from '../../bench/cases/profiling.js'
import { readCommandLine } from '../../bench/load/options.js'
import { quickFigures } from '../../bench/quick/figures.js'
import { inRepository } from '../../bench/report/write.js'
import { repositoryRoot } from '../support/files.js'

const page = readFileSync(join(repositoryRoot, 'docs/performance.md'), 'utf8')
const figures = readFileSync(inRepository.page, 'utf8')

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
