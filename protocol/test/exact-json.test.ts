import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { copyNumberTexts, parseExact, stringifyExact } from '../src/index.js'

const written = (json: string): string | undefined => stringifyExact(parseExact(json))

describe('numbers are written with the digits that were read', () => {
  test.for([
    '{"id":9007199254740993}',
    '[2047948614742839297,-2047948614742839297]',
    '{"price":0.1000,"whole":1.0,"minus":-0,"minusToo":-0.0}',
    '{"a":1e5,"b":1E+2,"c":1.50e-3,"d":1e400,"e":0.0000001,"f":0.12345678901234567890}',
    '{"a":{"b":[{"c":9007199254740993}]},"d":"9007199254740993","e":[[],{}]}',
    '{"1":9007199254740993,"a b":1.0,"\\"":1.0,"\\u00e9":2.0}'.replace('\\u00e9', 'é'),
    '[1,2,[3,9007199254740993],{"x":"1.0"},1.0]',
    '{"__proto__":1.0,"constructor":{"length":2.0},"toString":3.0}',
    '{"a":"\\\\","b":1.0,"c":"\\\\\\"9,\\"","d":2.0}',
  ])('%s', (json) => expect(written(json)).toBe(json))

  test('of any JSON, whatever white space is in it', () => {
    const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,24})(\.\d{1,20})?([eE][+-]?\d{1,3})?$/)
    const key = fc.string({ maxLength: 5 })
    const { json } = fc.letrec<{ json: string }>((tie) => ({
      json: fc.oneof(
        { maxDepth: 4 },
        digits,
        fc.string().map((text) => JSON.stringify(text)),
        fc.constantFrom('null', 'true', 'false'),
        fc.array(tie('json'), { maxLength: 4 }).map((all) => `[${all.join(', ')}]`),
        fc
          .uniqueArray(fc.tuple(key, tie('json')), { maxLength: 4, selector: ([name]) => name })
          .map((all) => `{${all.map(([name, each]) => `${JSON.stringify(name)} :\t${each}`).join('\n,')}}`),
      ),
    }))
    const withoutSpace = (text: string): string =>
      text.replace(/"(?:[^"\\]|\\.)*"|\s+/g, (part) => (part.startsWith('"') ? part : ''))
    // Compares tokens as sets, because JavaScript lists integer keys first.
    const sorted = (text: string): string[] => (text.match(/"(?:[^"\\]|\\.)*"|[^\s"{}[\],:]+/g) ?? []).sort()
    fc.assert(
      fc.property(json, (each) => {
        const text = written(`[${each}]`) ?? ''
        expect(sorted(text)).toEqual(sorted(withoutSpace(`[${each}]`)))
        expect(JSON.parse(text)).toEqual(JSON.parse(`[${each}]`))
      }),
      { numRuns: 500 },
    )
  })
})

test('a value without such numbers is written as JSON.stringify writes it', () => {
  const value = {
    a: undefined,
    b: [undefined, () => 1],
    c: new Date(0),
    d: { toJSON: () => 5 },
    e: Number.NaN,
  }
  expect(stringifyExact(value)).toBe(JSON.stringify(value))
  expect(stringifyExact(undefined)).toBeUndefined()
  expect(stringifyExact('é')).toBe('"é"')
})

describe('beside such a number', () => {
  const read = () => parseExact('{"id":9007199254740993,"in":{"n":1.0}}') as { id: number; in: { n: number } }

  test('other members are written as JSON.stringify writes them', () => {
    const value = { ...read(), a: undefined, b: [undefined], c: new Date(0), d: () => 1 }
    expect(stringifyExact({ value })).toBe(
      '{"value":{"id":9007199254740992,"in":{"n":1.0},"b":[null],"c":"1970-01-01T00:00:00.000Z"}}',
    )
  })
  test('a copy has its digits by copyNumberTexts', () => {
    const original = read()
    expect(stringifyExact(copyNumberTexts({ more: 1, ...original }, original))).toBe(
      '{"more":1,"id":9007199254740993,"in":{"n":1.0}}',
    )
  })
  test('a number that has been replaced is the new one', () => {
    const value = read()
    value.id = 7
    value.in.n = 2
    expect(stringifyExact(value)).toBe('{"id":7,"in":{"n":2}}')
  })
  test('of a key that is there twice the last one counts', () => {
    expect(written('{"a":{"b":1.0},"a":{"b":1}}')).toBe('{"a":{"b":1}}')
    expect(written('{"a":{"b":1.0},"a":2}')).toBe('{"a":2}')
    expect(written('{"a":5,"a":[2.0]}')).toBe('{"a":[2.0]}')
  })
})

test('what is no JSON is refused as by JSON.parse', () => {
  for (const text of ['', '{', '{"a":01}', '[1.]', 'NaN']) expect(() => parseExact(text)).toThrow(SyntaxError)
})

test('deep nesting neither overflows the stack nor loses members', () => {
  const deep = `${'['.repeat(4000)}1.0${']'.repeat(4000)}`
  expect(written(deep)).toBe(`${'['.repeat(4000)}1${']'.repeat(4000)}`)
  expect(written(`[${deep},1.0]`)).toMatch(/\],1\.0\]$/)
})
