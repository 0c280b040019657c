import { plain } from './decodings/decoders.js'
import { decodeText } from './decodings/decoding.js'
import { isProse, joinsProse } from './leak/prose.js'
import { phraseStart } from './spans.js'
import { isThinking } from './thinking.js'

/** The end of what was said: as much as a secret may need that goes on behind it. */
export interface Tail {
  readonly said: string
  /** Where in it one text ended and the next began within a word, in order. */
  readonly seams: readonly number[]
  /** It is nothing but prose, over those places too. */
  readonly isProse: boolean
}

type Said = Omit<Tail, 'isProse'>

export const noTail: Tail = { said: '', seams: [], isProse: true }

/** A string is a tail without a seam. */
export function readTail(before: Tail | string): Tail {
  if (typeof before !== 'string') return before
  return before === '' ? noTail : { said: before, seams: [], isProse: isProse(before) }
}

/** Characters of what was said last, beside the rest of the word there and its label. */
const tailChars = 192
/** Characters by which the body of a key is known: fewer than are read behind its header. */
const maxKeyChars = 120

const keyWords = 'PRIVATE KEY'
const header = /-{4,5} ?BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-{4,5}/g
const footer = /-{4,5} ?END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-{4,5}/
const begunFooter = /-[A-Z0-9 -]{0,60}$/

/**
 * What to give as `before` with the text that follows on `text`, where `before` was given with `text`: the end of what
 * was said, long enough for a secret that goes on. An unfinished private key keeps its beginning, and raw thinking its tag.
 */
export function tailOf(before: Tail | string, text: string): Tail {
  const tail = readTail(before)
  const { said, seams } = tail
  if (isProse(text)) {
    const start = phraseStart(text, text.length - tailChars, 0)
    const isOver = tail.isProse || !(said.includes('<') || said.includes(keyWords))
    if (start > 0 && isOver) return { said: text.slice(start), seams: [], isProse: true }
    if (tail.isProse && joinsProse(said, seams, text))
      return { ...lastWords(join(tail, text)), isProse: true }
  }
  const kept = keep(tail, text)
  return { ...kept, isProse: isProse(kept.said) }
}

/** A tag that was only spoken of is still that when more is said. */
const endsInTag = /<think(?:ing)?>$/i

function keep(tail: Tail, text: string): Said {
  const all = join(endsInTag.test(tail.said) ? { ...tail, said: `${tail.said} ` } : tail, text)
  if (isThinking(text, tail.said)) return behindTag(lastWords(all))
  if (!all.said.includes(keyWords)) return lastWords(all)
  const begun = [...all.said.matchAll(header)].at(-1)
  if (begun === undefined) return lastWords({ said: all.said, seams: [] })
  const body = all.said.slice(begun.index + begun[0].length)
  if (footer.test(body)) return lastWords({ said: all.said, seams: [] })
  // Where a header is only spoken of, what follows is no key.
  if (!isKeyBody(decodeText(body, plain))) return lastWords({ said: body, seams: [] })
  const rest = body.slice(maxKeyChars)
  return { said: begun[0] + body.slice(0, maxKeyChars) + (begunFooter.exec(rest)?.[0] ?? ''), seams: [] }
}

const tag = '<think>\n'
const behindTag = ({ said, seams }: Said): Said => ({
  said: tag + said,
  seams: seams.map((at) => at + tag.length),
})

/** What stands before the body of a key that is encrypted, or of PGP, also where the ends of lines are escaped. */
const keyField = /(?:^|\\n)[ \t>|#*]*[\w-]+:[^\n\\]*/gm
const keyBody = /^[\w\s+/=\\"'.,;>|#*-]*$/
const sentence = /[A-Za-z]{2,} [a-z]{2,}/

function isKeyBody(text: string): boolean {
  const body = text.replace(keyField, '')
  return keyBody.test(body) && !sentence.test(body)
}

/** A noncharacter: no text needs it. */
const noncharacter = '\uffff'

/** One text behind another; where nothing parts their words, there is a seam. */
function join({ said, seams }: Said, text: string): Said {
  const isSeam = wordEnd.test(said.slice(-1)) && wordStart.test(text)
  return { said: said + text.replaceAll(noncharacter, ''), seams: isSeam ? [...seams, said.length] : seams }
}

const wordEnd = /[\w-]/
const wordStart = /^[\w-]/

/** A seam counts as a character. */
function lastWords({ said, seams }: Said): Said {
  if (seams.length === 0) return { said: said.slice(phraseStart(said, said.length - tailChars, 0)), seams }
  const starts = [0, ...seams]
  const marked = starts.map((start, part) => said.slice(start, starts[part + 1])).join(noncharacter)
  const parts = marked.slice(phraseStart(marked, marked.length - tailChars, 0)).split(noncharacter)
  const ends: number[] = []
  for (const { length } of parts) ends.push((ends.at(-1) ?? 0) + length)
  return { said: parts.join(''), seams: ends.slice(0, -1) }
}

/** Whether a name may, of which the words stand apart: `public`, ` key`. */
export const mayNameGoOn = (before: string, text: string): boolean =>
  /[\w-] ?$/.test(before.slice(-2)) && /^ ?[\w-]/.test(text)

/** What a text may go on from. */
export interface Beginning {
  readonly before: string
  /** It begins at a seam. */
  readonly isCut: boolean
}

/** Seams at which a secret is looked for: each costs a look of its own. */
const maxSeams = 8

/**
 * What a text may go on from: all that was said, and what was said since each of the last seams. A secret may begin there,
 * whatever the text before it ends with: `go` and `AKIA…` are two words.
 */
export const listBeginnings = ({ said, seams }: Said): readonly Beginning[] => [
  { before: said, isCut: false },
  ...seams
    .slice(-maxSeams)
    .map((at): Beginning => ({ before: said.slice(at), isCut: true }))
    .reverse(),
]
