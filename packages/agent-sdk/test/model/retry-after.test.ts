import { describe, expect, test } from 'vitest'
import { findWait, readWait } from '../../src/adapters/ai-sdk/retry-after.js'

const now = Date.parse('2026-11-28T18:00:00Z')
const [second, minute, hour] = [1000, 60_000, 3_600_000]

describe('when to ask again', () => {
  test.each<[after: string, ms: number | undefined]>([
    ['20', 20 * second],
    ['3.5', 3.5 * second],
    ['+20', 20 * second],
    ['"20"', 20 * second],
    ['20, 20', 20 * second],
    ['20; comment=x', 20 * second],
    ['0', 0],
    ['250ms', 250],
    ['120 seconds', 2 * minute],
    ['1h2m3.5s', hour + 2 * minute + 3.5 * second],
    ['1 hour and 5 minutes', hour + 5 * minute],
    ['PT1M30S', 1.5 * minute],
    ['P1DT2H', 26 * hour],
    ['Sat, 28 Nov 2026 18:00:30 GMT', 30 * second],
    ['Saturday, 28-Nov-26 18:00:30 GMT', 30 * second],
    ['2026-11-28T19:00:30+01:00', 30 * second],
    ['Sat, 28 Nov 2020 18:00:30 GMT', 0],
    ['1795888830', 30 * second],
    ['1795888830.5', 30.5 * second],
    ['1795888830000', 30 * second],
    ['999999999999', undefined],
    ['-5', undefined],
    ['Infinity', undefined],
    ['soon', undefined],
    ['', undefined],
  ])('as a header says: %j', (after, ms) => {
    expect(readWait({ 'retry-after': after }, now)).toBe(ms)
  })

  test('as the header in milliseconds says, which takes precedence', () => {
    expect(readWait({ 'retry-after-ms': '250', 'retry-after': '5' }, now)).toBe(250)
    expect(readWait({ 'retry-after-ms': 'x', 'retry-after': '5' }, now)).toBe(5 * second)
    expect(readWait({}, now)).toBeUndefined()
  })

  test.each<[body: string, ms: number | undefined]>([
    ['Please try again in 1h2m3s. Visit us.', hour + 2 * minute + 3 * second],
    ['Try again in 1 hour and 5 minutes.', hour + 5 * minute],
    ['Please retry after 20', 20 * second],
    ['You can retry after 250 milliseconds', 250],
    ['Rate limit resets in 2 hours', 2 * hour],
    ['The limit resets at 2026-11-28T18:00:30Z.', 30 * second],
    ['{"error":"slow","retry_after":12}', 12 * second],
    ['{"retry_after_ms":1200}', 1200],
    ['{"retryAfter":"5s"}', 5 * second],
    ['{"@type":"RetryInfo","retryDelay":"34.5s"}', 34.5 * second],
    ['{"error":{"type":"usage_limit_reached","resets_in_seconds":1234}}', 1234 * second],
    ['retry in a few seconds', undefined],
    ['we retry 3 times, with 3 models', undefined],
    ['wait 3 meters', undefined],
    ['{"code":429,"request":"req_5s"}', undefined],
  ])('as a body says: %s', (body, ms) => {
    expect(findWait(body, now)).toBe(ms)
  })

  test('is read of a large body in no time', () => {
    const body = `try again in ${'5s '.repeat(200_000)}${' '.repeat(200_000)}x`
    expect(findWait(body, now)).toBe(1e6 * second)
  })
})
