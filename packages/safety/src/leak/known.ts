import type { FindSecrets } from './matches.js'

/** Shorter strings are no tokens [MEUP-5]. */
const candidates = [/[\w-]{16,}/g, /[^\s"'`<>()[\]{},;]{16,}/g]
const punctuation = /[.:!?]+$/

/** Finds what the caller knows to be secret. */
export const knownSecrets = (isKnownSecret: (candidate: string) => boolean): FindSecrets =>
  function* (text) {
    for (const candidate of candidates) {
      for (const { 0: run, index } of text.matchAll(candidate)) {
        const word = run.replace(punctuation, '')
        if (isKnownSecret(word)) yield { start: index, end: index + word.length }
      }
    }
  }
