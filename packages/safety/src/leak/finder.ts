import type { Decoding } from '../decodings/decoding.js'
import { getDecodings } from '../decodings/decodings.js'
import { chargeLooks, chargeReading, type Meter } from '../meter.js'
import { lastFrom, type Span } from '../spans.js'
import { type Detector, endOfToken } from './detector.js'
import { looksBegun } from './looks.js'
import { merge, type Secret } from './secret.js'

/** A text, and what is known about it before the search for secrets. */
export interface SearchedText {
  readonly text: string
  /** Occurrences of the detectors' keywords in the text. */
  readonly hits: readonly Hit[]
  /** Offset of the boundary to the preceding text: only secrets across it are searched. */
  readonly seam?: number
  /** Whether the preceding text is from another field: its labels name no value in this one. */
  readonly isOtherField?: boolean
  /** Whether the first word of `text` may be the rest of a word or a name that began in an earlier text. */
  readonly isCut: boolean
}

interface Finder {
  /** Finds the keywords of all detectors in a text; grouped by detector, sorted by start. */
  hitsIn(text: string): readonly Hit[]
  /**
   * Finds every secret in a text and its decoded versions, unsorted, possibly overlapping. The rank of a secret is the index of
   * its detector.
   */
  find(part: SearchedText, meter: Meter): Secret[]
}

