import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { times } from '../../../test/support/soak.js'
import { compileKeywords } from '../src/leak/keywords.js'
import { type BuiltInRule, createDetector } from '../src/leak/rule.js'

interface RuleData extends BuiltInRule {
  readonly positives: readonly string[]
}

const folder = new URL('../src/rules/', import.meta.url)
const rules = readdirSync(folder).flatMap(
  (name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as RuleData[],
)

/** What a keyword may stand before again and again, without a match or with half of one. */
const fillers = ['', 'a', ' ', '\n', '-', '.', '/', '=', '="a1b2', ' -a ']
const length = times(10_000, 60_000)
/** With the square of the length, it would be several times as much. */
const mostMs = times(50, 250)

/** The beginning of an example, also without its blanks, again and again. */
const cut = (text: string): string[] => [0.5, 0.9].map((part) => text.slice(0, text.length * part))

test('each rule takes time linear in the text', () => {
  const slow = rules.flatMap((rule) => {
    const wordsIn = compileKeywords([rule.keywords])
    const [keyword = ''] = rule.keywords
    const [example = ''] = rule.positives
    const begun = [...cut(example), ...cut(example.replace(/\s/g, ''))]
    const capitals = fillers.slice(0, 3).map((filler) => keyword.toUpperCase() + filler)
    return [...fillers.map((filler) => keyword + filler), ...capitals, ...begun].flatMap((unit) => {
      const text = unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
      const words = [...(wordsIn(text).get(0) ?? [])]
      const measure = (): number => {
        const start = process.cpuUsage()
        createDetector(rule).find(text, words, { isWanted: () => true, from: 0, isCut: false })
        return process.cpuUsage(start).user / 1000
      }
      // Compiling and collecting garbage count as well, so that one measurement may be too much.
      const least = (): number => Math.min(measure(), measure(), measure())
      const ms = measure() > mostMs ? least() : 0
      return ms > mostMs ? [{ rule: rule.name, unit, ms }] : []
    })
  })
  expect(slow).toEqual([])
})
