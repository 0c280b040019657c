import { canonicalJson, getMember, readObject } from '@meup/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../../test/support/any-character.js'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const canonical = (json: string, omitted?: string): string => canonicalJson(encode(json), omitted)

describe('the canonical text', () => {
  test.for([
    ['{}', '{}'],
    [' [ ] ', '[]'],
    ['{"b":1,"a":{"d":[],"c":{}}}', '{"a":{"c":{},"d":[]},"b":1}'],
    ['\t{\n"a" : [ 1 , 2 ]\r}', '{"a":[1,2]}'],
    ['"\\u0041\\/\\"\\\\"', '"A/\\"\\\\"'],
    ['{"\\u0062":1,"a":2}', '{"a":2,"b":1}'],
    ['"\\ud83d\\ude00"', '"😀"'],
    ['[true,false,null]', '[true,false,null]'],
    ['{"a\\\\":"}","b":"]","c":",:"}', '{"a\\\\":"}","b":"]","c":",:"}'],
    ['{"":0}', '{"":0}'],
  ] as const)('of %s is %s', ([json, expected]) => {
    expect(canonical(json)).toBe(expected)
  })

  test.for([
    ['{"a":1,"b":[{"c":"x","d":null}]}', '{ "b" : [ { "d":null, "\\u0063":"\\u0078" } ], "a":1 }'],
    ['"é"', '"\\u00e9"'],
    ['"\\u001f"', '"\\u001F"'],
    ['"\\n"', '"\\u000a"'],
  ] as const)('is one for %s and %s', ([one, other]) => {
    expect(canonical(one)).toBe(canonical(other))
  })

  test.for([
    ['1', '1.0'],
    ['100', '1e2'],
    ['1e2', '1E2'],
    ['0', '-0'],
    ['9007199254740993', '9007199254740992'],
    ['1e400', '2e400'],
    ['1', '"1"'],
    ['null', '"null"'],
    ['[1,2]', '[2,1]'],
    ['[1,[2]]', '[[1],2]'],
    ['{"a":null}', '{}'],
    ['{"a":{"b":1}}', '{"a":{},"b":1}'],
    ['{"a":"b\\",\\"c"}', '{"a":"b","c":""}'],
    ['"é"', '"e\\u0301"'],
    ['[]', '{}'],
    ['[""]', '[]'],
  ] as const)('keeps %s and %s apart', ([one, other]) => {
    expect(canonical(one)).not.toBe(canonical(other))
  })

  test('leaves a member of the outermost object out, however its key is written, and none of the others', () => {
    expect(canonical('{"_meta":{"x":[1]},"a":{"_meta":2}}', '_meta')).toBe('{"a":{"_meta":2}}')
    expect(canonical('{"a":1,"\\u005fmeta":{}}', '_meta')).toBe('{"a":1}')
    expect(canonical('[{"_meta":1}]', '_meta')).toBe('[{"_meta":1}]')
  })

  test('means what it was made of, and is the same for what is written otherwise', () => {
    const json = fc.jsonValue({ stringUnit: anyCharacter, maxDepth: 5 })
    fc.assert(
      fc.property(json, fc.constantFrom('', ' ', '\n\t'), (value, space) => {
        const text = canonical(JSON.stringify(value))
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonical(JSON.stringify(reversed(value), null, space).replaceAll('é', '\\u00e9'))).toBe(text)
        expect(canonical(text)).toBe(text)
      }),
      { numRuns: 1000 },
    )
  })

  test('of long strings, of many members and of deep nesting is found', () => {
    const long = JSON.stringify('\\"é'.repeat(300_000))
    expect(canonical(`[${long}]`)).toBe(`[${long}]`)
    const many = Array.from({ length: 20_000 }, (_, index) => `"k${index}":${index}`)
    expect(canonical(`{${many.toReversed().join(',')}}`)).toBe(`{${many.toSorted().join(',')}}`)
    expect(canonical(`${'['.repeat(32)}${']'.repeat(32)}`)).toHaveLength(64)
  })

  test.for(['', '{', '{"a"', '[1', '"', '{"a":"\\'])('of %j there is none', (json) => {
    expect(() => canonical(json)).toThrow(SyntaxError)
  })
})

/** Copies a value with the members of its objects in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([key, member]) => [key, reversed(member)])
  return Object.fromEntries(members.reverse())
}

describe('memberOf', () => {
  const text = (json: string, name: string): string | undefined => {
    const bytes = getMember(encode(json), name)
    return bytes && new TextDecoder().decode(bytes)
  }

  test('gives the bytes of a member as they were sent', () => {
    const json = '{ "a" : {"b": 1.0} ,"payload":[1, {"params":2}], "\\u0070arams" : "x\\u0041" }'
    expect(readObject(encode(json))).toBeTypeOf('object')
    expect(text(json, 'a')).toBe('{"b": 1.0}')
    expect(text(json, 'params')).toBe('"x\\u0041"')
    expect(text(json, 'payload')).toBe('[1, {"params":2}]')
  })

  test('gives nothing where there is no such member', () => {
    expect(text('{"a":{"b":1}}', 'b')).toBeUndefined()
    expect(text('{}', 'a')).toBeUndefined()
    expect(text('[]', 'a')).toBeUndefined()
  })
})
