import { mapStrings, readObject } from '@meup/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyCharacter } from '../../test/support/any-character.js'

const json = fc
  .tuple(
    fc.dictionary(
      fc.string({ unit: anyCharacter, maxLength: 8 }),
      fc.jsonValue({ stringUnit: anyCharacter, maxDepth: 4 }),
    ),
    fc.constantFrom('', ' ', '\n\t'),
  )
  .map(([object, space]) => JSON.stringify(object, null, space))
  .filter((text) => typeof readObject(new TextEncoder().encode(text)) !== 'string')

/** Lists the texts of a JSON value in order, keys before their values. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(textsOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inside]) => [key, ...textsOf(inside)])
}

function mapped(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((each) => mapped(each, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inside]) => [change(key), mapped(inside, change)]),
  )
}

describe('mapStrings', () => {
  test('visits every string and changes none by itself', () => {
    fc.assert(
      fc.property(json, (text) => {
        const seen: string[] = []
        const same = mapStrings(text, (each) => {
          seen.push(each)
          return each
        })
        expect(same).toBe(text)
        expect(seen.sort()).toEqual(textsOf(JSON.parse(text)).sort())
      }),
      { numRuns: 500 },
    )
  })

  test('changes what it is told to change', () => {
    const change = (text: string): string => (text.length % 2 === 0 ? `${text}"\\é` : text)
    fc.assert(
      fc.property(json, (text) => {
        expect(JSON.parse(mapStrings(text, change))).toEqual(mapped(JSON.parse(text), change))
      }),
      { numRuns: 500 },
    )
  })

  test('keeps everything else to the last digit and blank', () => {
    const text = '{ "b" :\t[1.0, 12345678901234567890, "x" ,-1E400,{}, [ ]],\n"1":true , "a":"x\\u0041" }'
    expect(mapStrings(text, (each) => (each === 'x' ? 'new' : each))).toBe(text.replace('"x"', '"new"'))
    expect(mapStrings(text, (each) => each.replace('xA', 'b'))).toBe(text.replace('"x\\u0041"', '"b"'))
  })

  test('says where a string stands', () => {
    const places: string[] = []
    mapStrings('{"a":["x",{"b/c":"y"},["z"]],"d":{}}', (text, place, isKey) => {
      places.push(`${isKey ? 'key ' : ''}${text} in ${place}`)
      return text
    })
    expect(places).toEqual(['key a in a', 'x in a', 'key b/c in a/b/c', 'y in a/b/c', 'z in a', 'key d in d'])
  })

  test('leaves no two keys of an object the same', () => {
    const hide = (text: string, _place: string, isKey: boolean): string =>
      isKey && /^s\d/.test(text) ? 'hidden' : text
    expect(mapStrings('{"s1":1,"hidden (2)":2,"s2":3,"hidden":4,"in":{"s1":5}}', hide)).toBe(
      '{"hidden":1,"hidden (2)":2,"hidden (3)":3,"hidden (4)":4,"in":{"hidden":5}}',
    )
  })

  test('makes no key that nobody could send', () => {
    const made = mapStrings('{"__pro.to__":{"a":1}}', (text) => text.replace('.', ''))
    expect(made).toBe('{"":{"a":1}}')
  })

  test('copes with very many keys that become the same', () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 0])
    const made = mapStrings(JSON.stringify(Object.fromEntries(keys)), () => 'k')
    expect(Object.keys(JSON.parse(made))).toHaveLength(20_000)
  })

  test('does not loop on what is no JSON', () => {
    expect(() => mapStrings('{"a', (text) => text)).toThrow(SyntaxError)
  })
})
