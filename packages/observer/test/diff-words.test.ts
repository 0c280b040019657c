import {
  type CodeToken,
  colourLines,
  cutTokens,
  type DiffLine,
  describeChange,
  markWords,
} from '@meup/observer/model'
import { expect, test } from 'vitest'

const line = (sign: DiffLine['sign'], text: string): DiffLine => ({ sign, text })

/** The lines of a diff as text, with the words in brackets that `markWords` marks as changed. */
const marked = (lines: readonly DiffLine[]): string[] => {
  const words = markWords(lines)
  return lines.map(
    (each) =>
      each.sign +
      (words.get(each)?.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)) ?? [each.text]).join(
        '',
      ),
  )
}

test('words that differ are marked in lines that take the place of others', () => {
  const lines = [
    line(' ', 'const a = 1'),
    line('-', 'return known && sum(a, b)'),
    line('+', 'return known || sum(a, c)'),
  ]
  expect(marked(lines)).toEqual([
    ' const a = 1',
    '-return known [&&] sum(a, [b])',
    '+return known [||] sum(a, [c])',
  ])
})

test('lines that have little in common, that come alone, or are very long, are not marked', () => {
  const alone = [line('-', 'gone'), line(' ', 'kept'), line('+', 'new')]
  expect(marked(alone)).toEqual(['-gone', ' kept', '+new'])
  const other = [line('-', 'import { a } from "b"'), line('+', 'throw new TypeError(message)')]
  expect(marked(other)).toEqual(other.map(({ sign, text }) => sign + text))
  const long = [line('-', 'x '.repeat(300)), line('+', `${'x '.repeat(300)}y`)]
  expect(markWords(long).size).toBe(0)
})

const numbers = (args: object): unknown[] =>
  describeChange({ params: { name: 'edit_file', arguments: args } })?.lines.map(({ line }) => line) ?? []

test('lines have the numbers of their file, where they are known', () => {
  const oldText = Array.from({ length: 30 }, (_, at) => `line ${at + 1}`).join('\n')
  const newText = oldText.replace('line 20\n', 'line twenty\nand more\n')
  const diffs = [{ path: 'a.ts', oldText, newText }]
  expect(numbers({ diffs })).toEqual([undefined, undefined, 17, 18, 19, 20, 20, 21, 22, 23, 24, undefined])
  const patch = '@@ -5,2 +7,2 @@\n same\n-old\n+new\n'
  expect(numbers({ path: 'a.ts', patch })).toEqual([undefined, 7, 6, 8])
  expect(numbers({ path: 'a.ts', oldText: 'a', newText: 'b' })).toEqual([undefined, undefined])
})

const keywords = (text: string): CodeToken[] =>
  text.split(/(const|\/\*.*\*\/)/s).flatMap((each, at) => ({ text: each, kind: at % 2 === 0 ? '' : 'k' }))

/** The lines of a diff as text, with keywords in brackets and changed words in angle brackets. */
const coloured = (lines: readonly DiffLine[], path?: string): string[] => {
  const colours = colourLines(lines, path, (text, language) =>
    language === 'typescript' ? keywords(text) : undefined,
  )
  const words = markWords(lines)
  return lines.map((each) =>
    cutTokens(colours.get(each), words.get(each) ?? [{ text: each.text, isChanged: false }])
      .map(({ text, kind, isChanged }) => {
        const marked = isChanged ? `<${text}>` : text
        return kind === '' ? marked : `[${marked}]`
      })
      .join(''),
  )
}

test('old and new text of a diff are highlighted separately, and cut at the words that differ', () => {
  const lines = [
    line(' ', 'const a = 1'),
    line('-', '/* const open'),
    line('-', 'let sum = a + 1 const */'),
    line('+', 'let b = 2'),
    line('+', 'let sum = a + 2 const'),
  ]
  expect(coloured(lines, 'src/a.ts')).toEqual([
    '[const] a = 1',
    '[/* const open]',
    '[let sum = a + ][<1>][ const][< */>]',
    'let b = 2',
    'let sum = a + <2> [const]',
  ])
  expect(coloured(lines, 'a.unknown')).toContain('const a = 1')
  const files = [line('@', 'a.md'), line('+', 'const'), line('@', 'b.ts (deleted)'), line('-', 'const')]
  expect(coloured(files)).toEqual(['a.md', 'const', 'b.ts (deleted)', '[const]'])
})
