import fc from 'fast-check'
import { expect, test } from 'vitest'
import { builtInRules, examples } from '../src/generated/rules.js'
import { compileFinder } from '../src/leak/finder.js'

const finderOf = (lists: readonly (readonly string[])[]) =>
  compileFinder(lists.map((words) => ({ name: 'own', action: 'mask', words, find: () => [] })))

/** Words over a seam are those of the whole text, whatever of the second one is read. */
function check({ wordsIn, wordsOver }: ReturnType<typeof finderOf>, text: string, cut: number, end: number) {
  const [before, behind] = [text.slice(0, cut), text.slice(cut)]
  const read = before + behind.slice(0, end)
  expect(wordsOver(read, cut, wordsIn(behind))).toEqual(wordsIn(read))
}

test('words over a seam are those of the whole text', () => {
  const unit = fc.constantFrom('a', 'b', 'c', '_', 'п')
  const lists = fc.array(fc.array(fc.string({ unit, minLength: 1, maxLength: 6 }), { maxLength: 4 }), {
    maxLength: 6,
  })
  const texts = fc.array(fc.string({ unit: fc.oneof(unit, fc.constantFrom('A', 'П', ' ')), maxLength: 30 }), {
    minLength: 20,
    maxLength: 20,
  })
  fc.assert(
    fc.property(lists, texts, fc.nat(30), fc.nat(30), (lists, texts, cut, end) => {
      const finder = finderOf(lists)
      for (const text of texts) check(finder, text, cut, end)
    }),
    { numRuns: 200 },
  )
})

test('those of the built-in rules too, wherever a secret is split', () => {
  const finder = finderOf(builtInRules.map(({ keywords = [] }) => keywords))
  for (const text of examples.slice(0, 200)) {
    const most = Math.min(text.length, 120)
    for (let cut = 0; cut <= most; cut += 3) check(finder, text, cut, text.length)
  }
})
