import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/cli.js'
import { repositoryRoot } from '../support/files.js'
import { serveModel } from '../support/model-server.js'
import { Newcomer, reviewerScript, spendFirstHour } from '../support/newcomer.js'

const timeout = 300_000
const entry = join(repositoryRoot, 'packages/cli/bin/meup.js')
/** Maximum seconds of a step of the first hour while other tests run; test/install, which runs alone, allows five. */
const maxSeconds = 60

test('the first hour with a model: each step takes a few seconds', { timeout }, async () => {
  const { baseURL } = await serveModel(reviewerScript)
  const newcomer = new Newcomer(temporaryFolder())
  const flags = `--template model --base-url ${baseURL} --person ana --listen 127.0.0.1:0`
  const made = await newcomer.types(`node '${entry}' init my-space ${flags}`)
  expect(made).toMatch(/\nnpx meup up\nnpx meup join\n[\s\S]*then ask: Can we deploy\?\n$/)
  newcomer.enters('my-space')
  await spendFirstHour(newcomer)
  process.stdout.write(`${newcomer.steps.map(({ step, seconds }) => `${seconds} s  ${step}`).join('\n')}\n`)
  for (const { step, seconds } of newcomer.steps) expect(seconds, step).toBeLessThan(maxSeconds)
})

test('every other template has no type errors, and its test passes', { timeout }, async () => {
  const cwd = temporaryFolder()
  await Promise.all(
    ['hello', 'mcp', 'coder', 'supervised', 'team'].map(async (template) => {
      const newcomer = new Newcomer(cwd)
      await newcomer.types(`node '${entry}' init ${template} --template ${template} --listen 127.0.0.1:0`)
      newcomer.enters(template)
      await newcomer.types('npm run check')
      await newcomer.types('npm test')
    }),
  )
})

test('a team writes a report that is reviewed and approved, in one command', { timeout }, async () => {
  const newcomer = new Newcomer(temporaryFolder())
  await newcomer.types(`node '${entry}' init team --template team --person ana --listen 127.0.0.1:0`)
  newcomer.enters('team')
  const shown = await newcomer.types('npm run demo')
  const steps = [
    'desk: A report is wanted.',
    'reviewer: Name the source of the figures.',
    'reviewer: Approved.',
    'ana lets researcher call reports/write_file',
    'researcher: The report is in reports/tides.md; reviewer has approved it.',
  ]
  const places = steps.map((step) => shown.indexOf(step))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(places).not.toContain(-1)
  const report = readFileSync(join(newcomer.folder, 'reports/tides.md'), 'utf8')
  expect(report).toMatch(/^# Tides\n[\s\S]*Source: library\/tides\.txt$/)
})
