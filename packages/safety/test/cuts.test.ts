import { compileSafety, defaultSafety, type Tail, tailOf } from '@meup/safety'
import { expect, test } from 'vitest'
import { isSoak } from '../../../test/support/soak.js'
import { benignCases } from './corpus/benign/index.js'
import { Random } from './corpus/random.js'
import { isHidden, type SecretCase, secretCases } from './corpus/secrets.js'

const { guard } = compileSafety(defaultSafety)
const shown = (text: string): string => guard(text).text
const seeds = isSoak ? Array.from({ length: 20 }, (_, seed) => `cuts ${seed}`) : ['cuts']

/** Cuts a text at one to three random positions. */
function pieces(text: string, random: Random): string[] {
  const cuts = Array.from({ length: random.integer(1, 3) }, () => random.integer(1, text.length - 1))
  const places = [...new Set(cuts)].sort((one, other) => one - other)
  return [0, ...places].map((at, index) => text.slice(at, places[index]))
}

/** Guards consecutive texts, and returns what readers see of each. */
function seenOf(texts: readonly string[]): string[] {
  let said: Tail | string = ''
  return texts.map((text) => {
    const { text: seen } = guard(text, said)
    said = tailOf(said, text)
    return seen
  })
}

/** Returns the span of the secrets in a text. `undefined` if they are recognized only by the text after them. */
function placeOf({ text, secrets }: SecretCase): { start: number; end: number } | undefined {
  const [first = '', last = ''] = [secrets[0], secrets.at(-1)]
  const start = text.indexOf(first)
  const end = text.lastIndexOf(last) + last.length
  const isTold = isHidden({ ...emptyCase, secrets }, shown(text.slice(0, end + 1)))
  return isTold ? { start, end } : undefined
}
const emptyCase = { family: '', group: '', place: '', notation: '', text: '' }

/**
 * One of this many secrets may be recognized only after a part of it was shown: passphrases, which are recognized by their
 * words, and tokens with prefixes that no rule contains.
 */
const oneIn = 500
/** If this many consecutive characters of a secret are visible, the test fails. */
const fewest = 12

test.each(seeds)('a secret that is cut into thoughts is hidden from the first cut on (%s)', (seed) => {
  const random = new Random(seed)
  const cases = secretCases(seed, 1).filter((_, index) => isSoak || index % 6 === 0)
  const visible: unknown[] = []
  let tried = 0
  for (const each of cases) {
    const place = placeOf(each)
    if (place === undefined || !isHidden(each, shown(each.text))) continue
    tried++
    const texts = pieces(each.text, random)
    const seen = seenOf(texts)
    let at = 0
    const cuts = texts.map((text) => (at += text.length))
    const cut = cuts.find((cut) => cut > place.start && cut < place.end) ?? place.start
    const rest = each.text.slice(cut, place.end)
    const all = seen.join('')
    const isVisible = each.secrets.some((secret) =>
      windows(secret).some((part) => rest.includes(part) && all.includes(part)),
    )
    if (isVisible) visible.push({ family: each.family, place: each.place, texts, seen })
  }
  expect(visible.length, JSON.stringify(visible, undefined, 2)).toBeLessThanOrEqual(tried / oneIn)
  expect(tried).toBeGreaterThan(cases.length * 0.9)
})

const windows = (secret: string): string[] =>
  Array.from({ length: Math.max(0, secret.length - fewest + 1) }, (_, at) => secret.slice(at, at + fewest))

test.each(seeds)('thoughts without a secret stay as they are, wherever they are cut (%s)', (seed) => {
  const random = new Random(seed)
  const changed: unknown[] = []
  for (const { text, source } of benignCases({ seed, count: isSoak ? 1000 : 300, system: false })) {
    if (text.length < 2 || shown(text) !== text) continue
    const texts = pieces(text, random)
    const seen = seenOf(texts)
    if (seen.join('') !== text) changed.push({ source, texts, seen })
  }
  expect(changed).toEqual([])
})
