import { readdirSync, readFileSync } from 'node:fs'
import { compileSafety, defaultSafety, tailOf } from '@meup/safety'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { times } from '../../../test/support/soak.js'
import { verifies } from '../../../test/verifies.js'
import { type BuiltInRule, createDetector } from '../src/leak/built-in-rule.js'
import { compileKeywords } from '../src/leak/finder.js'

interface RuleData extends BuiltInRule {
  readonly positives: readonly string[]
}

const folder = new URL('../src/rules/', import.meta.url)
const rules = readdirSync(folder).flatMap(
  (name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as RuleData[],
)
const { guard } = compileSafety(defaultSafety)
const example = fc
  .constantFrom(...rules)
  .chain((rule) => fc.constantFrom(...rule.positives).map((text) => ({ rule, text })))

/** A share, from 0 (inclusive) to 1 (exclusive). */
const share = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
const bits = [
  '',
  ' ',
  '\n',
  '\t',
  '\\n',
  '=',
  ': ',
  '"',
  'x',
  '_',
  '-',
  '.',
  'A1',
  'password=',
  'key: ',
  '\u00e4',
  '\u{1f600}',
]

/** An example with characters inserted or removed at one position, and text added at both ends. */
const changed = fc
  .tuple(
    example,
    share,
    fc.constantFrom(...bits),
    fc.nat(2),
    fc.constantFrom(...bits),
    fc.constantFrom(...bits),
  )
  .map(([{ rule, text }, where, bit, gone, first, last]) => {
    const at = Math.floor(where * text.length)
    return { rule, text: `${first}${text.slice(0, at)}${bit}${text.slice(at + gone)}${last}` }
  })

test('whatever a rule by itself finds is not seen', () => {
  const searches = new Map(rules.map((rule) => [rule, compileKeywords([{ words: rule.keywords }])]))
  fc.assert(
    fc.property(changed, ({ rule, text }) => {
      const words = searches.get(rule)?.(text) ?? []
      const found = createDetector(rule).find(text, words, { isWanted: () => true, from: 0, isCut: false })
      const { text: seen } = guard(text)
      for (const { start, end } of found) expect(seen).not.toContain(text.slice(start, end))
    }),
    { numRuns: times(600, 30_000) },
  )
})

verifies('I39', 'of a secret that is split anywhere over two thoughts never both parts are seen', () => {
  // Some rules recognize a value only at the end of a line, so the example may be followed by a line break.
  const next = fc.constantFrom('', '\nand so on', '\n\nThen it is done.')
  fc.assert(
    fc.property(example, share, next, ({ text }, where, next) => {
      const [before = '', behind = '', ...more] = guard(text).text.split(/\[redacted:[\w-]+\]/)
      if (more.length > 0 || before === '') return
      const [start, end] = [before.length, text.length - behind.length]
      const cut = start + 1 + Math.floor(where * (end - start - 1))
      const first = guard(text.slice(0, cut))
      const second = guard(`${text.slice(cut)}${next}`, tailOf('', text.slice(0, cut)))
      const isFirstSeen = first.text.endsWith(text.slice(start, cut))
      const isSecondSeen = second.text.startsWith(text.slice(cut, end))
      expect(isFirstSeen && isSecondSeen).toBe(false)
    }),
    { numRuns: times(500, 20_000) },
  )
})
