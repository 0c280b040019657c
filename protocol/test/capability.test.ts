import {
  type Capability,
  compileCapabilities,
  compilePattern,
  holdsLiteral,
  type Subject,
} from '@meup/protocol'
import { describe, expect, test } from 'vitest'

const reasoning = ['reasoning.start', 'reasoning.thought', 'reasoning.conclusion'] as const

function allowed(capability: Capability, envelope: Partial<Subject>): boolean {
  return compileCapabilities([capability]).allows({ kind: 'chat', payload: {}, ...envelope }).allowed
}

/** Filters `kinds` by a pattern. */
const kindsOf = (kind: string | string[], kinds: readonly string[]) =>
  kinds.filter((k) => allowed({ kind }, { kind: k }))
const payloadMatches = (pattern: unknown, payload: unknown) =>
  allowed({ kind: 'chat', payload: pattern } as Capability, { payload })

test('[M23] reasoning/* allows any reasoning message, as reasoning.* does, and nothing else', () => {
  for (const pattern of ['reasoning/*', 'reasoning.*', 'reasoning.**', 'reasoning/**']) {
    expect(kindsOf(pattern, [...reasoning, 'reasoning.cancel', 'chat', 'reasoning', 'mcp.request'])).toEqual([
      ...reasoning,
      'reasoning.cancel',
    ])
  }
})

test('[M24] reasoning/start allows starts only', () => {
  expect(kindsOf('reasoning/start', [...reasoning, 'chat'])).toEqual(['reasoning.start'])
  expect(kindsOf('reasoning.start', [...reasoning, 'chat'])).toEqual(['reasoning.start'])
})

test('[M25] reasoning/step allows thoughts only', () => {
  for (const pattern of ['reasoning/step', 'reasoning.step', ['reasoning/step']]) {
    expect(kindsOf(pattern, [...reasoning, 'reasoning.step', 'reasoning.cancel', 'chat'])).toEqual([
      'reasoning.thought',
    ])
  }
  expect(kindsOf('!reasoning/step', reasoning)).toEqual(['reasoning.start', 'reasoning.conclusion'])
})

test('[C01] both separators are one, in the pattern and in the kind', () => {
  for (const pattern of ['mcp.request', 'mcp/request', 'mcp.*', 'mcp/*', 'mcp\\/request']) {
    expect(kindsOf(pattern, ['mcp.request', 'mcp/request'])).toEqual(['mcp.request', 'mcp/request'])
  }
  expect(kindsOf('!mcp.request', ['mcp/request', 'chat/cancel'])).toEqual(['chat/cancel'])
})

describe('kinds', () => {
  const kinds = ['chat', 'chat.cancel', 'mcp.request', 'acme.a.b', 'acme.a.b.c', 'observe.visibility']
  test.each<[string | string[], string[]]>([
    ['*', kinds],
    ['**', kinds],
    ['chat', ['chat', 'chat.cancel']],
    [['chat'], ['chat', 'chat.cancel']],
    [['chat', 'chat'], ['chat']],
    ['chat*', ['chat']],
    ['chat**', ['chat', 'chat.cancel']],
    ['*.*', ['chat.cancel', 'mcp.request', 'observe.visibility']],
    ['acme.*', []],
    ['acme.**', ['acme.a.b', 'acme.a.b.c']],
    ['acme/?/?', ['acme.a.b']],
    ['acme??.b', []],
    ['re:acme\\..*b', ['acme.a.b']],
    ['re:acme/.*', []],
    ['!chat', kinds.slice(1)],
    [
      ['*', '!acme.**', '!observe.*'],
      ['chat', 'chat.cancel', 'mcp.request'],
    ],
    [
      ['!chat', '!mcp.*'],
      ['chat.cancel', 'acme.a.b', 'acme.a.b.c', 'observe.visibility'],
    ],
    [
      ['chat', 'mcp.*'],
      ['chat', 'mcp.request'],
    ],
  ])('%j', (pattern, expected) => {
    expect(kindsOf(pattern, kinds)).toEqual(expected)
  })
})

