/**
 * The tokens of a text in the word index: its trigrams, and in scripts without spaces also single characters and pairs. Every
 * text that contains a word has all tokens of the word, regardless of case.
 */
export function* tokensOf(text: string): Generator<number, void> {
  const folded = foldCase(text)
  let [before, last] = [0, 0]
  for (let at = 0; at < folded.length; at++) {
    const unit = folded.charCodeAt(at)
    if (unit <= space) {
      before = last = 0
      continue
    }
    if (unit >= firstIdeograph) {
      yield hash(0, 0, unit)
      if (last >= firstIdeograph) yield hash(0, last, unit)
    }
    if (before > 0) yield hash(before, last, unit)
    before = last
    last = unit
  }
}

/** Control characters and the space never belong to a word. */
const space = 0x20
/** From this code unit on, words may have one or two characters: Chinese, Japanese and Korean, and surrogates. */
const firstIdeograph = 0x2e80

/** Bits of a token: the size of V8's small integers. */
export const tokenBits = 30

/** Hashes three UTF-16 units; 0 = none. Collisions are resolved when the text is read. */
const hash = (first: number, second: number, third: number): number =>
  (Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca77) ^ Math.imul(third, 0xc2b2ae3d)) >>>
  (32 - tokenBits)

/** Case folding equal to that of a regular expression with the flags `iu`, character by character. */
export const foldCase = (text: string): string =>
  isAscii.test(text) ? text.toLowerCase() : text.replace(notAscii, fold).toLowerCase()

const isAscii = /^[\0-\x7f]*$/
const notAscii = /[^\0-\x7f]/gu

const folded = new Map([
  ['\u1fd3', '\u0390'],
  ['\u1fe3', '\u03b0'],
  ['\ufb06', '\ufb05'],
])

function fold(character: string): string {
  const known = folded.get(character)
  if (known !== undefined) return known
  const upper = asOne(character.toUpperCase(), character)
  const lower = asOne(upper.toLowerCase(), upper)
  if (folded.size < maxFolded) folded.set(character, lower)
  return lower
}

const maxFolded = 10_000
const asOne = (text: string, otherwise: string): string =>
  text.length === String.fromCodePoint(text.codePointAt(0) ?? 0).length ? text : otherwise
