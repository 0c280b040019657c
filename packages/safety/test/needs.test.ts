import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { RE2JS } from 're2js'
import { expect, test } from 'vitest'

interface RuleData {
  readonly name: string
  readonly pattern: string
  readonly needs?: string
  readonly positives: readonly string[]
}

const folder = new URL('../src/rules/', import.meta.url)
const rules = readdirSync(folder).flatMap(
  (name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as RuleData[],
)
const needing = rules.flatMap(({ needs, ...rule }) => (needs === undefined ? [] : [{ ...rule, needs }]))

/** What RE2 takes for `s` and `k` where it ignores case. */
const folded: Readonly<Record<string, string>> = { s: '\u017f', k: '\u212a' }
const changes: readonly ((character: string) => string)[] = [
  (character) => character.toUpperCase(),
  (character) => character.toLowerCase(),
  (character) => folded[character.toLowerCase()] ?? character,
  (character) => (/\d/.test(character) ? '7' : character),
  (character) => (/[A-Za-z]/.test(character) ? 'q' : character),
  (character) => (/[!-/]/.test(character) ? '!' : character),
  (character) => (character === ' ' ? '\t\n ' : character),
  (character) => (character === ' ' ? '' : character),
  (character) => `${character}\u00a0`,
  () => '',
]

/** Texts that look much like those that a rule finds: in many of them it still finds something. */
const alike = (positives: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom(...positives),
      fc.array(fc.tuple(fc.nat(), fc.constantFrom(...changes)), { maxLength: 4 }),
      fc.constantFrom('', 'so ', '-', '\n', 'x'),
    )
    .map(([text, places, before]) => {
      const characters = text.split('')
      for (const [place, change] of places) {
        const at = place % characters.length
        characters[at] = change(characters[at] ?? '')
      }
      return before + characters.join('')
    })

test.each(needing)('$name: every match of the pattern has what it needs', ({ pattern, needs, positives }) => {
  const compiled = RE2JS.compile(pattern)
  const needed = new RegExp(needs, 'i')
  let matches = 0
  fc.assert(
    fc.property(alike(positives), (text) => {
      const matcher = compiled.matcher(text)
      if (!matcher.find()) return
      matches++
      expect(text.slice(matcher.start())).toMatch(needed)
      if (!needs.startsWith('^')) expect(text).toMatch(needed)
    }),
    { numRuns: 1000 },
  )
  expect(matches).toBeGreaterThan(100)
})

test('what is needed is found in linear time', () => {
  const units = [
    'a',
    ' ',
    '-a',
    '-a-',
    "'",
    '"a',
    'word=',
    'pass_',
    ' secret ',
    ' login a',
    'a/',
    'token ',
    '\u00a0',
  ]
  const sources = needing.map(({ needs }) => new RegExp(needs, 'i'))
  // With the square of the length, the test would run out of its time.
  for (const unit of units) for (const needed of sources) needed.test(unit.repeat(300_000))
  expect(sources.length).toBe(needing.length)
})