test('observe.targeted is conferred by its literal only', () => {
  const globs = [
    '*',
    '**',
    'observe.*',
    'observe.targete?',
    '!chat',
    're:observe.targeted',
    'observe\\.targeted',
  ]
  for (const kind of [...globs, ['observe.targeted']]) {
    expect(kindsOf(kind, ['observe.targeted', 'observe/targeted'])).toEqual([])
    expect(holdsLiteral([{ kind }], 'observe.targeted')).toBe(false)
  }
  for (const kind of ['observe.targeted', 'observe/targeted']) {
    expect(kindsOf(kind, ['observe.targeted', 'observe.visibility'])).toEqual(['observe.targeted'])
    expect(holdsLiteral(['chat', kind], 'observe.targeted')).toBe(true)
  }
  expect(holdsLiteral([{ kind: 'observe.targeted', to: '**', context: '**' }], 'observe.targeted')).toBe(true)
  expect(holdsLiteral([{ kind: 'observe.targeted', context: 'a' }], 'observe.targeted')).toBe(false)
  expect(holdsLiteral([{ kind: 'observe.targeted', to: 'a' }], 'observe.targeted')).toBe(false)
  expect(holdsLiteral([{ kind: 'observe.targeted', payload: {} }], 'observe.targeted')).toBe(false)
})

describe('strings', () => {
  test.each<[string | string[], string[], string[]]>([
    ['', [''], ['a']],
    ['a/b', ['a/b'], ['a.b', 'a', 'a/b/']],
    ['*', ['', 'a', 'a.b', 'a\n'], ['a/b', '/']],
    ['**', ['', 'a/b', '/'], []],
    ['***', ['a/b'], []],
    ['a?', ['ab', 'a😀'], ['a', 'a/', 'abc']],
    ['a*', ['a', 'abc'], ['a/b', 'b']],
    ['a/**', ['a/', 'a/b/c'], ['a', 'ab']],
    ['*.ts', ['.ts', 'a.b.ts'], ['a/b.ts', 'a.tsx']],
    ['**/*.ts', ['a/b.ts', 'a/b/c.ts', '/.ts'], ['b.ts', 'a/b.ts/c']],
    ['a*b*c', ['abc', 'a-b-b-c'], ['ac', 'ab/c']],
    ['a*a', ['aa', 'aba'], ['a', 'ab']],
    ['a**a', ['aa', 'a/a'], ['a', '']],
    ['src/*/test/**', ['src/x/test/', 'src/x/test/a/b'], ['src/x/y/test/a', 'src/x/test']],
    ['**a*b/c', ['x/aab/c', 'a/ab/c'], ['ab/xc', 'a/b/c']],
    ['\\*', ['*'], ['a', '\\*']],
    ['\\!a', ['!a'], ['a', 'b']],
    ['\\re:a', ['re:a'], ['a']],
    ['a\\\\', ['a\\'], ['a']],
    ['!a*', ['b', 'a/b', ''], ['a', 'ab']],
    ['!', ['a'], ['']],
    [
      ['read_*', '!read_secret*'],
      ['read_', 'read_file'],
      ['read_secret', 'read_secrets', 'write'],
    ],
    [['!a', '!b'], ['c'], ['a', 'b']],
    ['re:a|b', ['a', 'b'], ['ab', 'ac', 'cb']],
    ['re:(?i)ab?', ['A', 'aB'], ['aBc']],
    ['re:a.c', ['abc', 'a/c'], ['a\nc']],
    ['re:', [''], ['a']],
    ['!re:a+', ['', 'b'], ['a', 'aa']],
    ['/^a+/', ['aa'], ['/^a+/', 'ab', 'ba']],
    ['/a+$/', ['aa'], ['/a+$/', 'ba']],
    ['!/^a/', ['b', '/^a/'], ['a']],
    ['/srv/data/', ['/srv/data/'], ['srv/data']],
    ['/srv/*/', ['/srv/x/'], ['/srv/x', '/srv/x/y/']],
    ['/', ['/'], ['']],
    ['constructor', ['constructor'], ['']],
  ])('%j', (pattern, matching, others) => {
    const matches = compilePattern(pattern)
    expect(matching.filter((value) => !matches(value))).toEqual([])
    expect(others.filter((value) => matches(value))).toEqual([])
    expect(payloadMatches({ v: pattern }, { v: matching[0] })).toBe(true)
  })

  test('long globs, wherever their wildcards stand', () => {
    for (let length = 0; length < 100; length++) {
      const text = 'x'.repeat(length)
      const matches = compilePattern(`?${text}*y?`)
      expect([`a${text}yb`, `a${text}zyb`, `a${text}yyb`].map((each) => matches(each))).toEqual([
        true,
        true,
        true,
      ])
      expect([`a${text}y`, `a${text}/yb`, `a${text}x`, `${text}yb`].map((each) => matches(each))).toEqual([
        false,
        false,
        false,
        false,
      ])
    }
  })

  test('kinds as in subscriptions', () => {
    const matches = compilePattern(['reasoning/*', '!reasoning.start'], { kinds: true })
    expect(
      ['reasoning.thought', 'reasoning/thought', 'reasoning.start', 'chat'].map((each) => matches(each)),
    ).toEqual([true, true, false, false])
  })
})

