import {
  areSameDay,
  countText,
  dayText,
  dropHalfLink,
  hueOf,
  initialsOf,
  namesHost,
  readRoute,
  setHourCycle,
  sizeText,
  whenText,
  writeRoute,
} from '@meup/observer/model'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../../../test/support/any-character.js'

test.each([
  [812, '812 B'],
  [1800, '1.8 KB'],
  [1_800_000, '1.8 MB'],
  [214_000_000, '214 MB'],
])('%i bytes are %s', (bytes, text) => expect(sizeText(bytes)).toBe(text))

test('things are counted', () => {
  expect([countText(1, 'tool'), countText(1200, 'tool')]).toEqual(['1 tool', '1,200 tools'])
})

test('a name has its colour and initials, and the first twelve colours differ', () => {
  expect(hueOf('planner')).toBe(hueOf('planner'))
  const hues = Array.from({ length: 11 }, (_, at) => hueOf(`agent-${at}`))
  expect(new Set([hueOf('planner'), ...hues]).size).toBe(12)
  expect(hueOf('one more')).toBe(hueOf('one more'))
  expect(['security-agent', 'ana', 'x', 'Ünal'].map(initialsOf)).toEqual(['SA', 'AN', 'X', 'ÜN'])
})

describe('addresses', () => {
  test('name a space, and an envelope in it', () => {
    expect(readRoute('#/s/demo?e=120')).toEqual({ space: 'demo', seq: 120 })
    expect(readRoute(writeRoute({ space: 'demo', seq: 7 }))).toEqual({ space: 'demo', seq: 7 })
    expect(readRoute(writeRoute({ space: 'demo' }))).toEqual({ space: 'demo' })
    expect(readRoute(writeRoute({}))).toEqual({})
  })

  test('keep what is seen of it, readable', () => {
    const route = {
      ...{ space: 'demo', seq: 7, context: 'r1/n_1', view: 'lanes', query: 'Größe & 50 %=#?' },
      ...{ from: ['ana', 'bot-1'], sorts: ['chat', 'tools'] },
    }
    const hash = writeRoute(route)
    expect(hash).toContain('ctx=r1/n_1')
    expect(hash).toContain('from=ana,bot-1')
    expect(readRoute(hash)).toEqual(route)
  })

  test('that others have written may hold anything', () => {
    const odd = fc.array(
      fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom('&', '=', 'e', 'q', '%', 'ctx')),
    )
    fc.assert(
      fc.property(odd, (parts) => {
        const route = readRoute(`#/s/demo?${parts.join('')}`)
        expect(readRoute(writeRoute(route))).toEqual(route)
      }),
    )
    expect(readRoute('#/s/demo?ctx=../x&from=%3Cb%3E,ana&only=<b>&view=1&e=1e3')).toEqual({
      space: 'demo',
      from: ['ana'],
    })
  })

  test.each(['', '#', '#/x/demo', '#/s/', '#/s/Not A Space', '#/s/../etc'])(
    'that are none are left: %s',
    (hash) => {
      expect(readRoute(hash)).toEqual({})
    },
  )

  test.each(['0', '-1', '1.5', 'x', '9007199254740993'])('name no envelope by %s', (seq) => {
    expect(readRoute(`#/s/demo?e=${seq}`)).toEqual({ space: 'demo' })
  })
})

test.for([
  ['https://example.org/a', 'https://example.org/a', true],
  ['https://example.org', 'https://example.org/b', true],
  ['example.org', 'https://example.org/c', true],
  ['the notes', 'https://example.org/d', false],
  ['https://example.org@evil.example', 'https://example.org@evil.example', false],
  ['https://example.org.evil.example', 'https://example.org.evil.example/', true],
  ['https://example.org', 'https://example.org.evil.example', false],
  ['https://ex\u0430mple.org', 'https://ex\u0430mple.org', false],
] as const)('a link that says %s and leads to %s says its host: %s', ([text, href, says]) => {
  expect(namesHost(text, new URL(href))).toBe(says)
})

test('a moment has its day unless that is today, and its year unless that is this one', () => {
  const now = new Date(2026, 10, 27, 9)
  const at = (...parts: [number, number, number, number, number]): string => new Date(...parts).toISOString()
  expect(whenText(at(2026, 10, 27, 8, 5), now)).toBe('08:05')
  expect(whenText(at(2026, 10, 26, 19, 45), now)).toBe('26 Nov 19:45')
  expect(whenText(at(2025, 10, 26, 19, 45), now)).toBe('26 Nov 2025 19:45')
  expect(dayText(at(2026, 10, 26, 19, 45), now)).toBe('Thursday, 26 November')
  expect(areSameDay(at(2026, 10, 26, 0, 0), at(2026, 10, 26, 23, 59))).toBe(true)
})

describe('a link that is being written', () => {
  test.each([
    ['see [the rep', 'see the rep'],
    ['see [the report]', 'see the report'],
    ['see [the report](https://exa', 'see the report'],
    ['see [the report][not', 'see the report'],
    ['a ![chart](https://ex', 'a chart'],
    ['see [the report](https://example.org) and', 'see [the report](https://example.org) and'],
    ['a list[', 'a list'],
    ['`list[', '`list['],
    ['```ts\nlist[0](', '```ts\nlist[0]('],
    ['```ts\nlist[0]\n```\nsee [the rep', '```ts\nlist[0]\n```\nsee the rep'],
    ['say `a` or [b', 'say `a` or b'],
  ])('%j shows as %j', (text, shown) => expect(dropHalfLink(text)).toBe(shown))
})

test('times are written with twelve hours, where their reader wants that', () => {
  const ts = new Date(2026, 10, 26, 19, 45).toISOString()
  const now = new Date(2026, 10, 27)
  expect(whenText(ts, now)).toBe('26 Nov 19:45')
  expect(setHourCycle('h12')).toBe(true)
  expect(setHourCycle('h12')).toBe(false)
  expect(whenText(ts, now)).toMatch(/^26 Nov 0?7:45\sPM$/)
  setHourCycle('h23')
})
