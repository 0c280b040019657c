import { chargeLooks, chargeReading, type Meter } from '../meter.js'
import { ascending, lastFrom, type Span } from '../span.js'
import type { View } from '../views/view.js'
import { viewsOf } from '../views/views.js'
import type { Detector } from './detector.js'
import { compileKeywords, type Words } from './keywords.js'
import { looksBegun } from './random.js'
import { merge, type Secret } from './secret.js'
import { endOfToken } from './secret-end.js'

/** Words have the ranks of their detectors. */
export interface Finder {
  wordsIn(text: string): Words
  /** Those in a text of which the part behind a seam has, or begins a text that has, such words. */
  wordsOver(text: string, seam: number, behind: Words): Words
  /**
   * Gives every secret in a text with such words, in no order, some overlapping; or, with a `seam`, those told by what
   * goes over that place. `isCut`: a word before it may go on in the text.
   */
  find(text: string, words: Words, meter: Meter, part: { seam?: number; isCut: boolean }): Secret[]
}

/** Compiles detectors to a search in all views of a text; a secret's rank is its detector's place among them. */
export function compileFinder(detectors: readonly Detector[]): Finder {
  const wordsIn = compileKeywords(detectors.map(({ words }) => words))

  const glances = detectors.map(({ glance }) => glance)
  const areAtWords = detectors.map(({ isAtWords }) => isAtWords)
  /** Those that look everywhere. */
  const wordless = detectors.flatMap(({ words }, rank) => (words.length === 0 ? [rank] : []))

  /** By rank, the words at which a detector looks closer, in the order of their ends. */
  function closer(text: string, words: Words, seam = text.length): ReadonlyMap<number, readonly Span[]> {
    if (words.length === 0) return nowhere
    const found = new Map<number, Span[]>()
    let count = 0
    let isApart = true
    for (let at = 0; at < words.length; at += 3) {
      const rank = words[at] ?? 0
      const start = words[at + 1] ?? 0
      const end = words[at + 2] ?? 0
      if (areAtWords[rank] === true) {
        // No match that goes over the seam begins there, and where words are so few none has a say in another.
        if (start >= seam && isApart && count <= fewWords) continue
        const glance = glances[rank]
        if (glance !== undefined && !isAt(glance, text, start)) continue
        if (start < seam && end > seam) isApart = false
      }
      count++
      const spans = found.get(rank)
      if (spans === undefined) found.set(rank, [{ start, end }])
      else spans.push({ start, end })
    }
    for (const spans of found.values()) ascending(spans, endOf)
    return found
  }

  /** Tokens that go over a seam, and on to the end of the text, and begin as those of a detector do. */
  function begunTokens(text: string, words: Words, seam: number): Secret[] {
    const found: Secret[] = []
    for (let at = 0; at < words.length; at += 3) {
      const rank = words[at] ?? 0
      const start = words[at + 1] ?? 0
      const end = words[at + 2] ?? 0
      if (start >= seam || end - start < leastOfPrefix || areAtWords[rank] !== true) continue
      const token = text.slice(start)
      if (common.test(text.slice(start, end))) continue
      if (!oneToken.test(token) || /[\w-]/.test(text.charAt(start - 1))) continue
      if (looksBegun(token)) found.push({ start, end: text.length, rank })
    }
    return found
  }

  function find(
    text: string,
    words: Words,
    meter: Meter,
    { seam, isCut }: { seam?: number; isCut: boolean },
  ): Secret[] {
    const { certain, joined } = viewsOf(text, meter)
    const written = certain[0]
    const searchIn = (view: View, found: Secret[]): void => {
      if (view.text === '') return
      const isWanted = (span: Span): boolean => seam === undefined || isAcross(seam, view.origin(span))
      // The seam is at a place of the text as it is written. Where nothing is read on, nothing before it has a say.
      const here = view === written ? seam : undefined
      const from = here === undefined || joined.length > 0 ? 0 : here
      const look = { isWanted, from, isCut, ...(here !== undefined && { seam: here }) }
      const lookFor = (rank: number, words: readonly Span[]): void => {
        const secrets = detectors[rank]?.find(view.text, words, look) ?? []
        chargeLooks(meter, secrets.length, 'secret')
        for (const secret of secrets) {
          found.push({ ...wholeToken(view, secret, seam), rank })
        }
      }
      chargeReading(meter, (1 + 2 * wordless.length) * view.text.length)
      for (const rank of wordless) lookFor(rank, noWords)
      const known = view === written ? words : wordsIn(view.text)
      chargeLooks(meter, known.length / 3, 'word')
      for (const [rank, spans] of closer(view.text, known, here)) {
        chargeLooks(meter, spans.length, 'match')
        lookFor(rank, spans)
      }
    }
    const found = seam === undefined ? [] : begunTokens(text, words, seam)
    for (const view of certain) searchIn(view, found)
    if (joined.length === 0) return found
    const known = merge(found)
    const others: Secret[] = []
    for (const view of joined) searchIn(view, others)
    return [...found, ...others.filter((secret) => !addsMereWord(text, secret, known))]
  }

  return {
    wordsIn,
    wordsOver(text, seam, behind) {
      const words = wordsIn(text, seam)
      for (let at = 0; at < behind.length; at += 3) {
        const end = seam + (behind[at + 2] ?? 0)
        if (end <= text.length) words.push(behind[at] ?? 0, seam + (behind[at + 1] ?? 0), end)
      }
      return words
    },
    find,
  }
}

const endOf = ({ end }: Span): number => end

/** Of what tokens begin with, shorter ones begin much else. */
const leastOfPrefix = 4
/** What base64 has of zeros, and names begin with, too. */
const common = /^(?:(.)\1*|api-|key-)$/i
const oneToken = /^[\w.+/=~-]+$/

/** Of the words in a text. */
const fewWords = 8
const noWords: readonly Span[] = []
const nowhere: ReadonlyMap<number, readonly Span[]> = new Map()

function isAt(glance: RegExp, text: string, start: number): boolean {
  glance.lastIndex = start
  return glance.test(text)
}

/** Where a secret is, with the rest of its token; but what ends before the seam has its end there. */
function wholeToken(view: View, secret: Span, seam: number | undefined): Span {
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