describe('addressees', () => {
  test.each<
    [string | string[] | undefined, (readonly string[] | undefined)[], (readonly string[] | undefined)[]]
  >([
    [undefined, [undefined, [], ['a'], ['a', 'b']], []],
    ['**', [undefined, [], ['a'], ['a', 'b']], []],
    ['*', [['a'], ['a', 'system:gateway']], [undefined, []]],
    ['a', [['a'], ['a', 'a']], [undefined, [], ['b'], ['a', 'b']]],
    [['a', 'b'], [['a'], ['a', 'b']], [['a', 'c']]],
    ['!a', [['b'], ['b', 'c']], [undefined, [], ['a'], ['a', 'b']]],
    [['**', '!a'], [['b']], [undefined, [], ['a', 'b']]],
  ])('%j', (to, matching, others) => {
    const capability = to === undefined ? 'chat' : { kind: 'chat', to }
    expect(matching.filter((ids) => !allowed(capability, { to: ids }))).toEqual([])
    expect(others.filter((ids) => allowed(capability, { to: ids }))).toEqual([])
  })
})

describe('contexts', () => {
  test.each<[string | string[], (string | undefined)[], (string | undefined)[]]>([
    ['**', [undefined, 'a', 'a/b'], []],
    ['*', ['a'], [undefined, 'a/b']],
    ['a/**', ['a/b', 'a/b/c'], [undefined, 'a', 'b/a']],
    ['!a', ['b', 'a/b'], [undefined, 'a']],
    [
      ['a', 'a/**'],
      ['a', 'a/b'],
      [undefined, 'ab'],
    ],
  ])('%j', (context, matching, others) => {
    expect(matching.filter((path) => !allowed({ kind: 'chat', context }, { context: path }))).toEqual([])
    expect(others.filter((path) => allowed({ kind: 'chat', context }, { context: path }))).toEqual([])
  })
})

