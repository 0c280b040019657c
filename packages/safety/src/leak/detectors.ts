import type { SafetySettings } from '../settings.js'
import { blanks, charSet, charSetExcept, codeAt, findStretches, type Span } from '../spans.js'
import { assignments } from './assignment.js'
import type { Detector } from './detector.js'
import { builtInRules } from './generated/rules.js'
import { createDetector, createOwnDetector } from './rule.js'

/** Stands in the mark of a secret that the caller knows. */
const knownName = 'known-secret'

/** The same for all settings. What is told by its place comes behind what tells a secret by its own shape. */
const builtIns: readonly Detector[] = [...builtInRules.map(createDetector), ...assignments]

/** Names that an operator's rule can't have. */
export const takenNames: readonly string[] = [knownName, ...builtIns.map(({ name }) => name)]

/** The more is known about a secret, the earlier comes what finds it. Throws SafetyError for patterns that can't be used. */
export function createDetectors(
  { rules, onLeak }: SafetySettings,
  isKnownSecret?: (candidate: string) => boolean,
): readonly Detector[] {
  const known: Detector[] =
    isKnownSecret === undefined
      ? []
      : [{ name: knownName, action: 'mask', words: [], find: knownSecrets(isKnownSecret) }]
  const own = rules.map((rule, index) => createOwnDetector(rule, `/rules/${index}/pattern`))
  const detectors = [...known, ...own, ...builtIns]
  return onLeak === 'block' ? detectors.map((each) => ({ ...each, action: 'block' })) : detectors
}

/** Shorter strings are no tokens [MEUP-5]. */
const minTokenChars = 16
const ofWord = charSetExcept(`${blanks}"'\`<>()[]{},;`)
const ofToken = charSet('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-')
const punctuation = charSet('.:!?')

/** Finds what the caller knows to be secret: words as a whole, and what is in them of the letters of most tokens. */
export const knownSecrets =
  (isKnownSecret: (candidate: string) => boolean): Detector['find'] =>
  (text, _words, { from }) => {
    const secrets: Span[] = []
    for (const { start, end } of findStretches(ofWord, minTokenChars, text)) {
      const tokens = findStretches(ofToken, minTokenChars, text, start, end)
      let last = end
      while (last > start && punctuation[codeAt(text, last - 1)] === 1) last--
      for (const each of [{ start, end: last }, ...tokens])
        if (each.end > from && isKnownSecret(text.slice(each.start, each.end))) secrets.push(each)
    }
    return secrets
  }
