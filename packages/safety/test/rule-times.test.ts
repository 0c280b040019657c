import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { times } from '../../../test/support/soak.js'
import { compileKeywords } from '../src/leak/finder.js'
import { type BuiltInRule, createDetector } from '../src/leak/rule.js'

interface RuleData extends BuiltInRule {
  readonly positives: readonly string[]
}

const folder = new URL('../src/rules/', import.meta.url)
const rules = readdirSync(folder).flatMap(
  (name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as RuleData[],
)

/** Fillers after a keyword, repeated without a match or with half of one. */
const fillers = ['', 'a', ' ', '\n', '-', '.', '/', '=', '="a1b2', ' -a ']
/** Long enough that a part of a pattern with a bound of hundreds of characters takes linear time. */
const length = 60_000
/** A linear rule takes less; one that takes the square of the length, several times as much. */
const maxMs = 250
/** A shorter text shows first which units deserve the whole length. */
const firstLength = times(5000, length)
const firstMs = times(5, maxMs)

/** The beginning of an example, also without its blanks, again and again. */
const cut = (text: string): string[] => [0.5, 0.9].map((part) => text.slice(0, text.length * part))

test('each rule takes time linear in the text', () => {
  const slow = rules.flatMap((rule, turn) => {
    const wordsIn = compileKeywords([{ words: rule.keywords }])
    const [keyword = ''] = rule.keywords
    const [example = ''] = rule.positives
    const begun = [...cut(example), ...cut(example.replace(/\s/g, ''))]
    const capitals = fillers.slice(0, 3).map((filler) => keyword.toUpperCase() + filler)
    const units = [...fillers.map((filler) => keyword + filler), ...capitals, ...begun]
    // A rule is tried with a sixteenth of them; at night with all.
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
      // Other threads of the process count as well: the least of several tries is its own.
      const least = (chars: number): number => Math.min(...Array.from({ length: 5 }, () => measure(chars)))
      const measured = [length / 4, length].map(least)
      const [short = 0, long = 0] = measured
      return long > maxMs && long > 8 * short ? [{ rule: rule.name, unit, measured }] : []
    })
  })
  expect(slow).toEqual([])
})
