import { memoryStore } from '@meup/gateway'
import { FakeClock } from '@meup/gateway/testing'
import { expect, test } from 'vitest'
import { steadyClock } from '../src/ports/clock.js'
import { silent } from '../src/ports/logger.js'
import { operatorLog } from './guarded.js'
import { start } from './support.js'
import { act, chat, grant } from './trust.js'

function steadied() {
  const [clock, received] = [new FakeClock(0), [] as object[]]
  const steady = steadyClock(clock, { ...silent, warn: (fields) => received.push(fields) })
  const after = (ms: number): number => {
    clock.advance(ms)
    return steady.now()
  }
  return { clock, received, after }
}

test('a clock that goes on is left as it is', () => {
  const { received, after } = steadied()
  expect([after(0), after(1), after(86_400_000)]).toEqual([0, 1, 86_400_001])
  expect(received).toEqual([])
})

test('time never goes back: it goes on from where it was, a little slower until the clock has caught up', () => {
  const { clock, received, after } = steadied()
  expect(after(10_000)).toBe(10_000)
  expect(after(-2000)).toBe(10_000)
  expect(received).toEqual([{ backMs: 2000 }])
  expect(after(10_000)).toBe(19_000)
  expect(after(10_000)).toBe(28_000)
  expect(after(10_000)).toBe(clock.now())
  expect(after(500)).toBe(clock.now())
  expect(received).toHaveLength(1)
})

test('a clock that is put back again and again makes it stand at worst', () => {
  const { after } = steadied()
  const times = Array.from({ length: 100 }, (_, i) => after(i % 2 === 0 ? 700 : -900))
  expect(times).toEqual([...times].sort((a, b) => a - b))
})

test('what a clock is corrected by all day is not told', () => {
  const { received, after } = steadied()
  after(5000)
  after(-999)
  expect(received).toEqual([])
})

test('a log goes on from its last time where the clock is behind it at a start, and what has ended has ended', async () => {
  const [hourMs, spaces, log] = [3_600_000, new Map(), operatorLog()]
  const participants = { lead: ['*'], ann: ['chat'] }
  const begin = new FakeClock().now()
  const expiresAt = new Date(begin + hourMs).toISOString()

  const clock = new FakeClock(begin)
  const first = await start({ participants, clock, store: memoryStore(spaces) })
  const lead = await first.connect('lead')
  await lead.accepted(grant('ann', ['work.dig'], { expiresAt }))
  clock.advance(2 * hourMs)
  const last = await lead.accepted(chat())
  await first.close()

  const behind = new FakeClock(begin)
  const second = await start({
    participants,
    clock: behind,
    store: memoryStore(spaces),
    logger: log.logger,
  })
  expect(log.lines).toMatchObject([{ level: 'warn', fields: { space: 'test', aheadMs: 2 * hourMs } }])
  const ann = await second.connect('ann')
  expect(await ann.refused(act('work.dig'))).toMatchObject({ code: 'capability_violation' })
  const next = await ann.accepted(chat())
  expect(Date.parse(next.ts)).toBeGreaterThanOrEqual(Date.parse(last.ts))
  const again = await second.connect('lead')
  const refusal = await again.refused(grant('ann', ['work.dig'], { expiresAt }))
  expect(refusal).toMatchObject({ code: 'invalid_payload' })
  behind.advance(10_000)
  expect(Date.parse((await ann.accepted(chat())).ts) - Date.parse(next.ts)).toBe(9000)
})
