import type { SafetySettings } from '../settings.js'
import { blanks, charSet, charSetExcept, codeAt, findStretches, type Span } from '../spans.js'
import { assignments } from './assignment.js'
import { createDetector } from './built-in-rule.js'
import type { Detector } from './detector.js'
import { builtInRules } from './generated/rules.js'
import { createOwnDetector } from './operator-rule.js'

/** The name of secrets known to the caller, in redaction marks. */
const knownName = 'known-secret'

/** The built-in detectors, shared by all settings. Detectors by shape precede those by label. */
const builtIns: readonly Detector[] = [...builtInRules.map(createDetector), ...assignments]

/** Names that an operator's rules cannot have. */
export const takenNames: readonly string[] = [knownName, ...builtIns.map(({ name }) => name)]

/** Creates the detectors of a space, the most specific first. Throws SafetyError for invalid patterns. */
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

/** Minimum characters of a token of a space [MEUP-5]. */
const minTokenChars = 16
const ofWord = charSetExcept(`${blanks}"'\`<>()[]{},;`)
const ofToken = charSet('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-')
const punctuation = charSet('.:!?')

/** Finds secrets known to the caller: compares whole words, and runs of token characters within them. */
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