describe('payloads', () => {
  test.each<[unknown, unknown[], unknown[]]>([
    [{}, [{}, { a: 1 }], [[], 'a', null, 1, undefined]],
    [{ a: 1 }, [{ a: 1 }, { a: 1, b: 2 }], [{}, { a: '1' }, { a: true }, { a: [1] }, { b: 1 }]],
    [{ a: true, b: null }, [{ a: true, b: null }], [{ a: true }, { a: 1, b: null }, { a: true, b: 0 }]],
    [{ a: 'x' }, [{ a: 'x' }], [{ a: ['x'] }, { a: { x: 'x' } }, { a: null }, {}]],
    [{ a: '**' }, [{ a: 'x' }, { a: '' }], [{ a: 1 }, { a: null }, { a: [] }, { a: {} }, {}]],
    [
      { a: '!x' },
      [{ a: 'y' }, { a: 1 }, { a: null }],
      [{ a: 'x' }, {}, { a: ['x'] }, { a: ['y'] }, { a: {} }],
    ],
    [{ a: [1, 'x*', { b: 2 }] }, [{ a: 1 }, { a: 'xy' }, { a: { b: 2 } }], [{ a: 2 }, { a: [1] }, { a: {} }]],
    [{ a: [{ b: 2 }, '!x'] }, [{ a: { b: 2 } }], [{ a: 'y' }, { a: 'x' }]],
    [{ a: [{ b: 1 }, { c: 1 }] }, [{ a: { b: 1 } }, { a: { c: 1 } }], [{ a: { d: 1 } }]],
    [{ '**': 'x' }, [{ a: 'x' }, { a: [{ b: ['y', 'x'] }] }], [{}, { x: 'y' }, 'x', ['x']]],
    [{ '**': { b: 1 } }, [{ a: { b: 1 } }, { a: [[{ b: 1 }]] }], [{ b: 1 }, { a: { b: 2 } }]],
    [{ a: 1, '**': 'x' }, [{ a: 1, b: 'x' }], [{ a: 1 }, { b: 'x' }]],
    [{ a: { '**': 5 } }, [{ a: { b: [5] } }], [{ a: 5 }, { a: {}, b: 5 }]],
    ['**', [], [{}, {}]],
  ])('%j', (pattern, matching, others) => {
    expect(matching.filter((payload) => !payloadMatches(pattern, payload))).toEqual([])
    expect(others.filter((payload) => payloadMatches(pattern, payload))).toEqual([])
  })

  test('looks at own fields only', () => {
    for (const key of ['toString', 'constructor', '__proto__', 'hasOwnProperty', 'length']) {
      const pattern = JSON.parse(`{"${key}": ["**", 1, {}, "!none"]}`)
      expect(payloadMatches(pattern, {})).toBe(false)
      expect(payloadMatches(pattern, JSON.parse(`{"${key}": 1}`))).toBe(true)
    }
    expect(payloadMatches({ admin: true }, Object.create({ admin: true }))).toBe(false)
    expect(payloadMatches({ '**': true }, Object.create({ admin: true }))).toBe(false)
  })

  test('reaches a value below ten thousand others, however deep', () => {
    let deep: unknown = 'x'
    for (let i = 0; i < 10_000; i++) deep = i % 2 === 0 ? [deep] : { a: deep }
    expect(payloadMatches({ '**': 'x' }, { deep })).toBe(true)
    expect(payloadMatches({ '**': 'y' }, { deep })).toBe(false)
  })
})

test('says which capability allowed it: the first that does', () => {
  const { allows, list } = compileCapabilities(['mcp.response', { kind: 'chat', to: 'a' }, 'chat*', 'chat'])
  expect(allows({ kind: 'chat', to: ['a'], payload: {} })).toEqual({ allowed: true, matched: 1 })
  expect(allows({ kind: 'chat', payload: {} })).toEqual({ allowed: true, matched: 2 })
  expect(allows({ kind: 'mcp.request', payload: {} })).toEqual({ allowed: false })
  expect(list).toHaveLength(4)
  expect(compileCapabilities([]).allows({ kind: 'chat', payload: {} })).toEqual({ allowed: false })
})

test.each([
  ['early', '', ''],
  ['behind what all begin with', 'a/very/long/beginning/that/all/names/share/', ''],
  ['at the end alone', '', '/and/a/very/long/end/that/all/names/share'],
])('tells many capabilities apart, which differ %s', (_, before, behind) => {
  const list = Array.from({ length: 200 }, (_, i) => ({
    kind: ['mcp.request', 'chat'],
    ...(i % 2 === 0 && { to: `${before}${i % 10}` }),
    payload: { params: { name: [`${before}${i}_**${behind}`, '!**secret**'] }, method: 'tools/call' },
  }))
  const { allows } = compileCapabilities(list)
  for (const [i, { to = 'anybody' }] of list.entries()) {
    const ask = (name: string) =>
      allows({ kind: 'mcp.request', to: [to], payload: { method: 'tools/call', params: { name } } }).matched
    expect(ask(`${before}${i}_file${behind}`)).toBe(i)
    expect(ask(`${before}${i}_secret${behind}`)).toBe(undefined)
    expect(ask(`${before}${i}${behind}`)).toBe(undefined)
    expect(ask(String(i))).toBe(undefined)
  }
})

test('answers the same for thousands of kinds and after them', () => {
  const { allows } = compileCapabilities(['acme.*', 'chat'])
  for (let i = 0; i < 5000; i++) {
    expect(allows({ kind: `acme.k${i}`, payload: {} }).matched).toBe(0)
    expect(allows({ kind: `other.k${i}`, payload: {} }).allowed).toBe(false)
  }
  expect(allows({ kind: 'chat', payload: {} }).matched).toBe(1)
  expect(allows({ kind: `acme.${'k'.repeat(100_000)}`, payload: {} }).matched).toBe(0)
})
