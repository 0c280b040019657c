import { describe, expect, test } from 'vitest'
import { findByPrefix, parseExpiry, parsePastTime, parseTimeSpan } from '../src/lib/options.js'

const now = Date.parse('2026-01-02T03:04:05Z')

test.for([
  ['30s', 30_000],
  ['5m', 300_000],
  ['2h', 7_200_000],
  ['7d', 604_800_000],
] as const)('%s are %d ms', ([text, ms]) => {
  expect(parseTimeSpan(text, '--for')).toBe(ms)
})

test.for(['', '0s', '-1h', '1', '1w', '1.5h', '1h30m', 'ever', '1234567d', '1toString'])(
  '%j is no span',
  (text) => {
    expect(() => parseTimeSpan(text, '--for')).toThrow(
      `--for takes how long, such as 30s, 5m, 2h or 7d, not ${text}`,
    )
  },
)

describe('the end of a grant', () => {
  test('is so far from now, or the time that is said, or there is none', () => {
    expect(parseExpiry({ for: '1h' }, now)).toBe('2026-01-02T04:04:05.000Z')
    expect(parseExpiry({ until: '2027-01-01T01:00:00+01:00' }, now)).toBe('2027-01-01T00:00:00.000Z')
    expect(parseExpiry({}, now)).toBeUndefined()
  })

  test.for(['tomorrow', '2026-01-02', '2026-13-02T03:04:05Z', '1h'])('is not %j', (until) => {
    expect(() => parseExpiry({ until }, now)).toThrow(
      `--until takes a time, such as 2026-01-02T03:04:05Z, not ${until}`,
    )
  })

  test('is said once', () => {
    expect(() => parseExpiry({ for: '1h', until: '2027-01-01T00:00:00Z' }, now)).toThrow('not both')
  })
})

test('the past is told by time, or by how long ago', () => {
  expect(parsePastTime('1h', '--since', now)).toBe(now - 3_600_000)
  expect(parsePastTime('2026-01-02T03:04:05.500Z', '--since', now)).toBe(now + 500)
  expect(() => parsePastTime('1y', '--since', now)).toThrow('--since takes how long')
  expect(() => parsePastTime('yesterday', '--since', now)).toThrow('--since takes a time')
})

describe('what begins so', () => {
  const items = ['ab', 'abc', 'abd', '-x'].map((id) => ({ id }))

  test('is found where it is one, or exactly that', () => {
    expect(findByPrefix(items, 'abc', 'grant')?.id).toBe('abc')
    expect(findByPrefix(items, 'ab', 'grant')?.id).toBe('ab')
    expect(findByPrefix(items, '-', 'grant')?.id).toBe('-x')
    expect([findByPrefix(items, 'b', 'grant'), findByPrefix(items, '', 'grant')]).toEqual([
      undefined,
      undefined,
    ])
  })

  test('is asked for where it is several; not all of many are named', () => {
    expect(() => findByPrefix(items, 'a', 'grant')).toThrow('a may be any grant of ab, abc, abd')
    const many = Array.from({ length: 11 }, (_, at) => ({ id: `x${at}` }))
    expect(() => findByPrefix(many, 'x', 'grant')).toThrow(/x9, …; give more of its id$/)
    expect(() => findByPrefix(many.slice(1), 'x', 'grant')).toThrow(/x10; give more of its id$/)
  })
})
