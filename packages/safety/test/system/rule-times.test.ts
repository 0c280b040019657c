import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { times } from '../../../../test/support/soak.js'
import { type BuiltInRule, createDetector } from '../../src/leak/built-in-rule.js'
import { compileKeywords } from '../../src/leak/finder.js'

interface RuleData extends BuiltInRule {
  readonly positives: readonly string[]
}

const folder = new URL('../../src/rules/', import.meta.url)
const rules = readdirSync(folder).flatMap(
  (name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as RuleData[],
)

/** Texts that are put after a keyword and repeated; they match partly, or not at all. */
const fillers = ['', 'a', ' ', '\n', '-', '.', '/', '=', '="a1b2', ' -a ']
/** Characters of a text: enough that a pattern with a bound of hundreds of characters takes linear time. */
const length = 60_000
/** Maximum time. A linear rule takes less; a quadratic one several times as much. */
const maxMs = 250
/** Characters of a shorter text, which is tried first to find the candidates for the full length. */
const firstLength = times(5000, length)
const firstMs = times(5, maxMs)

/** Returns beginnings of an example, which match partly. */
const cut = (text: string): string[] => [0.5, 0.9].map((part) => text.slice(0, text.length * part))

test('each rule takes time linear in the text', () => {
  const slow = rules.flatMap((rule, turn) => {
    const wordsIn = compileKeywords([{ words: rule.keywords }])
    const [keyword = ''] = rule.keywords
    const [example = ''] = rule.positives
    const begun = [...cut(example), ...cut(example.replace(/\s/g, ''))]
    const capitals = fillers.slice(0, 3).map((filler) => keyword.toUpperCase() + filler)
    const units = [...fillers.map((filler) => keyword + filler), ...capitals, ...begun]
    // Tries a sixteenth of the texts with each rule; in the nightly tests all of them.
    const tried = units.filter((_, index) => (index + turn) % times(16, 1) === 0)
    return tried.flatMap((unit) => {
      const measure = (chars: number): number => {
        const text = unit.repeat(Math.ceil(chars / unit.length)).slice(0, chars)
        const words = wordsIn(text)
        const start = process.cpuUsage() // Other load of the machine does not count.
        createDetector(rule).find(text, words, { isWanted: () => true, from: 0, isCut: false })
        const { user, system } = process.cpuUsage(start)
        return (user + system) / 1000
      }
      if (measure(firstLength) <= firstMs) return []
      // CPU time includes other threads of the process, so take the minimum of several measurements.
      const least = (chars: number): number => Math.min(...Array.from({ length: 5 }, () => measure(chars)))
      const measured = [length / 4, length].map(least)
      const [short = 0, long = 0] = measured
      return long > maxMs && long > 8 * short ? [{ rule: rule.name, unit, measured }] : []
    })
  })
  expect(slow).toEqual([])
})
