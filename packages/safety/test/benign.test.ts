import { readdirSync, readFileSync } from 'node:fs'
import { compileSafety, defaultSafety } from '@meup/safety'
import { expect, test } from 'vitest'

/** Technical texts without secrets; a line `---` separates paragraphs. */
const folder = new URL('benign/', import.meta.url)
const paragraphs = readdirSync(folder).flatMap((name) =>
  readFileSync(new URL(name, folder), 'utf8')
    .trimEnd()
    .split('\n---\n')
    .map((text) => ({ name, text })),
)

test('there are 500 paragraphs of 40 to 120 words, none twice', () => {
  expect(new Set(paragraphs.map(({ text }) => text)).size).toBe(500)
  const words = paragraphs.map(({ text }) => text.split(/\s+/).length)
  expect(Math.min(...words)).toBeGreaterThanOrEqual(40)
  expect(Math.max(...words)).toBeLessThanOrEqual(120)
})

test('at most 1 % of them are touched', () => {
  const { guard } = compileSafety(defaultSafety)
  const touched = paragraphs.flatMap(({ name, text }) => {
    const guarded = guard(text)
    if (guarded.text === text && guarded.findings.length === 0) return []
    const rules = guarded.findings.map(({ rule }) => rule).join(', ')
    return [`${name} (${rules || 'sanitized'}):\n${text}\n→\n${guarded.text}`]
  })
  expect(touched.length, touched.join('\n\n')).toBeLessThanOrEqual(paragraphs.length / 100)
})
