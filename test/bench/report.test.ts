import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { slopeOf } from '../../bench/cases/soak.js'
import type { ThreadProfile } from '../../bench/load/inspector.js'
import { timesOf, topOf } from '../../bench/report/self-times.js'
import { stagesOf } from '../../bench/report/stages.js'
import { circumstances, inRepository, write } from '../../bench/report/write.js'

const folder = mkdtempSync(join(tmpdir(), 'meup-bench-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

const nodeOf = (id: number, functionName: string, url: string, ...children: number[]) => ({
  ...{ id, children },
  callFrame: { functionName, url, lineNumber: 0 },
})
const main: ThreadProfile = {
  thread: 'main',
  profile: {
    nodes: [
      nodeOf(1, '(root)', '', 2, 6, 7),
      nodeOf(2, 'pass', 'file:///x/packages/gateway/dist/core/admission/index.js', 3),
      nodeOf(3, 'authorize', 'file:///x/packages/gateway/dist/core/admission/index.js', 4, 5),
      nodeOf(4, 'allows', 'file:///x/protocol/dist/capability/compile.js'),
      nodeOf(5, '(garbage collector)', ''),
      nodeOf(6, '(idle)', ''),
      nodeOf(7, '(program)', ''),
    ],
    samples: [4, 3, 6, 7, 2],
    timeDeltas: [30, 10, 1000, 40, 20],
  },
}
const writer: ThreadProfile = {
  thread: 'writer-worker.js',
  profile: { nodes: [nodeOf(1, 'run', '')], samples: [1], timeDeltas: [50] },
}

test('the stages of a message add up to the whole', () => {
  const stages = stagesOf([main, writer], { main: 10, all: 14 })
  const named = stages.map(({ stage, microseconds }) => [stage, Number(microseconds.toFixed(6))])
  expect(Object.fromEntries(named)).toEqual({
    authorize: 4,
    'kernel and event loop, outside JavaScript': 4,
    'the rest of the gateway': 2,
    'hashes, SQL, checkpoints of the log': 4,
  })
  expect(
    stagesOf([main], { main: 10, all: 14 }).reduce((sum, each) => sum + each.microseconds, 0),
  ).toBeCloseTo(14)
})

test('own times are by function and by file, and nobody counts as busy who is idle', () => {
  const times = timesOf(main.profile)
  expect(times.busy).toBe(100)
  expect(topOf(times, 'function', 2).map(({ part }) => part)).toEqual([0.4, 0.3])
  expect(topOf(times, 'file', 9)).toHaveLength(3)
})

test('the slope leaves the beginning out', () => {
  const sample = (i: number) => ({ seconds: i * 10, megabytes: i < 10 ? i * 50 : 500 + i })
  expect(slopeOf(Array.from({ length: 40 }, (_, i) => sample(i)))).toBeCloseTo(6)
})

test('figures go into their block of the page, again and again, and the picture is drawn', () => {
  const page = join(folder, 'performance.md')
  copyFileSync(inRepository.page, page)
  const cell = { receivers: 50, senders: 1, size: 300, window: 256 }
  const figure = { deliveries: 1, messages: 1, cpuPerMessage: 1, generator: 0 }
  const figures = [
    {
      cell,
      figures: [
        { ...figure, key: 'a', name: '<a>', ratio: 1 },
        { ...figure, key: 'd', name: 'd', ratio: 20 },
      ],
    },
  ]
  const section = (value: string) => ({
    ...{ id: 'fanout', title: 'Fan-out', columns: ['', 'x'], rows: [['one', value]], figures },
  })
  const about = circumstances('nothing pinned', 'pnpm bench fanout')
  for (const value of ['first', 'second']) write([section(value)], about, { folder, page })
  const text = readFileSync(page, 'utf8')
  expect(text.match(/\| one \| \w+ \|/g)).toEqual(['| one | second |'])
  expect(text.match(/<!-- figures: /g)?.length).toBe(
    readFileSync(inRepository.page, 'utf8').match(/<!-- figures: /g)?.length,
  )
  const written = JSON.parse(readFileSync(join(folder, 'figures.json'), 'utf8')) as Record<string, unknown>
  expect(written.fanout).toMatchObject({ figures, circumstances: { command: 'pnpm bench fanout' } })
  const picture = readFileSync(join(folder, 'fanout.svg'), 'utf8')
  expect(picture).toContain('50 × 1')
  expect(picture).toContain('&lt;a>')
  expect(() => write([{ ...section('x'), id: 'nowhere' }], about, { folder, page })).toThrow('has no block')
})
