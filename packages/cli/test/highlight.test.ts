import { expect, test } from 'vitest'
import { type CodeStyle, highlightLine } from '../src/render/highlight.js'
import { plainMarkdown, renderMarkdown } from '../src/render/markdown.js'

const style: CodeStyle = {
  keyword: (text) => `K(${text})`,
  literal: (text) => `L(${text})`,
  comment: (text) => `C(${text})`,
  added: (text) => `A(${text})`,
  removed: (text) => `R(${text})`,
}

test.for([
  ['ts', `const x = "a // b" // why`, `K(const) x = L("a // b") C(// why)`],
  ['ts', 'a /* b */ + 0x1f', 'a C(/* b */) + L(0x1f)'],
  ['python', `return '#' # why`, `K(return) L('#')C( # why)`],
  ['sql', 'SELECT a -- all', 'K(SELECT) a C(-- all)'],
  ['', `if x == 'y' # no comment`, `K(if) x == L('y') # no comment`],
  ['constructor', 'new x', 'K(new) x'],
  ['ts', `const open = 'half`, `K(const) open = 'half`],
  ['diff', '-export const sum', 'R(-export const sum)'],
  ['diff', '@@ -1 +1 @@', 'C(@@ -1 +1 @@)'],
] as const)('%s: %s', ([language, line, coloured]) => {
  expect(highlightLine(line, language, style)).toBe(coloured)
})

test('what is highlighted is the same text, at once', () => {
  const line = `${'"\\'.repeat(400)} ${"'".repeat(100)} ${'/*'.repeat(50)}`
  const began = performance.now()
  expect(highlightLine(line, 'ts', { ...plainMarkdown })).toBe(line)
  expect(performance.now() - began).toBeLessThan(500)
  expect(renderMarkdown('```ts\nconst x = 1\n```', { ...plainMarkdown, ...style })).toEqual([
    '    K(const) x = L(1)',
  ])
})
