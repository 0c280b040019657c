import { timeScale } from '@meup/observer/model'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const now = Date.UTC(2026, 0, 1, 12)
const hour = 3_600_000

/** Spans that begin in the last five hours; some have no end. */
const spans = fc
  .array(
    fc.record({
      from: fc.integer({ min: now - 5 * hour, max: now }),
      length: fc.option(fc.integer({ min: 0, max: hour })),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .map((all) =>
    all.map(({ from, length }) => ({ from, to: length === null ? undefined : Math.min(from + length, now) })),
  )

describe('an axis', () => {
  test('has every span in its order, from 0 to 1', () => {
    fc.assert(
      fc.property(spans, (all) => {
        const scale = timeScale(all, now)
        const moments = all.flatMap(({ from, to = now }) => [from, to]).sort((one, other) => one - other)
        const places = moments.map((ms) => scale.at(ms))
        expect(places.every((at) => at >= 0 && at <= 1)).toBe(true)
        expect(places).toEqual([...places].sort((one, other) => one - other))
        expect(scale.at(moments[0] ?? 0)).toBe(0)
      }),
    )
  })

  test('has ticks at round moments that do not meet, and none in a pause', () => {
    fc.assert(
      fc.property(spans, (all) => {
        const { ticks, pauses, at } = timeScale(all, now)
        for (const [index, tick] of ticks.entries()) {
          expect(tick.ms % 100).toBe(0)
          expect(tick.at).toBe(at(tick.ms))
          expect(tick.at - (ticks[index - 1]?.at ?? -1)).toBeGreaterThan(0.1)
          expect(tick.at).toBeLessThanOrEqual(0.9)
          for (const { from, to } of pauses) expect(tick.at > from + 1e-9 && tick.at < to - 1e-9).toBe(false)
        }
      }),
    )
  })

  test('makes little of a time in which nothing happened', () => {
    const scale = timeScale(
      [
        { from: now - 3 * hour, to: now - 3 * hour + 10_000 },
        { from: now - 10_000, to: now },
      ],
      now,
    )
    expect(scale.pauses).toHaveLength(1)
    const [pause] = scale.pauses
    expect(pause?.ms).toBe(3 * hour - 20_000)
    expect((pause?.to ?? 1) - (pause?.from ?? 0)).toBeLessThan(0.1)
    expect(scale.at(now - 3 * hour + 10_000)).toBeGreaterThan(0.4)
  })

  test('stays as it is while something goes on, until the next round moment', () => {
    const going = [{ from: now - 60_000, to: undefined }]
    const first = timeScale(going, now + 100)
    const soon = timeScale(going, now + 900)
    expect(soon.at(now - 30_000)).toBe(first.at(now - 30_000))
    expect(soon.at(now + 900)).toBeGreaterThan(first.at(now + 100))
  })

  test('is there where there is nothing to show', () => {
    expect(timeScale([], now)).toMatchObject({ pauses: [] })
    expect(timeScale([{ from: now, to: now }], now).at(now)).toBe(0)
  })
})
