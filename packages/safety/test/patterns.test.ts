import { readdirSync, readFileSync } from 'node:fs'
import { builtInRules } from '@meup/safety'
import fc from 'fast-check'
import { RE2JS } from 're2js'
import { expect, test } from 'vitest'
import type { BuiltInRule } from '../src/leak/built-in.js'
import { expressionOf, nativeLocator } from '../src/leak/native.js'

/** What the build makes of the patterns of the rules says the same as RE2. */
const folder = new URL('../src/rules/', import.meta.url)
const positives = new Map(
  readdirSync(folder)
    .flatMap((name): { name: string; positives: string[] }[] =>
      JSON.parse(readFileSync(new URL(name, folder), 'utf8')),
    )
    .map(({ name, positives }) => [name, positives]),
)
const rules = builtInRules.map((rule) => ({
  rule,
  re2: RE2JS.compile(rule.pattern),
  positives: positives.get(rule.name) ?? [],
}))
const bits = ['', ' ', '\n', '\\n', '=', ': ', '"', 'x', '_', '-', '.', 'A1', '\u00e4', '\u{1f600}']

/** An example with something at one place that was not there, or without what was. */
const changed = fc
  .tuple(
    fc
      .constantFrom(...rules)
      .chain(({ positives, ...each }) => fc.constantFrom(...positives).map((text) => ({ ...each, text }))),
    fc.nat(),
    fc.constantFrom(...bits),
    fc.nat(2),
    fc.constantFrom(...bits),
  )
  .map(([{ rule, re2, text }, where, bit, gone, first]) => {
    const at = where % text.length
    return { rule, re2, text: `${first}${text.slice(0, at)}${bit}${text.slice(at + gone)}` }
  })

const endAt = (source: string, text: string, at: number): number | undefined => {
  const expression = expressionOf(source, 'y')
  expression.lastIndex = at
  return expression.test(text) ? expression.lastIndex : undefined
}

/** What may be the beginning of a match that only has to be there, such as `\n` in a string, is no part of a start. */
const longestEdge = 3

/** Whether all that is known of a rule holds for a match of its pattern. */
function agrees(
  { starts, glance, extent, whole, notBehind }: BuiltInRule,
  text: string,
  start: number,
  end: number,
) {
  if (starts === undefined) {
    const matcher = whole === undefined ? undefined : nativeLocator(whole, notBehind).matcher(text)
    return matcher === undefined || (matcher.find(0) && matcher.start() === start && matcher.end() === end)
  }
  return Array.from({ length: longestEdge }, (_, index) => start + index).some(
    (at) =>
      starts.some((each) => text.slice(at, at + each.length).toLowerCase() === each) &&
      (glance === undefined || endAt(glance, text, at) !== undefined) &&
      (extent === undefined || (endAt(extent, text, at) ?? -1) >= end) &&
      (whole === undefined || endAt(whole, text, at) === end),
  )
}

test('the expressions of a rule match what RE2 finds', () => {
  fc.assert(
    fc.property(changed, ({ rule, re2, text }) => {
      const matcher = re2.matcher(text)
      if (matcher.find()) expect(agrees(rule, text, matcher.start(), matcher.end())).toBe(true)
    }),
    { numRuns: 3000 },
  )
})

test('where RE2 finds nothing, an expression that is used without it finds nothing', () => {
  fc.assert(
    fc.property(changed, ({ rule: { glance, whole }, re2, text }) => {
      if (glance !== undefined || whole === undefined || re2.matcher(text).find()) return
      expect(expressionOf(whole, 'g').test(text)).toBe(false)
    }),
    { numRuns: 3000 },
  )
})

test('of most rules it is known how their matches begin', () => {
  const known = builtInRules.filter(({ starts }) => starts !== undefined)
  expect(known.length).toBeGreaterThan(builtInRules.length / 2)
})
