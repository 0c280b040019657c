import { brief, printable, printableJson } from '@meup/folds'
import { expect, test } from 'vitest'

const hostile = 'a\u001b[2J\u009b\u202e\u2028\u{e0041}b\r\nc\td\u0000'

test('what moves the cursor or disguises a line is taken out', () => {
  expect(printable(hostile)).toBe('a[2Jb\nc\td')
  expect(brief(hostile, 100)).toBe('a[2Jb c d')
})

test('JSON escapes it, and means what it did', () => {
  const json = printableJson({ text: hostile, list: ['é', '👩‍💻'] })
  expect(json).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u)
  expect(json).toContain('\\u202e')
  expect(json).toContain('\\udb40\\udc41')
  expect(JSON.parse(json)).toEqual({ text: hostile, list: ['é', '👩‍💻'] })
})

test('joiners stay where a script or an emoji is written with them, and nowhere else', () => {
  for (const text of [
    'می\u200cخواهم',
    'ශ්\u200dරී',
    'ന്\u200d',
    '👩🏽\u200d💻',
    '🏳\ufe0f\u200d🌈',
    '👩\u200d👩\u200d👧',
  ])
    expect(printable(text)).toBe(text)
  for (const [text, shown] of [
    ['pay\u200dment', 'payment'],
    ['пла\u200cтёж', 'платёж'],
    ['\u200dم م\u200c', 'م م'],
    ['م\u200d\u200dم', 'مم'],
    ['👩\u200d\u200b\u200d👩', '👩👩'],
  ] as const)
    expect(printable(text)).toBe(shown)
})
