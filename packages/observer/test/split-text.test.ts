import { findDefinitions, findPart, splitText } from '@meup/observer/model'
import { expect, test } from 'vitest'
import { Script } from './support.js'

const paragraph = 'words and more words '.repeat(30).trim()
const paragraphs = (count: number): string => Array.from({ length: count }, () => paragraph).join('\n\n')

test('a short text is one part, a long one begins each part with a paragraph', () => {
  expect(splitText(paragraphs(5))).toHaveLength(1)
  const text = paragraphs(400)
  const parts = splitText(text)
  expect(parts.join('')).toBe(text)
  expect(parts.length).toBeGreaterThan(40)
  for (const part of parts) expect(part.startsWith('words')).toBe(true)
})

test('code blocks and tables are never cut', () => {
  const code = `\`\`\`ts\n${'let a = 1\n\n'.repeat(3000)}\`\`\``
  const table = `| a | b |\n|---|---|\n${'| some | cells |\n'.repeat(3000)}`
  const parts = splitText(`${paragraph}\n\n${code}\n\n${table}\n${paragraphs(20)}`)
  expect(parts.filter((part) => part.includes('let a')).map((part) => part.includes(code))).toEqual([true])
  expect(parts.filter((part) => part.includes('| some')).map((part) => part.includes(table))).toEqual([true])
})

test('a text without paragraphs, lines or spaces has parts of bounded length, and no half characters', () => {
  for (const text of ['x'.repeat(250_000), '👩'.repeat(60_000), `${'a line of words\n'.repeat(20_000)}`]) {
    const parts = splitText(text)
    expect(parts.join('')).toBe(text)
    for (const part of parts) {
      expect(part.length).toBeLessThanOrEqual(12_000)
      expect(part.isWellFormed()).toBe(true)
    }
  }
})

test('while a text grows, only its last part changes', () => {
  const text = `${paragraphs(30)}\n\n\`\`\`\n${'code\n\n'.repeat(1500)}\`\`\`\n\n${paragraphs(30)}${'x'.repeat(30_000)}`
  let before: readonly string[] = []
  for (let length = 0; length < text.length; length += 997) {
    const parts = splitText(text.slice(0, length))
    expect(parts.slice(0, before.length - 1)).toEqual(before.slice(0, -1))
    before = parts
  }
})

test('the targets of links count for all parts', () => {
  expect(findDefinitions(`see [it][1]\n\n${paragraphs(50)}\n\n[1]: https://example.org/a`)).toBe(
    '[1]: https://example.org/a',
  )
})

test('a long message has a row for each part, and all of it is there', () => {
  const script = new Script()
  const text = paragraphs(400)
  const chat = script.chat('bot', text)
  script.chat('ana', 'thanks')
  const { stream } = script.read().lists
  const rows = stream.rows.filter((row) => row.type === 'message')
  expect(
    rows
      .filter(({ envelope }) => envelope.id === chat.id)
      .map(({ part }) => part.text)
      .join(''),
  ).toBe(text)
  expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length)
  expect(rows.map(({ part }) => part.isFirst).filter(Boolean)).toHaveLength(2)
  expect(rows.at(-2)?.part.isLast).toBe(true)
  expect(stream.indexOf(chat.id)).toBe(0)
})

test('a hit is in the part that its first word stands in', () => {
  const parts = Array.from({ length: 30 }, (_, at) => `${paragraph} number ${at}.`)
  const texts = splitText(parts.join('\n\n').repeat(3))
  const last = texts.length - 1
  const snippet = '…words and more words number 29. words'
  const hit = { snippet, ranges: [[22, 31]] as const }
  const found = findPart(texts, hit)
  expect(texts[found]).toContain('number 29.')
  expect(texts.slice(0, found).some((text) => text.includes('number 29.'))).toBe(false)
  expect(findPart(texts, { snippet: 'nowhere', ranges: [[0, 7]] })).toBe(0)
  expect(last).toBeGreaterThan(3)
})
