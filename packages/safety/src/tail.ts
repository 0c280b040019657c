import { plain } from './decodings/decoders.js'
import { decodeText } from './decodings/decoding.js'
import { phraseStart } from './spans.js'
import { isThinking } from './thinking.js'

/** Characters of what was said last, beside the rest of the word there and its label. */
const tailChars = 192
/** Characters by which the body of a key is known: fewer than are read behind its header. */
const maxKeyChars = 120

const header = /-{4,5} ?BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-{4,5}/g
const footer = /-{4,5} ?END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-{4,5}/
const begunFooter = /-[A-Z0-9 -]{0,60}$/

/**
 * What to give as `before` with the text that follows on `text`, where `before` was given with `text`: the end of what
 * was said, long enough for a secret that goes on. An unfinished private key keeps its beginning, and raw thinking its tag.
 */
export function tailOf(before: string, text: string): string {
  const marked = joinAtSeam(before, text)
  const said = withoutSeams(marked)
  if (isThinking(text, withoutSeams(before))) return `<think>\n${lastWords(marked)}`
  if (!said.includes('PRIVATE KEY')) return lastWords(marked)
  const begun = [...said.matchAll(header)].at(-1)
  if (begun === undefined) return lastWords(said)
  const body = said.slice(begun.index + begun[0].length)
  if (footer.test(body)) return lastWords(said)
  // Where a header is only spoken of, what follows is no key.
  if (!isKeyBody(decodeText(body, plain))) return lastWords(body)
  const rest = body.slice(maxKeyChars)
  return begun[0] + body.slice(0, maxKeyChars) + (begunFooter.exec(rest)?.[0] ?? '')
}

const lastWords = (said: string): string => said.slice(phraseStart(said, said.length - tailChars, 0))

/** What stands before the body of a key that is encrypted, or of PGP, also where the ends of lines are escaped. */
const keyField = /(?:^|\\n)[ \t>|#*]*[\w-]+:[^\n\\]*/gm
const keyBody = /^[\w\s+/=\\"'.,;>|#*-]*$/
const prose = /[A-Za-z]{2,} [a-z]{2,}/

function isKeyBody(text: string): boolean {
  const body = text.replace(keyField, '')
  return keyBody.test(body) && !prose.test(body)
}

/** Stands in what was said where one text ended and the next began within a word. No text has this noncharacter. */
const seam = '\uffff'
/** Seams at which a secret is looked for: each costs a look of its own. */
const maximum = 8

/** Whether a name may, of which the words stand apart: `public`, ` key`. */
export const mayNameGoOn = (before: string, text: string): boolean =>
  /[\w-] ?$/.test(before) && /^ ?[\w-]/.test(text)

/** One text behind another; where nothing parts their words, the place is marked. */
const joinAtSeam = (before: string, text: string): string =>
  `${before}${/[\w-]$/.test(before) && /^[\w-]/.test(text) ? seam : ''}${withoutSeams(text)}`

export const withoutSeams = (said: string): string => said.replaceAll(seam, '')

/** What a text may go on from. */
export interface Beginning {
  readonly before: string
  /** It begins at a seam. */
  readonly isCut: boolean
}

/**
 * What a text may go on from: all that was said, and what was said since each of the last seams. A secret may begin there,
 * whatever the text before it ends with: `go` and `AKIA…` are two words.
 */
export function listBeginnings(said: string): readonly Beginning[] {
  const parts = said.split(seam)
  const cut = Array.from({ length: Math.min(maximum, parts.length - 1) }, (_, i) =>
    parts.slice(-1 - i).join(''),
  )
  return [
    { before: parts.join(''), isCut: false },
    ...cut.map((before): Beginning => ({ before, isCut: true })),
  ]
}
