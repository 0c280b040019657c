/**
 * What stands for a text in the index of words: its parts of three characters, and in scripts that are written without spaces
 * also those of one and two. All tokens of a word are among those of every text that has it, in any case.
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

/** Control characters and the space: no word has one. */
const space = 0x20
/** From here on, scripts have words of one or two characters: Chinese, Japanese and Korean, and surrogates. */
const firstIdeograph = 0x2e80

/** Bits of a token: as many as V8 has in its small integers. */
export const tokenBits = 30

/** Of three UTF-16 units; 0 = none. Two that have the same hash are told apart when the text is read. */
const hash = (first: number, second: number, third: number): number =>
  (Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca77) ^ Math.imul(third, 0xc2b2ae3d)) >>>
  (32 - tokenBits)

/** Makes equal what a regular expression with the flags `iu` takes as equal, character by character. */
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
