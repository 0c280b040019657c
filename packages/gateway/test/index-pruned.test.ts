import { type EnvelopeLog, type LogStore, sqliteStore } from '@meup/gateway'
import { FakeClock } from '@meup/gateway/testing'
import { describe, expect, test } from 'vitest'
import { times } from '../../../test/support/soak.js'
import { snapshotAt } from '../src/core/replay.js'
import { range, type Sent } from './client.js'
import {
  building,
  copied,
  everythingOfTurns,
  gatewayOn,
  indexPathOf,
  logged,
  randomFields,
  rowsOf,
} from './indexed.js'
import { temporaryFile } from './support.js'
import { begin, call, chat, conclude, createTurns, result, stage, thought } from './turns.js'

const [hour, day] = [3_600_000, 86_400_000]
const length = 300

async function withLog<Result>(path: string, task: (log: EnvelopeLog, store: LogStore) => Promise<Result>) {
  const store = await sqliteStore({ path })
  try {
    return await task(await store.open('test'), store)
  } finally {
    await store.close()
  }
}

const prune = async (log: EnvelopeLog, through: number): Promise<void> =>
  log.prune(through, await snapshotAt(log, through))

/** Different ways to build an index around a pruning up to `through`. */
const lives: Record<string, (log: EnvelopeLog, index: string, through: number) => Promise<void>> = {
  'that has all of the log': async (log, index, through) => {
    const { through: reach, pruned, end } = building(log, index)
    await reach(log.head)
    await prune(log, through)
    await pruned(through)
    end('saved')
  },
  'that has just what is pruned': async (log, index, through) => {
    const { through: reach, pruned, end } = building(log, index, 13)
    await reach(through)
    await prune(log, through)
    await pruned(through)
    await reach(log.head)
    end('saved')
  },
  'that is behind what is pruned': async (log, index, through) => {
    const { through: reach, end } = building(log, index, 13)
    await reach(Math.floor(through / 2))
    await prune(log, through)
    await reach(log.head)
    end('saved')
  },
  'that was closed meanwhile': async (log, index, through) => {
    const { through: reach, end } = building(log, index)
    await reach(Math.floor((through + log.head) / 2))
    end('saved')
    await prune(log, through)
    const again = building(log, index)
    await again.through(log.head)
    await again.pruned(through)
    again.end('saved')
  },
  'that was lost meanwhile': async (log, index, through) => {
    const { through: reach, end } = building(log, index)
    await reach(Math.floor((through + log.head) / 2))
    end('lost')
    await prune(log, through)
    const again = building(log, index)
    await again.through(log.head)
    await again.pruned(through)
    again.end('saved')
  },
  'that went on after a restart': async (log, index, through) => {
    const { through: reach, pruned, end } = building(log, index)
    await reach(through)
    await prune(log, through)
    await pruned(through)
    end('saved')
    for (const seq of range(through + 1, log.head)) {
      const again = building(log, index)
      await again.through(seq)
      again.end(seq % 2 === 0 ? 'saved' : 'lost')
    }
  },
}

describe('an index of a log that is pruned', () => {
  const trials = range(1, times(1, 100)).flatMap((seed) =>
    Object.keys(lives).map((life) => [seed, life] as const),
  )
  test.for(trials)('of seed %i, %s, is that which is built after it', async ([seed, life]) => {
    const path = await logged(randomFields(seed, length))
    const through = 40 + ((seed * 97) % 200)
    await withLog(path, (log) => lives[life]?.(log, indexPathOf(path), through) ?? Promise.reject(life))
    const fresh = temporaryFile('index.db')
    await withLog(path, async (log) => {
      expect(log.oldest).toBe(through + 1)
      const { through: reach, end } = building(log, fresh)
      await reach(log.head)
      end('saved')
    })
    const rows = rowsOf(fresh)
    expect(rows.marks?.length).toBeGreaterThan(10)
    expect(rowsOf(indexPathOf(path))).toEqual(rows)
    const other = copied(path)
    expect(await everythingOfTurns(await gatewayOn(path))).toEqual(
      await everythingOfTurns(await gatewayOn(other)),
    )
  })

  test('is pruned twice like once', async () => {
    const path = await logged(randomFields(5, length))
    const rows = async (...boundaries: number[]): Promise<unknown> => {
      const file = copied(path)
      await withLog(file, async (log) => {
        const { through: reach, pruned, end } = building(log, indexPathOf(file))
        for (const boundary of boundaries) {
          await reach(boundary + 20)
          await prune(log, boundary)
          await pruned(boundary)
        }
        await reach(log.head)
        end('saved')
      })
      return rowsOf(indexPathOf(file))
    }
    expect(await rows(70, 120, 200)).toEqual(await rows(200))
  })
})

