import type { Decoding } from '../decodings/decoding.js'
import { getDecodings } from '../decodings/decodings.js'
import { chargeLooks, chargeReading, type Meter } from '../meter.js'
import { codeAt, lastFrom, type Span } from '../spans.js'
import { type Detector, endOfToken } from './detector.js'
import { looksBegun } from './looks.js'
import { merge, type Secret } from './secret.js'

/** A text in which secrets are looked for. */
export interface Part {
  readonly text: string
  /** The words of detectors in it. */
  readonly words: Words
  /** Where it goes on from another: only what is told by what goes over that place is looked for. */
  readonly seam?: number
  /** A word before it may go on in it. */
  readonly isCut: boolean
}

export interface Finder {
  /** The words of detectors, by the detectors' ranks. */
  wordsIn(text: string): Words
  /** Every secret in all views of a text, in no order, some overlapping; a secret's rank is its detector's place. */
  find(part: Part, meter: Meter): Secret[]
}

export function compileFinder(detectors: readonly Detector[]): Finder {
  const wordsIn = compileKeywords(detectors.map(({ words }) => words))
  /** Those that look everywhere. */
  const wordless = detectors.flatMap(({ words }, rank) => (words.length === 0 ? [rank] : []))

  /** Tokens that go over a seam, and on to the end of the text, and begin as those of a detector do. */
  function begunTokens(text: string, words: Words, seam: number): Secret[] {
    const found: Secret[] = []
    for (const [rank, spans] of words) {
      if (detectors[rank]?.beginsSecrets !== true) continue
      for (const { start, end } of spans) {
        if (start >= seam || end - start < minPrefixChars || common.test(text.slice(start, end))) continue
        const token = text.slice(start)
        if (!oneToken.test(token) || /[\w-]/.test(text.charAt(start - 1))) continue
        if (looksBegun(token)) found.push({ start, end: text.length, rank })
      }
    }
    return found
  }

  const find = ({ text, words: writtenWords, seam, isCut }: Part, meter: Meter): Secret[] => {
    const { certain, joined } = getDecodings(text, meter)
    const written = certain[0]
    const searchIn = (view: Decoding, found: Secret[]): void => {
      if (view.text === '') return
      const isWanted = (span: Span): boolean => seam === undefined || isAcross(seam, view.origin(span))
      // The seam is at a place of the text as it is written. Where nothing is read on, nothing before it has a say.
      const here = view === written ? seam : undefined
      const from = here === undefined || joined.length > 0 ? 0 : here
      const look = { isWanted, from, isCut, ...(here !== undefined && { seam: here }) }
      const lookFor = (rank: number, words: readonly Span[]): void => {
        const secrets = detectors[rank]?.find(view.text, words, look) ?? []
        chargeLooks(meter, secrets.length, 'secret')
        for (const secret of secrets) found.push({ ...wholeToken(view, secret, seam), rank })
      }
      chargeReading(meter, (1 + 2 * wordless.length) * view.text.length)
      for (const rank of wordless) lookFor(rank, [])
      const words = view === written ? writtenWords : wordsIn(view.text)
      if (here !== undefined) found.push(...begunTokens(text, words, here))
      for (const [rank, spans] of words) {
        chargeLooks(meter, spans.length, detectors[rank]?.isQuick === true ? 'rule' : 'match')
        lookFor(rank, spans)
      }
    }
    const found: Secret[] = []
    for (const view of certain) searchIn(view, found)
    if (joined.length === 0) return found
    const known = merge(found)
    const others: Secret[] = []
    for (const view of joined) searchIn(view, others)
    return [...found, ...others.filter((secret) => !addsMereWord(text, secret, known))]
  }
  return { wordsIn, find }
}

/** Of what tokens begin with, shorter ones begin much else. */
const minPrefixChars = 4
/** What base64 has of zeros, and names begin with, too. */
const common = /^(?:(.)\1*|api-|key-)$/i
const oneToken = /^[\w.+/=~-]+$/

/** Where a secret is, with the rest of its token; but what ends before the seam has its end there. */
function wholeToken(view: Decoding, secret: Span, seam: number | undefined): Span {
  const whole = view.origin({ start: secret.start, end: endOfToken(view.text, secret.end) })
  const isDone = seam !== undefined && view.origin(secret).end <= seam
  return isDone ? { start: whole.start, end: Math.min(whole.end, seam) } : whole
}

