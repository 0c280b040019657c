import { readdirSync, readFileSync } from 'node:fs'
import { compileSafety, defaultSafety, type Guarded, tailOf } from '@meup/safety'
import { describe, expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'
import { disguises } from './support.js'

interface RuleData {
  readonly name: string
  readonly positives: readonly string[]
  readonly looks?: string
}

const folder = new URL('../src/rules/', import.meta.url)
const rules = readdirSync(folder).flatMap(
  (name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as RuleData[],
)
const examples = rules.flatMap((rule) => rule.positives.map((text) => ({ rule: rule.name, text })))
/** Rules for weak passwords. A part of such a password is like any word and not recognized, so tests use only whole ones. */
const weak = new Set(rules.flatMap(({ name, looks }) => (looks === 'weak' ? [name] : [])))
const samples = rules.map(({ name, positives: [text = ''] }) => ({ rule: name, text }))

const { guard } = compileSafety(defaultSafety)
const isHidden = ({ text, isWithheld }: Guarded): boolean => isWithheld || text.includes('[redacted:')

/** Returns the span that is masked; the whole text if several parts are masked, or the text is withheld. */
function hiddenPart(text: string): { start: number; end: number } {
  const [before = '', behind = '', ...more] = guard(text).text.split(/\[redacted:[\w-]+\]/)
  if (more.length > 0) return { start: 0, end: text.length }
  return { start: before.length, end: text.length - behind.length }
}

/** Spreads `count` positions evenly from `start` to `end`, both included. */
const spread = (start: number, end: number, count: number): number[] => [
  ...new Set(Array.from({ length: count }, (_, i) => start + Math.round(((end - start) * i) / (count - 1)))),
]

verifies('I07', 'what every pattern stands for is masked or withheld', () => {
  expect(rules.length).toBeGreaterThan(15)
  expect(examples.filter(({ text }) => !isHidden(guard(`see\n${text}\nand so on`)))).toEqual([])
})

/** Examples that can be encoded: ASCII, and not of rules for whole lines, because encodings have no line of their own. */
const encodable = samples.filter(({ rule, text }) => !rule.endsWith('-line') && /^[\t\n\r -~]*$/.test(text))

describe.each(['with zero-width spaces', 'in full width', 'in percent', 'in base64', 'in base64 of base64'])(
  '%s',
  (name) => {
    const disguised = encodable.map(({ rule, text }) => ({ rule, text: disguises[name]?.(text) ?? '' }))

    test('what a pattern stands for is masked or withheld', () => {
      expect(disguised.filter(({ text }) => !isHidden(guard(`see ${text} here`)))).toEqual([])
    })

    test('what follows it in the next text is masked', () => {
      const missed = disguised.filter(({ text }) => {
        const cut = Math.floor(text.length / 2)
        return !isHidden(guard(`${text.slice(cut)} here`, tailOf('', `see ${text.slice(0, cut)}`)))
      })
      // Some secrets have their essential part in the first half of the text. If the second half is missed, the guard must mask
      // the first.
      const known = missed.filter(({ text }) => !isHidden(guard(text.slice(0, Math.floor(text.length / 2)))))
      expect(known).toEqual([])
    })
  },
)

test('of what is split over two texts, the second part is masked', () => {
  const splittable = examples.filter(({ rule }) => !weak.has(rule))
  const missed = splittable.flatMap(({ rule, text }) => {
    const { start, end } = hiddenPart(text)
    // A withheld text may end with a public part, such as the footer of a key.
    const last = guard(text).isWithheld ? Math.floor(end / 2) : end - 1
    const cuts = [...spread(1, start, 3), ...spread(start + 1, last, 5)].filter(
      (cut) => cut > 0 && cut <= last,
    )
    return cuts.flatMap((cut) => {
      const second = guard(`${text.slice(cut)}\nand so on`, tailOf('', text.slice(0, cut)))
      return isHidden(second) ? [] : [`${rule}: ${cut} (${start} to ${end})`]
    })
  })
  expect(missed).toEqual([])
})

test('of what is broken over two lines, one part is masked at least', () => {
  const breakable = samples.filter(({ rule }) => !weak.has(rule))
  const all = breakable.flatMap(({ rule, text }) => {
    const { start, end } = hiddenPart(text)
    return spread(start + 1, end - 1, 4).map((cut) => {
      const seen = guard(`see ${text.slice(0, cut)}\n    ${text.slice(cut)}\nand so on`).text
      return { rule, isSeen: seen.includes(text.slice(start, cut)) && seen.includes(text.slice(cut, end)) }
    })
  })
  const missed = all.filter(({ isSeen }) => isSeen)
  // Tolerates a few misses: the rest of some secrets looks like a word, and rules for whole lines do not match the rest.
  expect(missed.length / all.length, JSON.stringify(missed)).toBeLessThan(0.01)
})
