import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Settling } from '../src/settling.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

/** Runs `Settling.wait` with an update at each of these times. Resolves with the milliseconds until it has resolved. */
async function settle(
  state: { isEmpty?: boolean; hasOpenCalls?: boolean },
  updates: readonly (readonly [ms: number, change?: () => void])[] = [],
): Promise<number> {
  const settling = new Settling(() => ({
    isEmpty: false,
    hasOpenCalls: false,
    isCancelled: false,
    ...state,
  }))
  const since = performance.now()
  const over = settling.wait().then(() => performance.now() - since)
  for (const [ms, change] of updates) {
    await vi.advanceTimersByTimeAsync(ms - (performance.now() - since))
    change?.()
    settling.onUpdate()
  }
  await vi.runAllTimersAsync()
  return over
}

test('an answer is whole 150 ms after the last update', async () => {
  expect(await settle({})).toBe(150)
  expect(await settle({}, [[100], [200]])).toBe(350)
})

test('one that goes on without end is waited for two seconds', async () => {
  const updates = Array.from({ length: 30 }, (_, at) => [100 * (at + 1)] as const)
  expect(await settle({}, updates)).toBe(2000)
})

test('one without text is waited for two seconds, and ends after the first of it', async () => {
  const state = { isEmpty: true }
  expect(await settle(state)).toBe(2000)
  const empty = { isEmpty: true }
  const write = (): void => {
    empty.isEmpty = false
  }
  expect(await settle(empty, [[700], [1000, write]])).toBe(1150)
})

test('a call that goes on is waited for, while the agent says something', async () => {
  expect(await settle({ hasOpenCalls: true })).toBe(2000)
  const open = { hasOpenCalls: true }
  const end = (): void => {
    open.hasOpenCalls = false
  }
  expect(await settle(open, [[1900], [3700, end]])).toBeLessThanOrEqual(3850)
  const updates = Array.from({ length: 20 }, (_, at) => [1000 * (at + 1)] as const)
  expect(await settle({ hasOpenCalls: true }, updates)).toBe(10_000)
})