const isAcross = (place: number, { start, end }: Span): boolean => start < place && place < end

const word = /^[A-Z]?[a-z]+[.,;:!?)]*\s*\n\s*$/

/** Whether a secret that goes over lines is a known one, to which the last word of the line before was added. */
function addsMereWord(text: string, secret: Secret, known: readonly Secret[]): boolean {
  const inside = lastFrom(known, secret.end - 1)
  if (inside === undefined || inside.end < secret.end || inside.start <= secret.start) return false
  return word.test(text.slice(secret.start, inside.start))
}

/** Words in a text, by the index of the list that has them, in the order of their starts. */
export type Words = ReadonlyMap<number, readonly Span[]>

/** The words of a part of the text: where a word is does not depend on what surrounds it. */
export function wordsWithin(words: Words, from: number, to: number): Words {
  const within = new Map<number, Span[]>()
  for (const [index, spans] of words) {
    const inside = spans.filter(({ start, end }) => start >= from && end <= to)
    if (inside.length === 0) continue
    within.set(
      index,
      inside.map(({ start, end }) => ({ start: start - from, end: end - from })),
    )
  }
  return within
}

/** Of the class of a character. */
const bits = 6
/** Characters by which words are looked up. */
const looked = 3
const mask = 2 ** (bits * looked) - 1

/** A word, the lists that have it, and the class of its next character, if it is that long. */
interface Word {
  readonly word: string
  readonly lists: readonly number[]
  readonly next: number | undefined
}

/**
 * Compiles lists of lower-case words to a search for all of them at once, in one pass over a text, whose
 * capitals count as lower case. Where nothing stands that begins a word, it looks no closer.
 */
export function compileKeywords(lists: readonly (readonly string[])[]): (text: string) => Words {
  /** By character code; what no word has is of class 0. */
  const classes = new Uint8Array(0x10000)
  for (const [index, letter] of [...new Set(lists.flat().join('').split(''))].entries()) {
    for (const each of [letter, letter.toUpperCase()])
      if (each.length === 1) classes[each.charCodeAt(0)] = 1 + (index % (2 ** bits - 1))
  }
  const classAt = (text: string, at: number): number =>
    at < text.length ? (classes[codeAt(text, at)] ?? 0) : 0

  const listsOf = new Map<string, number[]>()
  for (const [index, list] of lists.entries())
    for (const word of list) listsOf.set(word, [...(listsOf.get(word) ?? []), index])
  /** By the classes of as many characters as are looked at, which words may begin there; some are alike. */
  const begun = new Uint16Array(mask + 1)
  const words: Word[][] = [[]]
  for (const [word, lists] of listsOf) {
    const open = bits * Math.max(0, looked - word.length)
    let first = 0
    for (let at = 0; at < looked; at++) first = (first << bits) | classAt(word, at)
    const next = word.length > looked ? classAt(word, looked) : undefined
    const added = new Map<number, number>()
    for (let code = first; code < first + 2 ** open; code++) {
      const before = begun[code] ?? 0
      const after = added.get(before) ?? words.push([...(words[before] ?? []), { word, lists, next }]) - 1
      added.set(before, after)
      begun[code] = after
    }
  }

  return (text) => {
    const found = new Map<number, Span[]>()
    let seen = 0
    // Behind the end stand characters of no word.
    for (let at = 0; at < text.length + looked - 1; at++) {
      seen = ((seen << bits) | classAt(text, at)) & mask
      const list = begun[seen]
      if (list === 0 || list === undefined) continue
      const start = at - looked + 1
      const behind = classAt(text, at + 1)
      for (const { word, lists, next } of words[list] ?? []) {
        if (next !== undefined && next !== behind) continue
        const end = start + word.length
        if (text.slice(start, end).toLowerCase() !== word) continue
        for (const index of lists) {
          const spans = found.get(index)
          if (spans === undefined) found.set(index, [{ start, end }])
          else spans.push({ start, end })
        }
      }
    }
    return found
  }
}
