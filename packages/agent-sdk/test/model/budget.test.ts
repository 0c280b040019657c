import type { LogPage } from '@meup/agent-sdk/http'
import { Kind } from '@meup/protocol'
import { expect, test } from 'vitest'
import { DayBudget } from '../../src/model/budget.js'

const hour = 3_600_000

/**
 * A budget of tokens per day. In its log, runs of the agent ended this many hours ago, latest first, and their conclusions
 * state these tokens; one conclusion per page.
 */
function budgetAfter(conclusions: readonly (readonly [hoursAgo: number, tokens: object])[], limit = 100) {
  let now = Date.parse('2026-11-29T12:00:00Z')
  const asked: unknown[] = []
  const budget = new DayBudget({
    tokensPerDay: limit,
    id: 'bot',
    clock: { now: () => now },
    http: {
      async *readLogPages(query) {
        asked.push(query)
        for (const [hoursAgo, tokens] of conclusions) {
          asked.push(hoursAgo)
          const ts = new Date(now - hoursAgo * hour).toISOString()
          yield {
            envelopes: [{ ts, payload: { metadata: { tokens } } }],
          } as unknown as LogPage
        }
      },
    },
  })
  const pass = (hours: number): void => {
    now += hours * hour
  }
  return { budget, asked, pass }
}

test('what was spent before a start counts, as far as it is no day old', async () => {
  const { budget, asked } = budgetAfter([
    [1, { input: 30, output: 10 }],
    [23, { input: 60 }],
    [25, { input: 1000 }],
    [26, { input: 1000 }],
  ])
  await expect(budget.open()).rejects.toMatchObject({
    code: 'day_limit',
    details: { used: 100, limit: 100, wait: '1 h' },
  })
  expect(asked).toEqual([{ from: 'bot', kind: Kind.reasoningConclusion, order: 'desc' }, 1, 23, 25])
})

test('a day later they are free again', async () => {
  const { budget, pass } = budgetAfter([])
  await budget.open()
  budget.add(60)
  pass(12)
  budget.add(60)
  await expect(budget.open()).rejects.toMatchObject({ code: 'day_limit', details: { used: 120, limit: 100 } })
  pass(12)
  await budget.open()
})

test('without a limit nothing is read', async () => {
  const { budget, asked } = budgetAfter([], Number.POSITIVE_INFINITY)
  budget.add(1e9)
  await budget.open()
  budget.check()
  expect(asked).toEqual([])
})

test('a log that cannot be read is read again', async () => {
  let reads = 0
  const budget = new DayBudget({
    ...{ tokensPerDay: 1, id: 'bot', clock: { now: () => 0 } },
    http: {
      // biome-ignore lint/correctness/useYield: it fails first
      async *readLogPages() {
        if (reads++ === 0) throw new Error('the gateway is away')
      },
    },
  })
  await expect(budget.open()).rejects.toThrow('away')
  await budget.open()
  expect(reads).toBe(2)
})
