import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type FailedRun, readFailedRuns, replay } from '../../bench/support/failed-runs.js'
import { repositoryRoot } from '../support/files.js'

const folder = mkdtempSync(join(tmpdir(), 'meup-why-'))
afterAll(() => rmSync(folder, { recursive: true }))

function record(part: string, decisive: number, history: readonly object[]): FailedRun {
  mkdirSync(join(folder, part), { recursive: true })
  const run = { question: 'How many?', mistake_step: `${decisive}`, history }
  writeFileSync(join(folder, part, '1.json'), JSON.stringify(run))
  return readFailedRuns(join(folder, part))[0] as FailedRun
}

const group = record('algorithm-generated', 1, [
  { name: 'Planner', role: 'assistant', content: 'We count them.' },
  { name: 'Coder', role: 'assistant', content: 'I assume 7.\n```python\nprint(7)\n```' },
  { name: 'Terminal', role: 'user', content: 'exitcode: 0\n7' },
  { name: 'Planner', role: 'assistant', content: 'There are 7.' },
])
const team = record('hand-crafted', 3, [
  { role: 'human', content: 'How many?' },
  { role: 'Lead (thought)', content: 'Somebody has to look.' },
  { role: 'Lead (-> Scout)', content: 'Please count them.' },
  { role: 'Scout', content: 'I see 9.' },
  { role: 'Lead (termination)', content: 'FINAL ANSWER: 9' },
])
const kinds = (run: FailedRun): string[] =>
  replay(run).map(({ from, envelope: { kind } }) => `${from} ${kind}`)

describe('a recorded run is replayed as its agents would have sent it', () => {
  test('agents that speak in turn, one of which runs code', () => {
    expect(kinds(group)).toEqual([
      ...['user chat', 'Planner reasoning.start', 'Planner chat', 'Coder reasoning.start'],
      ...['Coder reasoning.thought', 'Coder mcp.request', 'Terminal mcp.response', 'Coder chat'],
      ...['Planner reasoning.start', 'Planner chat'],
    ])
  })

  test('an agent that hands over to another', () => {
    expect(kinds(team)).toEqual([
      ...['user chat', 'Lead reasoning.start', 'Lead reasoning.thought', 'Lead chat'],
      ...['Scout reasoning.start', 'Scout chat', 'Lead chat'],
    ])
  })
})

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}
const bench = (data: string): Promise<Ended> =>
  new Promise((resolve) => {
    const args = ['--import', 'tsx', 'bench/main.ts', 'why', '--data', data]
    execFile(process.execPath, args, { cwd: repositoryRoot }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
  })

test('the bench counts looks in both parts', { timeout: 120_000 }, async () => {
  const { code, stdout } = await bench(folder)
  expect(code).toBe(0)
  expect(stdout.match(/^by the ranks of why +1 +\d\.0 /gm)).toHaveLength(2)
})

test('without the data it says where that is published', { timeout: 120_000 }, async () => {
  const { code, stderr } = await bench(join(folder, 'nothing'))
  expect(code).toBe(2)
  expect(stderr).toContain('ag2ai/Agents_Failure_Attribution')
})
