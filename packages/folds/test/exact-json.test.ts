import { hasUnseen, indentJson, spellOut } from '@meup/folds'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

describe('JSON on many lines', () => {
  test('is shown as it was written, to the last digit', () => {
    const json = '{"amount":12345678901234567890,"rate":1.0,"to":["a","b"],"none":{},"empty":[]}'
    expect(indentJson(json)).toBe(`{
  "amount": 12345678901234567890,
  "rate": 1.0,
  "to": [
    "a",
    "b"
  ],
  "none": {},
  "empty": []
}`)
  })

  test('says what it said', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.stringify(value)
        const plain = !/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(json)
        if (plain) expect(JSON.parse(indentJson(json))).toEqual(JSON.parse(json))
      }),
    )
  })

  test('spells out what would not be seen', () => {
    expect(indentJson(JSON.stringify('pay\u202Eeve\u{E0041}'))).toBe('"pay\\u202eeve\\udb40\\udc41"')
  })
})

test.for([
  ['a bidi override', '\u202egnp', '\\u202egnp'],
  ['a zero-width space', 'rm\u200b -rf', 'rm\\u200b -rf'],
  ['a line separator', 'a\u2028b', 'a\\u2028b'],
  ['an escape sequence', '\u001b[2K', '\\u001b[2K'],
  ['a tab', 'a\tb', 'a\\u0009b'],
  ['a space that is none', 'a\u00a0b\u3000c\u2003d', 'a\\u00a0b\\u3000c\\u2003d'],
  ['a blank letter', 'a\u3164b\u2800c', 'a\\u3164b\\u2800c'],
  ['an unassigned character', 'a\u{e0080}b\u0378c', 'a\\udb40\\udc80b\\u0378c'],
  ['a private character', 'a\ue000b', 'a\\ue000b'],
  ['half a character', 'a\ud800b', 'a\\ud800b'],
  ['a letter of another script within a word', '/h\u043eme/ana', '/h\\u043eme/ana'],
  ['heaped marks', 'a\u0300\u0301\u0302\u0303', 'a\u0300\u0301\\u0302\\u0303'],
  ['a mark on nothing', '-\u0338rf', '-\\u0338rf'],
] as const)('%s is spelled out', ([, text, expected]) => {
  expect(spellOut(text)).toBe(expected)
  expect(hasUnseen({ deep: [text.replaceAll('\t', '\u0000')] })).toBe(true)
})

test.for(['Привет, мир', 'naïve größe', '日本語の名前', 'שלום', 'Δ', 'e\u0301', '👍'])('%s stays', (text) => {
  expect(spellOut(text)).toBe(text)
})

test('a name of another script that looks like a Latin one is spelled out, a text is not', () => {
  expect(indentJson('{"сору":"сору"}')).toBe('{\n  "\\u0441\\u043e\\u0440\\u0443": "сору"\n}')
})

test('a string that is written with line breaks in its escapes stays on its line', () => {
  expect(indentJson(JSON.stringify({ 'a\nb': 'c\n  "to": "eve"' })).split('\n')).toHaveLength(3)
})
