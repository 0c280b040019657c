import { memoryStore } from '@meup/gateway'
import type { Phase } from '@meup/protocol'
import { expect, onTestFinished, test } from 'vitest'
import { times } from '../../../test/support/soak.js'
import { IndexFile } from '../src/index/index-file.js'
import { MemoryTurnIndex } from '../src/index/memory-turn-index.js'
import { SqliteTurnIndex, type StepQuery, type TurnIndex } from '../src/index/turn-index.js'
import { range } from './client.js'
import { fill, randomFields } from './indexed.js'
import { temporaryFile } from './support.js'

const agents = [undefined, 'ana', 'ben', 'nobody']
const phases: readonly (readonly Phase[])[] = [['thinking'], ['error'], ['thinking', 'execute']]
const last = Number.MAX_SAFE_INTEGER

/** All pages of steps. */
function stepsOf(index: TurnIndex, query: Omit<StepQuery, 'before'>): unknown[] {
  const pages: unknown[] = []
  for (let before: number | undefined = last; before !== undefined; ) {
    const page = index.steps({ ...query, before })
    pages.push(page)
    before = page.next
  }
  return pages
}

/** Results of every query function of an index. */
function answersOf(index: TurnIndex, times: readonly number[]): unknown {
  const [since, until] = times
  const all = index.trail(0, undefined, last)
  return {
    seq: index.seq,
    trail: agents.flatMap((agent) => [0, 3].map((after) => index.trail(after, agent, 5))),
    latest: agents.flatMap((agent) => [4, last].map((before) => index.latest(before, agent, 5))),
    turns: ['ana', 'ben', 'nobody'].flatMap((agent) => [
      [index.turns(agent, last, 3), index.turns(agent, 3, 100)],
      range(0, 5).map((number) => index.turn(agent, number)),
    ]),
    places: all.flatMap(({ turn }) => [
      ...[1, 3, last].map((limit) => index.places(turn, 0, limit)),
      index.places(turn, 100, last, 6),
    ]),
    steps: [
      ...[1, 7, 1000].map((limit) => stepsOf(index, { limit })),
      ...phases.map((some) => stepsOf(index, { phases: some, limit: 7 })),
      ...all.slice(0, 5).map(({ turn }) => stepsOf(index, { turn, limit: 2 })),
      stepsOf(index, { agents: ['ben', 'cleo'], limit: 7 }),
      stepsOf(index, { ...(since && { since }), ...(until && { until }), limit: 7 }),
    ],
    ended: [index.ended(0, last), index.ended(50, 150)],
  }
}

function prune(index: TurnIndex, through: number): void {
  while (!index.prune(through));
}

test.for(range(1, times(4, 100)))(
  'an index in memory answers as one in a file does, also when both are pruned: random log %i',
  async (seed) => {
    const log = await fill(memoryStore(), randomFields(seed, 300))
    const rows = await log.read({ limit: 1000 })
    const times = [80, 200].map((at) => Date.parse(rows[at]?.ts ?? ''))
    const file = new IndexFile(temporaryFile('index.db'))
    onTestFinished(() => file.close())
    const inFile = SqliteTurnIndex.open(file.open(), 'test', log.epoch, 0)
    const inMemory = new MemoryTurnIndex(log.epoch, 0)
    for (const index of [inFile, inMemory]) index.add(rows.slice(0, 200))
    expect(answersOf(inMemory, times)).toEqual(answersOf(inFile, times))
    for (const index of [inFile, inMemory]) prune(index, 40 + seed * 10)
    expect(answersOf(inMemory, times)).toEqual(answersOf(inFile, times))
    for (const index of [inFile, inMemory]) index.add(rows.slice(200))
    expect(answersOf(inMemory, times)).toEqual(answersOf(inFile, times))
    const [one, other] = [inMemory.stored, inFile.stored]
    expect([one.seq, one.hash]).toEqual([other.seq, other.hash])
  },
)
