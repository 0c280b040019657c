import { readdirSync, readFileSync } from 'node:fs'
import { compileSafety, defaultSafety, type SecretRule, tailOf } from '@meup/safety'
import fc from 'fast-check'
import { RE2JS } from 're2js'
import { expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.js'

interface RuleData extends SecretRule {
  readonly positives: readonly string[]
}

const folder = new URL('../src/rules/', import.meta.url)
const rules = readdirSync(folder).flatMap(
  (name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as RuleData[],
)
const patterns = new Map(rules.map(({ name, pattern }) => [name, RE2JS.compile(pattern)]))
const { guard } = compileSafety(defaultSafety)
const example = fc
  .constantFrom(...rules)
  .chain((rule) => fc.constantFrom(...rule.positives).map((text) => ({ rule, text })))

/** A number from 0 on that is less than another. */
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

/** An example with something at one place that was not there, or without what was. */
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

/** What plainly stands for a secret is none, where a label alone tells it. */
const mayBeNone = /example|sample|your|my|[<>{}$*]|\w\(|^\w+\.|^[a-z_]+$/i

test('whatever RE2 finds with the pattern of a rule is not seen', () => {
  fc.assert(
    fc.property(changed, ({ rule, text }) => {
      const { name, keywords = [''], generic } = rule
      const matcher = patterns.get(name)?.matcher(text)
      if (!matcher?.find() || !keywords.some((keyword) => text.toLowerCase().includes(keyword))) return
      const { secret = matcher.group() ?? '' } = matcher.getNamedGroups()
      if (secret === null || (generic === true && mayBeNone.test(secret))) return
      expect(guard(text).text).not.toContain(secret)
    }),
    { numRuns: 3000 },
  )
})

verifies('I39', 'of a secret that is split anywhere over two thoughts never both parts are seen', () => {
  // What is on a line of its own is told by that.
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
    { numRuns: 2000 },
  )
})
