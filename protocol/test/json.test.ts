import { isDeeper, type Member, prescan, readElements, readObject } from '@meup/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../../test/support/any-character.js'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
const read = (text: string) => readObject(encode(text))

/** Parses the key and the value of a member. */
const entryOf = (bytes: Uint8Array, { keyStart, keyEnd, valueStart, valueEnd }: Member) => [
  JSON.parse(decode(bytes.subarray(keyStart, keyEnd))),
  JSON.parse(decode(bytes.subarray(valueStart, valueEnd))),
]

/** Strings with characters that could confuse a JSON scanner. */
const trickyString = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 40 }),
  fc.string({
    unit: fc.constantFrom('"', '\\', '{', '}', '[', ']', ':', ',', 'a', 'é', '\n'),
    maxLength: 120,
  }),
)
const jsonValue = fc.jsonValue({ stringUnit: anyCharacter, maxDepth: 6 })
const jsonObject = fc
  .dictionary(trickyString, fc.oneof(trickyString, jsonValue), { maxKeys: 8 })
  .filter((object) => !JSON.stringify(object).includes('"__proto__"'))
const indent = fc.constantFrom('', ' ', '\n\t')

/** Reasons for which `readObject` refuses JSON that `JSON.parse` accepts. */
const ourReasons = /not a JSON object|nested more than|is repeated|a lone surrogate|a key __proto__/

