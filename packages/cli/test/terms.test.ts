import type { AnyEnvelope } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { valueForms } from '../src/failure/usage.js'
import { collectNames, findByPrefix } from '../src/lib/options.js'
import { formatLocalTime, parseExpiry, parseTime, parseTimeout, parseTimeSpan } from '../src/lib/times.js'
import { Conversation, markLines } from '../src/render/conversation.js'
import { useBerlinTime } from './support/berlin.js'
import { refused } from './support/refused.js'

/** This day is a Friday. */
const now = Date.parse('2026-01-02T03:04:05Z')
useBerlinTime()

test.for([
  ['500ms', 500],
  ['30s', 30_000],
  ['5m', 300_000],
  ['2h', 7_200_000],
  ['7d', 604_800_000],
  ['2', 2000],
  ['0.2', 200],
  ['1.5h', 5_400_000],
] as const)('%s are %d ms', ([text, ms]) => {
  expect(parseTimeSpan(text, '--for')).toBe(ms)
})

test.for(['', '0s', '0', '-1h', '1w', '1h30m', 'ever', '1234567d', '1toString', '.5', '1e3'])(
  '%j is no span',
  (text) => {
    expect(() => parseTimeSpan(text, '--for')).toThrow(
      refused('invalid_value', { option: '--for', value: text }),
    )
  },
)

test('a timer waits 24 days at most', () => {
  expect(parseTimeout('24d', '--timeout')).toBe(24 * 86_400_000)
  expect(() => parseTimeout('25d', '--timeout')).toThrow(refused('invalid_value', { value: '25d' }))
})

describe('a time in the past', () => {
  test.for<[text: string, time: string]>([
    ['2026-01-02T03:04:05.500Z', '2026-01-02T04:04:05+01:00'],
    ['2026-01-02T03:04:05-05:00', '2026-01-02T09:04:05+01:00'],
    ['1h', '2026-01-02T03:04:05+01:00'],
    ['7d', '2025-12-26T04:04:05+01:00'],
    ['today', '2026-01-02T00:00:00+01:00'],
    ['Yesterday', '2026-01-01T00:00:00+01:00'],
    ['tuesday', '2025-12-30T00:00:00+01:00'],
    ['tue 14:30', '2025-12-30T14:30:00+01:00'],
    ['friday', '2026-01-02T00:00:00+01:00'],
    ['thurs', '2026-01-01T00:00:00+01:00'],
    ['2025-07-24', '2025-07-24T00:00:00+02:00'],
    ['2025-07-24 14:30', '2025-07-24T14:30:00+02:00'],
    ['2025-07-24T14:30:15', '2025-07-24T14:30:15+02:00'],
    ['03:00', '2026-01-02T03:00:00+01:00'],
    ['14:30', '2026-01-01T14:30:00+01:00'],
  ])('%s is %s', ([text, time]) => {
    expect(formatLocalTime(parseTime(text, '--since', { now }))).toBe(time)
  })

  test.for([
    '',
    'tu',
    'someday',
    '2026-02-30',
    '2026-13-01',
    '24:00',
    'tuesday 9',
    '1y',
    '2026-1-2',
    'tuesday tuesday',
  ])('is not %j', (text) => {
    expect(() => parseTime(text, '--since', { now })).toThrow(
      refused('invalid_value', { expected: valueForms.pastTime, value: text }),
    )
  })
})

describe('the end of a grant', () => {
  test('is so far from now, or the time that is named, or there is none', () => {
    expect(parseExpiry({ for: '1h' }, now)).toBe('2026-01-02T04:04:05.000Z')
    expect(parseExpiry({ until: '2027-01-01T01:00:00+01:00' }, now)).toBe('2027-01-01T00:00:00.000Z')
    expect(parseExpiry({}, now)).toBeUndefined()
  })

  test.for<[until: string, time: string]>([
    ['tomorrow', '2026-01-02T23:00:00.000Z'],
    ['friday 12:00', '2026-01-09T11:00:00.000Z'],
    ['14:30', '2026-01-02T13:30:00.000Z'],
    ['03:00', '2026-01-03T02:00:00.000Z'],
    ['3h', '2026-01-02T06:04:05.000Z'],
  ])('is the next %s', ([until, time]) => {
    expect(parseExpiry({ until }, now)).toBe(time)
  })

  test('is neither over nor unreadable', () => {
    const read = (until: string) => () => parseExpiry({ until }, now)
    expect(read('yesterday')).toThrow(refused('past_time', { time: '2026-01-01T00:00:00+01:00' }))
    expect(read('2026-13-02T03:04:05Z')).toThrow(
      refused('invalid_value', { expected: valueForms.futureTime }),
    )
  })

  test('is named once', () => {
    const until = '2027-01-01T00:00:00Z'
    expect(() => parseExpiry({ for: '1h', until }, now)).toThrow(refused('option_conflict'))
  })
})

test('events are printed after their times and places, as far as asked for', () => {
  const chat = {
    seq: 7,
    id: 'a',
    from: 'ana',
    kind: 'chat',
    ts: '2026-01-02T03:04:05.678Z',
    payload: { message: 'one\ntwo' },
  }
  const print = (flags: object) => markLines(new Conversation(), flags).lines(chat as AnyEnvelope)
  expect(print({})).toEqual(['ana: one', '│ two'])
  expect(print({ time: true, seq: true })).toEqual(['2026-01-02T04:04:05+01:00  #7  ana: one', '│ two'])
  expect(print({ seq: true })).toEqual(['#7  ana: one', '│ two'])
})

test('names are listed with commas, or one option after another', () => {
  expect(collectNames('ana, ben', collectNames('eve'))).toEqual(['eve', 'ana', 'ben'])
  expect(collectNames(',')).toEqual([])
})

describe('what begins so', () => {
  const items = ['ab', 'abc', 'abd', '-x'].map((id) => ({ id }))

  test('is found where it is one, or exactly that', () => {
    expect(findByPrefix(items, 'abc', 'grant')?.id).toBe('abc')
    expect(findByPrefix(items, 'ab', 'grant')?.id).toBe('ab')
    expect(findByPrefix(items, '-', 'grant')?.id).toBe('-x')
    expect(
      findByPrefix(
        [
          { id: 'ab', seq: 4 },
          { id: 'x', seq: 5 },
        ],
        '#5',
        'grant',
      )?.id,
    ).toBe('x')
    expect([findByPrefix(items, 'b', 'grant'), findByPrefix(items, '', 'grant')]).toEqual([
      undefined,
      undefined,
    ])
  })

  test('is asked for where it is several; not all of many are named', () => {
    const ids = Array.from({ length: 11 }, (_, at) => `x${at}`)
    const find = (among: string[]) => () =>
      findByPrefix(
        among.map((id) => ({ id })),
        'x',
        'grant',
      )
    expect(find(ids)).toThrow(refused('ambiguous_id', { ids: [...ids.slice(0, 10), '…'] }))
    expect(find(ids.slice(1))).toThrow(refused('ambiguous_id', { what: 'grant', ids: ids.slice(1) }))
  })
})
