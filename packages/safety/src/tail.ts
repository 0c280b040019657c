import { plain } from './decodings/decoders.js'
import { decodeText } from './decodings/decoding.js'
import { isProse, joinsProse } from './leak/prose.js'
import { phraseStart } from './spans.js'
import { isThinking } from './thinking.js'

/** The end of a run's previous texts, long enough to recognize a secret that continues in the next text. */
export interface Tail {
  readonly said: string
  /** Offsets of boundaries between texts that are within a word, ascending. */
  readonly seams: readonly number[]
  /** Whether `said` is pure prose, also across the boundaries. */
  readonly isProse: boolean
  /**
   * Whether the next text is in another field: a secret may continue in it, but a label such as `the token` names no value there.
   * Absent = no.
   */
  readonly isOtherField?: boolean
}

type Said = Pick<Tail, 'said' | 'seams'>

export const noTail: Tail = { said: '', seams: [], isProse: true }

/** A string is a tail without boundaries. */
export function readTail(before: Tail | string): Tail {
  if (typeof before !== 'string') return before
  return before === '' ? noTail : { said: before, seams: [], isProse: isProse(before) }
}

/** Characters of previous texts that are kept, besides the rest of a word and its label. */
const tailChars = 192
/**
 * Kept characters of the body of an unfinished private key. They suffice to recognize the key, although rules scan more
 * characters after its header.
 */
const maxKeyChars = 120

const keyWords = 'PRIVATE KEY'
const header = /-{4,5} ?BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-{4,5}/g
const footer = /-{4,5} ?END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-{4,5}/
const begunFooter = /-[A-Z0-9 -]{0,60}$/

/**
 * Returns the `before` for the text after `text`, given the `before` of `text`: the end of everything so far, long enough for a
 * continued secret. Keeps the beginning of an unfinished private key, and the tag of raw thinking.
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

/**
 * Matches a tag at the end of a text. Such a text only mentions the tag, so the tag must not count as the beginning of thinking
 * when the text continues.
 */
const endsInTag = /<think(?:ing)?>$/i

function keep(tail: Tail, text: string): Said {
  const all = join(endsInTag.test(tail.said) ? { ...tail, said: `${tail.said} ` } : tail, text)
  if (isThinking(text, tail.said)) return behindTag(lastWords(all))
  if (!all.said.includes(keyWords)) return lastWords(all)
  const begun = [...all.said.matchAll(header)].at(-1)
  if (begun === undefined) return lastWords({ said: all.said, seams: [] })
  const body = all.said.slice(begun.index + begun[0].length)
  if (footer.test(body)) return lastWords({ said: all.said, seams: [] })
  // If no key follows the header, the text only mentions it.
  if (!isKeyBody(decodeText(body, plain))) return lastWords({ said: body, seams: [] })
  const rest = body.slice(maxKeyChars)
  return { said: begun[0] + body.slice(0, maxKeyChars) + (begunFooter.exec(rest)?.[0] ?? ''), seams: [] }
}

const tag = '<think>\n'
const behindTag = ({ said, seams }: Said): Said => ({
  said: tag + said,
  seams: seams.map((at) => at + tag.length),
})

/** Matches fields before the body of an encrypted or PGP key, even with escaped line breaks. */
const keyField = /(?:^|\\n)[ \t>|#*]*[\w-]+:[^\n\\]*/gm
const keyBody = /^[\w\s+/=\\"'.,;>|#*-]*$/
const sentence = /[A-Za-z]{2,} [a-z]{2,}/

function isKeyBody(text: string): boolean {
  const body = text.replace(keyField, '')
  return keyBody.test(body) && !sentence.test(body)
}

/** A Unicode noncharacter, which texts do not contain, so that it can mark boundaries. */
const noncharacter = '\uffff'

/** Appends a text. Records the boundary if no blank separates the words around it. */
function join({ said, seams }: Said, text: string): Said {
  const isSeam = wordEnd.test(said.slice(-1)) && wordStart.test(text)
  return { said: said + text.replaceAll(noncharacter, ''), seams: isSeam ? [...seams, said.length] : seams }
}

const wordEnd = /[\w-]/
const wordStart = /^[\w-]/

/** Cuts to the last words, in which each boundary counts as one character. */
function lastWords({ said, seams }: Said): Said {
  if (seams.length === 0) return { said: said.slice(phraseStart(said, said.length - tailChars, 0)), seams }
  const starts = [0, ...seams]
  const marked = starts.map((start, part) => said.slice(start, starts[part + 1])).join(noncharacter)
  const parts = marked.slice(phraseStart(marked, marked.length - tailChars, 0)).split(noncharacter)
  const ends: number[] = []
  for (const { length } of parts) ends.push((ends.at(-1) ?? 0) + length)
  return { said: parts.join(''), seams: ends.slice(0, -1) }
}

/** Whether `text` may continue a name of separate words at the end of `before`: `public`, ` key`. */
export const mayNameGoOn = (before: string, text: string): boolean =>
  /[\w-] ?$/.test(before.slice(-2)) && /^ ?[\w-]/.test(text)

/** A preceding text in which a secret may begin. */
export interface SecretBeginning {
  readonly before: string
  /** Whether `before` begins at a boundary between two texts, so that it lacks the earlier part of a word. */
  readonly isCut: boolean
}

/** Maximum number of boundaries at which a secret may begin; each one requires another scan. */
const maxSeams = 8

/**
 * Lists the preceding texts in which a secret may begin: all of `said`, and the text since each of the last boundaries. A
 * secret may begin at any boundary: `go` and `AKIA…` are two words.
 */
export const listBeginnings = ({ said, seams }: Said): readonly SecretBeginning[] => [
  { before: said, isCut: false },
  ...seams
    .slice(-maxSeams)
    .map((at): SecretBeginning => ({ before: said.slice(at), isCut: true }))
    .reverse(),
]
