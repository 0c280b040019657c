import fc from 'fast-check'
import { expect, test } from 'vitest'
import { times } from '../../../test/support/soak.js'
import { base64, unbroken } from '../src/decodings/decoders.js'
import { decodeText } from '../src/decodings/decoding.js'
import { knownSecrets } from '../src/leak/detectors.js'
import { compileKeywords, type Hit, shareKeywords } from '../src/leak/finder.js'
import { blanks, charSet, charSetExcept, findStretches } from '../src/spans.js'

/** Random texts of few characters, so that words often occur in them or nearly occur. */
const few = fc.string({
  unit: fc.constantFrom('a', 'b', 'B', 'c', '_', ' ', 'п', 'П', '\u{1f600}'),
  maxLength: 40,
})
const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '_', 'п'), minLength: 1, maxLength: 5 })

test('words are found wherever they are', () => {
  const lists = fc.array(fc.array(word, { maxLength: 4 }), { maxLength: 4 })
  fc.assert(
    fc.property(lists, fc.array(few, { minLength: 20, maxLength: 20 }), (lists, texts) => {
      const search = compileKeywords(lists.map((words) => ({ words })))
      for (const text of texts)
        expect(shown(search(text)).toSorted()).toEqual(wordsIn(text, lists).toSorted())
    }),
    { numRuns: 200 },
  )
})

const shown = (hits: readonly Hit[]): string[] =>
  hits.map(({ start, end, rank }) => `${rank} ${start} ${end}`)

test('a word without the characters behind it that are needed is found at the end of a text alone', () => {
  const search = compileKeywords([{ words: ['ab'], reach: 4 }])
  expect(shown(search('ab abc abcd ab\tcd abcd'))).toEqual(['0 7 9', '0 18 20'])
  expect(shown(search('abc ab'))).toEqual(['0 4 6'])
})

function wordsIn(text: string, lists: readonly (readonly string[])[]): string[] {
  const lower = text.replace(/[BП]/g, (letter) => letter.toLowerCase())
  return lists.flatMap((list, index) =>
    list.flatMap((each) =>
      Array.from({ length: text.length }, (_, at) => at)
        .filter((at) => lower.startsWith(each, at))
        .map((at) => `${index} ${at} ${at + each.length}`),
    ),
  )
}

test('stretches are those that an expression finds', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 60 })
  fc.assert(
    fc.property(
      text,
      fc.integer({ min: 1, max: 6 }),
      fc.nat(20),
      fc.nat(60),
      (text, shortest, from, length) => {
        const to = Math.min(text.length, from + length)
        const matches = text.slice(from, to).matchAll(new RegExp(`[ab]{${shortest},}`, 'g'))
        const expected = [...matches].map(({ 0: { length }, index }) => ({
          start: from + index,
          end: from + index + length,
        }))
        expect(findStretches(charSet('ab'), shortest, text, from, to)).toEqual(expected)
        expect(findStretches(charSetExcept(' '), shortest, text, from, to)).toEqual(expected)
      },
    ),
    { numRuns: times(1000, 100_000) },
  )
})

test('blanks are those of expressions', () => {
  const codes = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code))
  expect(codes.filter((each) => /\s/.test(each)).join('')).toBe([...blanks].sort().join(''))
})

test('every word and every run of letters is looked up that may be a known secret', () => {
  const unit = fc.constantFrom('a', 'B', '7', '-', '.', '/', ':', ' ', ',', '\u00a0', 'é', '(')
  const text = fc.string({
    unit: fc.oneof({ weight: 6, arbitrary: fc.constantFrom('a', 'B', '7') }, unit),
    maxLength: 120,
  })
  fc.assert(
    fc.property(text, fc.nat(120), (text, from) => {
      const asked = new Set<string>()
      const isAsked = (candidate: string): boolean => asked.add(candidate).size > 0
      const all = knownSecrets(isAsked)(text, [], { isWanted: () => true, from: 0, isCut: false })
      const words = [...text.matchAll(/[^\s"'`<>()[\]{},;]{16,}/g)].map(({ 0: each }) =>
        each.replace(/[.:!?]+$/, ''),
      )
      const runs = [...text.matchAll(/[\w-]{16,}/g)].map(({ 0: each }) => each)
      expect([...asked].sort()).toEqual([...new Set([...words, ...runs])].sort())
      const some = knownSecrets(() => true)(text, [], { isWanted: () => true, from, isCut: false })
      expect(some).toEqual(all.filter(({ end }) => end > from))
    }),
    { numRuns: times(1000, 100_000) },
  )
})

const readable = /[\t\n\r -~]{11,}/g
/** Decodes a run at each of its four alignments, and returns the readable parts. */
const decoded = (run: string): string =>
  [0, 1, 2, 3]
    .flatMap((from) => Buffer.from(run.slice(from), 'base64').toString('latin1').match(readable) ?? [])
    .join('\n')

test('base64 is read where it holds something readable, and nowhere else', () => {
  const said = fc
    .string({ unit: fc.constantFrom('a', 'Z', ' ', '~', '\n', '\u00ff'), maxLength: 30 })
    .map(btoa)
  const noise = fc.string({ unit: fc.constantFrom('a', 'Q', '7', '+', '/', 'I'), maxLength: 30 })
  const run = fc.oneof(
    said,
    said.map((each) => each.replaceAll('=', '')),
    noise,
    fc.tuple(noise, said).map(([one, other]) => one + other),
  )
  fc.assert(
    fc.property(run, fc.boolean(), (run, isForAddresses) => {
      const text = isForAddresses ? run.replaceAll('+', '-').replaceAll('/', '_') : run
      const plain = run.replaceAll('=', '')
      const by = plain.length < 16 ? '' : decoded(plain)
      expect(base64(`(${text})`).map((each) => each.by)).toEqual(by === '' ? [] : [by])
    }),
    { numRuns: times(1000, 100_000) },
  )
})

test('words that are broken over lines are read in one piece, as expressions tell them', () => {
  for (const [text, read] of [
    ['Zk_aB3\n  dE5gH7', 'Zk_aB3dE5gH7'],
    ['"Zk_aB3" +\n  "dE5gH7"', '"Zk_aB3dE5gH7"'],
    ['so it goes\non and on', 'so it goes\non and on'],
    ['Zk_aB3\nname=dE5', 'Zk_aB3\nname=dE5'],
    ['Zk_aB3\n\ndE5gH7', 'Zk_aB3\n\ndE5gH7'],
    ['Zk_aB3 dE5gH7', 'Zk_aB3 dE5gH7'],
  ] as const) {
    expect(decodeText(text, unbroken)).toBe(read)
  }
})

test('detectors with the same words share their search, others have their own', () => {
  const detectors = (word: string) => [{ words: [word, 'ghp_'], reach: 4 }, { words: [] }]
  const first = shareKeywords(detectors('akia'))
  expect(shareKeywords(detectors('akia'))).toBe(first)
  const other = shareKeywords(detectors('xoxb'))
  expect([first('AKIA1'), other('AKIA1'), other('xoxb1')]).toEqual([
    [{ start: 0, end: 4, rank: 0 }],
    [],
    [{ start: 0, end: 4, rank: 0 }],
  ])
})
