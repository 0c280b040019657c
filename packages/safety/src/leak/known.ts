import { codeAt } from '../code-at.js'
import type { Span } from '../span.js'
import { blanks, charactersBut, charactersOf, stretchesOf } from '../stretches.js'
import type { Detector } from './detector.js'

/** Shorter strings are no tokens [MEUP-5]. */
const shortest = 16
const ofWord = charactersBut(`${blanks}"'\`<>()[]{},;`)
const ofToken = charactersOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-')
const punctuation = charactersOf('.:!?')

/** Finds what the caller knows to be secret: words as a whole, and what is in them of the letters of most tokens. */
export const knownSecrets =
  (isKnownSecret: (candidate: string) => boolean): Detector['find'] =>
  (text, _words, { from }) => {
    const secrets: Span[] = []
    for (const { start, end } of stretchesOf(ofWord, shortest, text)) {
      const word = { start, end: withoutPunctuation(text, start, end) }
      if (word.end > from && isKnownSecret(text.slice(word.start, word.end))) secrets.push(word)
      for (const token of stretchesOf(ofToken, shortest, text, start, end)) {
        if (token.end <= from || areSame(token, word)) continue
        if (isKnownSecret(text.slice(token.start, token.end))) secrets.push(token)
      }
    }
    return secrets
  }

function withoutPunctuation(text: string, start: number, end: number): number {
  let last = end
  while (last > start && punctuation[codeAt(text, last - 1)] === 1) last--
  return last
}

const areSame = (one: Span, other: Span): boolean => one.start === other.start && one.end === other.end
