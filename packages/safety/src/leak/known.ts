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
      const tokens = stretchesOf(ofToken, shortest, text, start, end)
      let last = end
      while (last > start && punctuation[codeAt(text, last - 1)] === 1) last--
      for (const each of [{ start, end: last }, ...tokens])
        if (each.end > from && isKnownSecret(text.slice(each.start, each.end))) secrets.push(each)
    }
    return secrets
  }