interface Step {
  readonly id: string
  readonly seq: number
  readonly step_number: number
  readonly turn_id: string
  readonly turn_number: number | null
  readonly state: string
  readonly content: string
}

describe('a turn in the middle of which the log is pruned', () => {
  // The clock advances by days while ben is not connected: his contexts must not be abandoned.
  const settings = { retention: { days: 10 }, reasoning: { abandonAfterMs: 30 * day } }

  async function pruned(store: LogStore, after: Sent[] = []) {
    const clock = new FakeClock()
    const staged = await stage({ store, clock, ...settings })
    const { say, as, gateway } = staged
    await say(
      ['ana', chat('ask', 'SECRET question')],
      [
        'ben',
        begin('run', 'ask', 'OLD start'),
        thought('run', 'OLD thought\n1. look'),
        call('one', 'run', 'look', 'OLD why'),
      ],
      ['tool', result('one', 'OLD result')],
    )
    clock.advance(9 * day)
    await say(['ben', thought('run', 'NEW thought'), call('two', 'run', 'act', 'NEW why')])
    const steps = async () => ((await as('ana').json('/audit')) as { steps: Step[] }).steps
    const before = { steps: await steps(), turns: await createTurns(staged, 'ana') }
    const oldest = () => gateway.report()[0]
    const log = await store.open('test')
    const ready = async (): Promise<boolean> => {
      clock.advance(hour)
      return log.oldest > 1
    }
    await expect.poll(ready, { interval: 5 }).toBe(true)
    if (after.length > 0) await say(['ben', ...after])
    return { ...staged, log, steps, before, oldest }
  }

  test('says so, and keeps its number, its id, and the ids and numbers of its steps', async () => {
    const path = temporaryFile('log.db')
    const staged = await pruned(await sqliteStore({ path }))
    const { before, steps, say, log, close } = staged
    expect(before.turns.turns).toMatchObject([{ turn_number: 1, user_input: 'SECRET question' }])
    expect(before.turns.turns[0]).not.toHaveProperty('truncated')
    await say(['tool', result('two', 'acted')])
    const after = await steps()
    // The question is pruned, so no one is known to have asked it.
    const kept = before.steps.filter(({ seq }) => seq >= log.oldest)
    expect(after.slice(1)).toEqual(kept.map((step) => ({ ...step, asked_by: null })))
    expect(after.map(({ step_number, turn_number }) => [step_number, turn_number])).toEqual([
      [4, 1],
      [3, 1],
    ])
    expect(new Set(after.map(({ turn_id }) => turn_id))).toEqual(
      new Set(before.steps.map(({ turn_id }) => turn_id)),
    )
    const { turns } = await createTurns(staged, 'ana')
    expect(turns).toMatchObject([
      {
        ...{ turn_number: 1, truncated: true, user_input: null, state: 'running' },
        tool_calls: [{ name: 'act', has_result: true }],
      },
    ])
    const markdown = await (await staged.as('ana').get('/audit/export?format=markdown')).text()
    for (const text of [JSON.stringify([turns, after]), markdown]) expect(text).not.toMatch(/OLD|SECRET/)

    await close()
    const again = await stage({
      store: await sqliteStore({ path }),
      clock: new FakeClock(Date.UTC(2026, 0, 11)),
      ...settings,
    })
    expect((await createTurns(again, 'ana')).turns).toEqual(turns)
  })

  test.for([
    ['a conclusion', [conclude('run')], 'running'],
    ['a cancel', [{ kind: 'reasoning.cancel', context: 'run', payload: { reason: 'enough' } }], 'cancelled'],
    ['an answer', [conclude('run'), chat('is', 'done', { correlationId: 'ask' })], 'completed'],
  ] as const)('is ended by %s', async ([, more, state]) => {
    const staged = await pruned(await sqliteStore({ path: temporaryFile('log.db') }), [...more])
    expect((await createTurns(staged, 'ana')).turns).toMatchObject([
      { turn_number: 1, truncated: true, state },
    ])
    expect((await staged.steps())[0]).toMatchObject({ state, turn_number: 1 })
  })
})