export function compileFinder(detectors: readonly Detector[]): Finder {
  const hitsIn = shareKeywords(detectors)
  /** Indexes (`rank`) of the detectors without keywords, which search the whole text. */
  const wordless = detectors.flatMap(({ words }, rank) => (words.length === 0 ? [rank] : []))

  // Separate arrays, because reading a field of detectors, which have many hidden classes, is slow in V8.
  const haveBlanks = detectors.map(({ hasBlanks = true }) => hasBlanks)
  const lookBack = detectors.map(({ looksBack = true }) => looksBack)
  const beginSecrets = detectors.map(({ beginsSecrets = false }) => beginsSecrets)
  const areLabelled = detectors.map(({ isLabelled = false }) => isLabelled)

  /** Whether a secret that is found at a keyword may extend over the offset `place`. */
  const mayCross = ({ rank, start }: Hit, place: number, text: string): boolean =>
    start < place ? haveBlanks[rank] === true || isVisible(text, start, place + 1) : lookBack[rank] === true

  /**
   * Finds tokens across the boundary `seam` up to the end of the text that begin with a detector's keyword: they may be
   * incomplete secrets.
   */
  function begunTokens(text: string, hits: readonly Hit[], seam: number): Secret[] {
    const found: Secret[] = []
    for (const { start, end, rank } of hits) {
      if (start >= seam || end - start < minPrefixChars || beginSecrets[rank] !== true) continue
      if (common.test(text.slice(start, end)) || /[\w-]/.test(text.charAt(start - 1))) continue
      const token = text.slice(start)
      if (oneToken.test(token) && looksBegun(token)) found.push({ start, end: text.length, rank })
    }
    return found
  }

  const find = (part: SearchedText, meter: Meter): Secret[] => {
    const { text, hits: writtenHits, seam, isCut, isOtherField = false } = part
    const { certain, joined } = getDecodings(text, meter)
    const written = certain[0]
    const searchIn = (view: Decoding, found: Secret[]): void => {
      if (view.text === '') return
      const isWanted = (span: Span): boolean => seam === undefined || isAcross(seam, view.origin(span))
      // The boundary is an offset in the text as written, so it is unknown in decoded texts. A wanted secret ends after it, so
      // detectors may skip earlier matches. If lines were joined, the earlier ones are needed by `addsMereWord`.
      const here = view === written ? seam : undefined
      const from = here === undefined || joined.length > 0 ? 0 : here
      const look = { isWanted, from, isCut, ...(here !== undefined && { seam: here }) }
      const lookFor = (rank: number, words: readonly Span[]): void => {
        if (isOtherField && areLabelled[rank] === true) return
        const secrets = detectors[rank]?.find(view.text, words, look) ?? []
        chargeLooks(meter, secrets.length, 'secret')
        for (const secret of secrets) found.push({ ...wholeToken(view, secret, seam), rank })
      }
      chargeReading(meter, (1 + 2 * wordless.length) * view.text.length)
      for (const rank of wordless) lookFor(rank, [])
      let hits = view === written ? writtenHits : hitsIn(view.text)
      if (here !== undefined && hits.length > 0) {
        found.push(...begunTokens(text, hits, here))
        hits = hits.filter((hit) => mayCross(hit, here, view.text))
      }
      for (let first = 0, next = 0; first < hits.length; first = next) {
        const { rank } = hits[first] as Hit
        while (next < hits.length && (hits[next] as Hit).rank === rank) next++
        chargeLooks(meter, next - first, detectors[rank]?.isQuick === true ? 'rule' : 'match')
        lookFor(rank, hits.slice(first, next))
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
  return { hitsIn, find }
}

/** Minimum characters of a prefix that identifies the beginning of a token: shorter ones match too many ordinary words. */
const minPrefixChars = 4
/** Matches prefixes that are common in other texts: base64 of zeros, and beginnings of names. */
const common = /^(?:(.)\1*|api-|key-)$/i
const oneToken = /^[\w.+/=~-]+$/

/**
 * Extends a secret to the end of its token, but not beyond the boundary to the preceding text (`seam`) if the secret ends
 * before it.
 */
function wholeToken(view: Decoding, secret: Span, seam: number | undefined): Span {
  const whole = view.origin({ start: secret.start, end: endOfToken(view.text, secret.end) })
  const isDone = seam !== undefined && view.origin(secret).end <= seam
  return isDone ? { start: whole.start, end: Math.min(whole.end, seam) } : whole
}

const isAcross = (place: number, { start, end }: Span): boolean => start < place && place < end

const word = /^[A-Z]?[a-z]+[.,;:!?)]*\s*\n\s*$/

/** Returns `true` if a secret in joined lines is one of `known`, extended by the last word of the previous line. */
function addsMereWord(text: string, secret: Secret, known: readonly Secret[]): boolean {
  const inside = lastFrom(known, secret.end - 1)
  if (inside === undefined || inside.end < secret.end || inside.start <= secret.start) return false
  return word.test(text.slice(secret.start, inside.start))
}

/** An occurrence of a detector's keyword in a text. `rank`: index of the detector. */
export interface Hit extends Span {
  readonly rank: number
}

/** Selects the keywords within a part of the text, with offsets in that part. */
export function hitsWithin(hits: readonly Hit[], from: number, to: number): readonly Hit[] {
  if (hits.length === 0) return hits
  const inside = hits.filter(({ start, end }) => start >= from && end <= to)
  return from === 0
    ? inside
    : inside.map(({ start, end, rank }) => ({ start: start - from, end: end - from, rank }))
}

/**
 * Number of bits of a character's class (see `classes`): few, so that the classes of three characters make a small array index.
 */
const bits = 6
/** Number of characters, from the beginning of a keyword, by whose classes keywords are looked up. */
const looked = 3
const mask = 2 ** (bits * looked) - 1

/** A keyword, the indexes of the detectors that have it, and the class of its fourth character (`next`) if it has one. */
interface Word {
  readonly word: string
  readonly ranks: readonly number[]
  readonly next: number | undefined
}

type Keywords = (text: string) => readonly Hit[]

/**
 * The search that was compiled last: most spaces of a gateway have the same keywords, and one search takes 0.6 MB and 30 ms.
 */
let latest: { readonly key: string; readonly search: Keywords } | undefined

/** Like `compileKeywords`; shares the search with the previous caller if it had the same keywords. */
export function shareKeywords(detectors: readonly Pick<Detector, 'words' | 'reach'>[]): Keywords {
  const key = JSON.stringify(detectors.map(({ words, reach }) => [words, reach]))
  if (latest?.key !== key) latest = { key, search: compileKeywords(detectors) }
  return latest.search
}

/**
 * Compiles the lower-case keywords of detectors to a single-pass search that ignores case and only examines positions at which
 * a keyword may begin. Skips an occurrence if a blank comes before the `reach` of its detector, except at the end of the text,
 * which may continue.
 */
export function compileKeywords(detectors: readonly Pick<Detector, 'words' | 'reach'>[]): Keywords {
  const reaches = Uint8Array.from(detectors, ({ reach = 0 }) => reach)
  const ranksOf = new Map<string, number[]>()
  for (const [rank, { words }] of detectors.entries())
    for (const word of words) ranksOf.set(word, [...(ranksOf.get(word) ?? []), rank])
  /**
   * Class of each character, by its code: the characters of keywords are numbered from 1 to 63, repeatedly; 0 = in no keyword.
   */
  const classes = new Uint8Array(0x10000)
  for (const [index, letter] of [...new Set([...ranksOf.keys()].join('').split(''))].entries()) {
    for (const each of [letter, letter.toUpperCase()])
      if (each.length === 1) classes[each.charCodeAt(0)] = 1 + (index % (2 ** bits - 1))
  }
  const classAt = (text: string, at: number): number =>
    at < text.length ? (classes[text.charCodeAt(at)] ?? 0) : 0

  /**
   * Index in `words` of the list of keywords that may begin with three characters, by the classes of these characters; 0 =
   * none. A keyword of fewer characters is in several lists.
   */
  const begun = new Uint16Array(mask + 1)
  /** Bit set by the classes of three characters: whether any keyword may begin with them. Small enough for the CPU cache. */
  const isBegun = new Uint32Array((mask + 1) >> 5)
  const words: Word[][] = [[]]
  for (const [word, ranks] of ranksOf) {
    const open = bits * Math.max(0, looked - word.length)
    let first = 0
    for (let at = 0; at < looked; at++) first = (first << bits) | classAt(word, at)
    const next = word.length > looked ? classAt(word, looked) : undefined
    const added = new Map<number, number>()
    for (let code = first; code < first + 2 ** open; code++) {
      const before = begun[code] ?? 0
      const after = added.get(before) ?? words.push([...(words[before] ?? []), { word, ranks, next }]) - 1
      added.set(before, after)
      begun[code] = after
      isBegun[code >> 5] = (isBegun[code >> 5] ?? 0) | (1 << (code & 31))
    }
  }

  /** Occurrences of keywords by the index of the detector, during one search. */
  const found: Hit[][] = detectors.map(() => [])
  let ranks: number[] = []
  /** Position of the next blank, or of the end of the text. */
  let blankAt = -1

  /** Compares the keywords of a list with the text at `start`. */
  function look(text: string, start: number, list: number): void {
    const behind = classAt(text, start + looked)
    for (const { word, ranks: all, next } of words[list] ?? []) {
      if ((next !== undefined && next !== behind) || !standsAt(word, text, start)) continue
      if (blankAt < start) {
        blankAt = start
        while (blankAt < text.length && !isBlank(text.charCodeAt(blankAt))) blankAt++
      }
      for (const rank of all) {
        if (start + (reaches[rank] ?? 0) > blankAt && blankAt < text.length) continue
        const hits = found[rank] as Hit[]
        if (hits.push({ start, end: start + word.length, rank }) === 1) ranks.push(rank)
      }
    }
  }

  return (text) => {
    ranks = []
    blankAt = -1
    let seen = 0
    // Continues two characters beyond the end of the text, with class 0: a lookup takes three characters, and a keyword of one or
    // two may be at the end.
    for (let at = 0; at < text.length + looked - 1; at++) {
      seen = ((seen << bits) | classAt(text, at)) & mask
      if ((((isBegun[seen >> 5] as number) >>> (seen & 31)) & 1) === 1)
        look(text, at - looked + 1, begun[seen] as number)
    }
    if (ranks.length === 0) return noHits
    const hits = ranks.map((rank) => found[rank] as Hit[])
    for (const rank of ranks) found[rank] = []
    return hits.length === 1 ? (hits[0] as Hit[]) : noHits.concat(...hits)
  }
}

const noHits: readonly Hit[] = []

/** Maximum characters of a keyword that is compared in a loop; longer ones are compared as strings. */
const maxLoopChars = 8

/** Whether the text has a lower-case keyword at a position, ignoring case. */
function standsAt(word: string, text: string, start: number): boolean {
  if (word.length > maxLoopChars && text.startsWith(word, start)) return true
  for (let at = 0; at < word.length; at++) {
    const code = text.charCodeAt(start + at)
    const wanted = word.charCodeAt(at)
    if (code === wanted) continue
    // The case of non-ASCII letters may depend on their neighbours, so compare the whole word.
    if (code >= 0x80) return text.slice(start, start + word.length).toLowerCase() === word
    if (code < 0x41 || code > 0x5a || code + 0x20 !== wanted) return false
  }
  return true
}

const isBlank = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d)

/** Returns `true` if there is neither a blank nor the end of the text between two positions. */
function isVisible(text: string, from: number, to: number): boolean {
  if (to > text.length) return false
  for (let at = from; at < to; at++) if (isBlank(text.charCodeAt(at))) return false
  return true
}