describe('readObject', () => {
  test('the spans of the members are the members', () => {
    fc.assert(
      fc.property(jsonObject, indent, (object, space) => {
        const bytes = encode(JSON.stringify(object, null, space))
        const result = readObject(bytes)
        if (typeof result === 'string') throw new Error(result)
        expect(result.value).toEqual(JSON.parse(decode(bytes)))
        expect(Object.fromEntries(result.members.map((member) => entryOf(bytes, member)))).toEqual(
          result.value,
        )
        expect(result.members).toHaveLength(Object.keys(object).length)
        for (const { valueStart, valueEnd } of result.members) {
          const text = decode(bytes.subarray(valueStart, valueEnd))
          expect(text).toBe(text.trim())
        }
      }),
      { numRuns: 500 },
    )
  })

  test('a key is repeated when two mean the same, at any depth', () => {
    const key = fc.constantFrom('a', 'b', '"', '\\', '', 'é', '1')
    const written = fc.tuple(key, fc.boolean()).map(([text, escaped]) => ({
      text,
      json: escaped
        ? `"${[...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
        : JSON.stringify(text),
    }))
    const around = fc.constantFrom('X', '{"x":X}', '[1,X]', '{"x":[{"y":X}]}')
    fc.assert(
      fc.property(fc.array(written, { maxLength: 5 }), around, (keys, outside) => {
        const object = `{${keys.map(({ json }) => `${json}:{"a":":"}`).join(',')}}`
        const result = read(`{"payload":${outside.replace('X', () => object)}}`)
        const repeats = new Set(keys.map(({ text }) => text)).size < keys.length
        expect(result).toEqual(repeats ? 'a key is repeated in one object' : expect.any(Object))
      }),
    )
  })

  const agreesWithTheParser = (bytes: Uint8Array): void => {
    const result = readObject(bytes)
    let parsed: unknown
    try {
      parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
    } catch {
      expect(typeof result).toBe('string')
      return
    }
    if (typeof result === 'string') expect(result).toMatch(ourReasons)
    else {
      expect(result.value).toEqual(parsed)
      expect(result.members.map((member) => entryOf(bytes, member)[0]).sort()).toEqual(
        Object.keys(result.value).sort(),
      )
    }
  }

  test('damaged bytes are read as the parser reads them, and never throw', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 3 })
    fc.assert(
      fc.property(jsonObject, damage, fc.nat(), (object, changes, cut) => {
        const bytes = encode(JSON.stringify(object))
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte
        agreesWithTheParser(bytes.subarray(0, cut % 3 === 0 ? cut % (bytes.length + 1) : bytes.length))
      }),
      { numRuns: 1000 },
    )
  })

  test('random tokens are read as the parser reads them, and never throw', () => {
    const token = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"',
      '\\',
      '"a"',
      '"b"',
      '1',
      ' ',
      'null',
      'é',
    )
    fc.assert(
      fc.property(fc.array(token, { maxLength: 12 }), (tokens) =>
        agreesWithTheParser(encode(tokens.join(''))),
      ),
      { numRuns: 5000 },
    )
  })

  test('strings end where they end, however long and however escaped', () => {
    for (let length = 0; length <= 80; length++) {
      for (const filling of ['a', '\\', '"', '\\"', 'a\\', 'é']) {
        const message = filling.repeat(length)
        expect(read(JSON.stringify({ message, ',{': 1 }))).toMatchObject({ value: { message, ',{': 1 } })
      }
    }
  })

  test('bytes that are no UTF-8 are refused', () => {
    const bytes = encode('{"kind":"chat"}')
    bytes[9] = 0xff
    expect(readObject(bytes)).toEqual(expect.any(String))
  })

  test.for([
    ['{"a":[{"b":"\\ud800"}]}', 'a lone surrogate at /a/0/b'],
    ['{"a/b":{"\\udc00":1}}', 'a lone surrogate in a key at /a~1b'],
    ['{"__proto__":1}', 'a key __proto__ at /'],
    ['[]', 'not a JSON object'],
    ['{"a":1,"a":1}', 'a key is repeated in one object'],
    [`${'['.repeat(100_000)}`, 'nested more than 32 levels deep'],
  ] as const)('what is wrong, and where: %s', ([text, problem]) => {
    expect(read(text)).toBe(problem)
  })
})

describe('readElements', () => {
  test('the elements are the elements, as they were sent', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(trickyString, jsonValue), { maxLength: 8 }), indent, (array, space) => {
        const elements = readElements(encode(JSON.stringify(array, null, space)))
        if (typeof elements === 'string') throw new Error(elements)
        expect(elements.map((bytes) => JSON.parse(decode(bytes)))).toEqual(JSON.parse(JSON.stringify(array)))
      }),
    )
  })

  test('bytes are kept', () => {
    const elements = readElements(encode(' [ {"a": 1.0} ,[ ] ,12345678901234567890] '))
    expect([elements].flat().map((each) => (typeof each === 'string' ? each : decode(each)))).toEqual([
      '{"a": 1.0}',
      '[ ]',
      '12345678901234567890',
    ])
  })

  test('an element may nest as deep as it may alone', () => {
    const deep = `${'{"a":'.repeat(31)}{}${'}'.repeat(31)}`
    expect(typeof read(deep)).toBe('object')
    expect(readElements(encode(`[${deep}]`))).toHaveLength(1)
    expect(readElements(encode(`[{"a":${deep}}]`))).toBe('nested more than 32 levels deep')
  })

  test.for(['', '{}', '1', '[1', '[1,]', '[,]', '[1] 2', '["\\x"]'])('%s is no array', (text) => {
    expect(readElements(encode(text))).toEqual(expect.any(String))
  })

  test.for(['[]', '[ ]', ' [\n] '])('%j has none', (text) => {
    expect(readElements(encode(text))).toEqual([])
  })

  test('gives one more than asked for, and looks at nothing behind that', () => {
    expect(readElements(encode('[1,2,3]'), 3)).toHaveLength(3)
    expect(readElements(encode('[1,2,3,4]'), 3)).toHaveLength(4)
    expect(readElements(encode('[1,2,3,4,5,6'), 3)).toHaveLength(4)
    expect(readElements(encode('[1,2,3'), 3)).toBeTypeOf('string')
    expect(readElements(encode(`[1,2,${'['.repeat(100)}`), 1)).toHaveLength(2)
  })
})

test.for<[boolean, string]>([
  [false, '1'],
  [false, '[[1,2],{"a":3}]'],
  [true, '[[1,2],{"a":[3]}]'],
  [false, '["[[[[", {"{{{{": "}"}]'],
  [true, '[[['],
])('isDeeper than 2 is %o for %s', ([expected, text]) => {
  expect(isDeeper(encode(text), 2)).toBe(expected)
})

describe('prescan', () => {
  const field = fc.option(fc.oneof(trickyString, jsonValue), { nil: undefined })
  const frame = fc
    .tuple(jsonObject, field, field, indent, fc.boolean())
    .map(([object, id, kind, space, isEscaped]) => {
      const text = JSON.stringify(
        { ...object, id, payload: { id: 'deep', kind: ['deep'] }, kind },
        null,
        space,
      )
      return encode(isEscaped ? text.replace('"id"', '"\\u0069d"') : text)
    })
  const strings = ({ id, kind }: Record<string, unknown>) => ({
    ...(typeof id === 'string' && { id }),
    ...(typeof kind === 'string' && { kind }),
  })

  test('finds what the parser finds, where that takes the frame, and never throws', () => {
    const damage = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 2 })
    fc.assert(
      fc.property(frame, damage, (bytes, changes) => {
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte
        const found = prescan(bytes)
        const result = readObject(bytes)
        if (typeof result !== 'string') expect(found).toEqual(strings(result.value))
      }),
      { numRuns: 1000 },
    )
  })

  test.for<[what: string, text: string]>([
    ['a name that stands there twice', '{"id":"a","\\u0069d":"b","kind":"x"}'],
    ['what no id can be', `{"id":"${'a'.repeat(2000)}","kind":"x"}`],
    ['what no string is', '{"id":["a"],"kind":"x"}'],
    ['what is not closed', '{"kind":"x","id":"a'],
  ])('leaves out %s', ([, text]) => {
    expect(prescan(encode(text))).toEqual({ kind: 'x' })
  })

  test('looks at as many members as an envelope may have, and a few more', () => {
    const many = Array.from({ length: 100_000 }, (_, i) => `"${i}":0`).join()
    expect(prescan(encode(`{"id":"a",${many},"kind":"x"}`))).toEqual({ id: 'a' })
    expect(prescan(encode(`[${many}]`))).toEqual({})
  })
})
