import { TextSearch } from '@meup/folds'
import { expect, test } from 'vitest'
import {
  blockRows,
  bucketOf,
  findBlocks,
  listRows,
  Postings,
  segmentRows,
} from '../src/index/words/segment.js'
import { foldCase, tokensOf } from '../src/index/words/tokens.js'

/** All characters that have an upper or lower case variant. */
const cased = Array.from({ length: 0x1_e944 }, (_, at) => at)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
  .filter((each) => each.toLowerCase() !== each || each.toUpperCase() !== each)

test('what a search takes as equal has the same tokens', () => {
  const all = cased.join('')
  for (const each of cased) {
    const equal = all.match(new RegExp(each, 'giu')) ?? []
    expect(new Set([...equal, each].map(foldCase)).size, each).toBe(1)
  }
})

const isWithin = (word: string, text: string): boolean => {
  const tokens = new Set(tokensOf(text))
  return [...tokensOf(word)].every((token) => tokens.has(token))
}

test.for<[word: string, text: string]>([
  ['needle', 'a NEEDLE.'],
  ['ΣΊΣΥΦΟΣ', 'ο σίσυφος'],
  ['straße', 'STRAẞE'],
  ['東京', '私は東京へ行く'],
  ['猫', '黒猫'],
  ['한국', '대한국민'],
  ['😀', 'so 😀!'],
  ['"', 'he said "OR *"'],
  ['é', 'café'],
])('%j is in %j', ([word, text]) => {
  expect(
    new TextSearch(word).match({ from: 'x', kind: 'chat', payload: { message: text } } as never),
  ).toBeDefined()
  expect(isWithin(word, text)).toBe(true)
})

test('other words are not, though all their letters are', () => {
  expect(isWithin('needle', 'nee eed dle')).toBe(false)
  expect(isWithin('東京', '京東')).toBe(false)
  expect(isWithin('café', 'cafe')).toBe(false)
})

test('words of one or two letters have no tokens, since they are nearly everywhere', () => {
  expect([...tokensOf('a'), ...tokensOf('é'), ...tokensOf('OK'), ...tokensOf('"*')]).toEqual([])
})

test('a segment gives back the blocks of each token, few or many', () => {
  const postings = new Postings()
  const said = new Map<number, Set<number>>()
  for (let seq = segmentRows + 1; seq <= 2 * segmentRows; seq++) {
    const tokens = [...Array(8).keys()].map((at) => Math.imul(seq % (7 ** at + 1), 0x9e3779b1 + at) >>> 2)
    postings.add(seq, 3, tokens)
    for (const token of tokens)
      said.set(token, (said.get(token) ?? new Set()).add(Math.floor((seq - 1) / blockRows)))
  }
  const buckets = postings.encode()
  const bits = Math.log2(buckets.length)
  for (const [token, blocks] of said) {
    const bucket = buckets[bucketOf(token, bits)] ?? new Uint8Array()
    const list = (readers: number) =>
      listRows(
        1,
        findBlocks(bucket, token, (each) => each === readers),
      )
    expect(new Set(list(3).map((seq) => Math.floor((seq - 1) / blockRows)))).toEqual(blocks)
    expect(list(2)).toEqual([])
  }
})
