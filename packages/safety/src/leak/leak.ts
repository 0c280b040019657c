import { chargeReading, type Meter } from '../meter.js'
import type { Finding } from '../settings.js'
import { continuationEnd } from '../spans.js'
import { listBeginnings, mayNameGoOn, type SecretBeginning, type Tail } from '../tail.js'
import type { Detector } from './detector.js'
import { compileFinder, type Hit, hitsWithin, type SearchedText } from './finder.js'
import { findMarks, isMarked, merge, replaceSecrets, type Secret } from './secret.js'

/** Masks the secrets in a text that directly follows `before`, the end of the previous texts, which are already published. */
export type LeakDetector = (text: string, before: Tail, meter: Meter) => { text: string; findings: Finding[] }

/** Compiles detectors. If secrets overlap, the first detector gives the name; blocking detectors take precedence. */
export function compileLeakDetector(detectors: readonly Detector[]): LeakDetector {
  const ranked = [...detectors.filter(isBlocking), ...detectors.filter((each) => !isBlocking(each))]
  const { hitsIn, find } = compileFinder(ranked)
  const names = ranked.map(({ name }) => name)
  const known = new Set(names)

  const secretsIn = (part: SearchedText, meter: Meter): Secret[] => {
    const found = find(part, meter)
    if (found.length === 0) return found
    const marks = findMarks(part.text, (name) => known.has(name))
    return found.filter((secret) => !isMarked(part.text, secret, marks))
  }

  /** Finds secrets that begin in `before` and end in the text. `hits`: occurrences of the detectors' keywords in both texts. */
  const secretsAcross = (
    { before, isCut }: SecretBeginning,
    text: string,
    hits: readonly Hit[],
    isOtherField: boolean,
    meter: Meter,
  ): Secret[] => {
    const seam = before.length
    const found = secretsIn({ text: before + text, hits, seam, isCut, isOtherField }, meter)
    if (found.length === 0) return found
    const prose = firstWord.exec(text)?.[0].length ?? 0
    const across = behind(seam, found).filter(({ start, end }) => start > 0 || end > prose)
    const word = sentenceStart.exec(text)?.[0].length ?? 0
    const isWord = ({ start, end }: Secret): boolean => start === 0 && end <= word
    if (!across.some(isWord)) return across
    const alone = { text: before, hits: hitsWithin(hits, 0, seam), isCut }
    const isTold = secretsIn(alone, meter).some(({ end }) => end === seam)
    return isTold ? across.filter((secret) => !isWord(secret)) : across
  }

  return (text, before, meter) => {
    const { said, isOtherField = false } = before
    chargeReading(meter, said.length + text.length)
    const beginnings = said === '' ? [] : listBeginnings(before)
    const hits = hitsIn(said + text)
    const own = said === '' ? hits : hitsWithin(hits, said.length, said.length + text.length)
    const found = secretsIn({ text, hits: own, isCut: mayNameGoOn(said, text) }, meter)
    const start = text.slice(0, continuationEnd(text))
    for (const beginning of beginnings) {
      const from = said.length - beginning.before.length
      const across = (text: string): Secret[] =>
        secretsAcross(beginning, text, hitsWithin(hits, from, said.length + text.length), isOtherField, meter)
      const inStart = across(start)
      const goesOn = start.length < text.length && inStart.some(({ end }) => end === start.length)
      found.push(...(goesOn ? across(text) : inStart))
    }
    if (found.length === 0) return { text, findings: [] }
    const secrets = merge(found)
    const findings = [...new Set(secrets.map(({ rank }) => rank))].flatMap((rank) =>
      ranked.slice(rank, rank + 1).map(({ name, action }) => ({ rule: name, action })),
    )
    return { text: replaceSecrets(text, secrets, names), findings }
  }
}

/**
 * Matches the first word of a sentence with its punctuation. After a masked secret, such a word does not belong to the secret;
 * any other word may.
 */
const sentenceStart = /^(?:[A-Z][a-z]+(?:['\u2019][a-z]+)?[.,;:!?]*(?=\s|$)|[AI](?= [a-z]))/

/**
 * Matches a word with which a thought typically continues. It is not part of a secret, even if the preceding text ends in one,
 * and showing it reveals nothing.
 */
const firstWord =
  /^(?:and|are|as|at|be|but|by|can|could|do|does|done|for|from|good|has|have|here|how|if|in|is|it|its|just|let|maybe|need|next|no|not|now|of|ok|okay|on|one|only|or|our|should|since|so|some|still|that|the|their|then|there|these|they|this|those|to|too|two|was|we|well|what|when|where|which|while|will|with|would|yes|yet|you|your|[a-z]{3,}(?:ing|ly))[.,;:!?]*(?=\s|$)/

const isBlocking = ({ action }: Detector): boolean => action === 'block'

/** Selects the secrets that end after the first `length` characters, with offsets from there. */
const behind = (length: number, secrets: readonly Secret[]): Secret[] =>
  secrets
    .filter(({ end }) => end > length)
    .map(({ start, end, rank }) => ({ start: Math.max(0, start - length), end: end - length, rank }))
