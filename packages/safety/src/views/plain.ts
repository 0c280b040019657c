import { type Replacement, unchanged } from './view.js'

const unusual = /[^\t\n\r -~]/
const lineEnd = /[\u0085\u2028\u2029]/
/** What is not seen, or sits on the character before it. */
const unseen = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Script=Inherited}]/u
/** Every block with characters that are another form of ASCII ones, such as full-width or accented letters. */
const forms =
  '\\u00a0-\\u0233\\u02b0-\\u02e3\\u037a-\\u0385\\u1d2c-\\u1dbb\\u1e00-\\u24ea\\u2a74-\\u2a76\\u2c7c\\u2c7d\\u3000' +
  '\\u309b\\u309c\\u3200-\\u33ff\\ua7f1-\\ua7f4\\ufb00-\\ufb29\\ufc5e-\\ufc63\\ufdfa-\\uffe3\\u{107a5}' +
  '\\u{1ccd6}-\\u{1ccf9}\\u{1d400}-\\u{1d7ff}\\u{1f100}-\\u{1f190}\\u{1fbf0}-\\u{1fbf9}'
const candidate = new RegExp(`(?![\\t\\n\\r])(?:${unseen.source}|[${forms}])`, 'u')

/** Reads through what only looks different: invisible characters, accents, full-width and other forms of ASCII. */
export function plain(text: string): readonly Replacement[] {
  const first = text.search(unusual)
  if (first === -1) return unchanged
  const replacements: Replacement[] = []
  for (let start = first, end = start; start < text.length; start = end) {
    const code = text.codePointAt(start) ?? 0
    end = start + (code > 0xffff ? 2 : 1)
    if (code >= 0x20 && code <= 0x7e) continue
    const by = readAs(code)
    if (by !== undefined) replacements.push({ start, end, by })
  }
  return replacements
}

/** What characters are read as, which takes a while to tell. */
const known = new Map<number, string | undefined>()
const mostKnown = 4096

function readAs(code: number): string | undefined {
  const by = known.get(code)
  if (by !== undefined || known.has(code)) return by
  if (known.size >= mostKnown) known.clear()
  const character = String.fromCodePoint(code)
  const read = candidate.test(character) ? inAscii(character) : undefined
  known.set(code, read)
  return read
}

function inAscii(character: string): string | undefined {
  if (lineEnd.test(character)) return '\n'
  if (unseen.test(character)) return ''
  const ascii = character.normalize('NFKD').replace(/[^ -~]/g, '')
  // An ellipsis is just that.
  return ascii === '' || ascii === '...' ? undefined : ascii
}
