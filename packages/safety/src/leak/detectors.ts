import { builtInRules } from '../built-in-rules.js'
import type { SafetySettings } from '../settings.js'
import type { Detector } from './detector.js'
import { knownSecrets } from './known.js'
import { compileBuiltIn, compileRule } from './rule.js'

/** Stands in the mark of a secret that the caller knows. */
const knownName = 'known-secret'

let compiled: readonly Detector[] | undefined
/** They are the same for all settings, and take a while to compile. */
const builtInDetectors = (): readonly Detector[] => {
  compiled ??= builtInRules.map(compileBuiltIn)
  return compiled
}

/** Names that an operator's rule can't have. */
export const takenNames = (): string[] => [knownName, ...builtInRules.map(({ name }) => name)]

/** The more is known about a secret, the earlier comes what finds it. Throws SafetyError for rules that can't be used. */
export function detectorsOf(
  { rules, onLeak }: SafetySettings,
  isKnownSecret?: (candidate: string) => boolean,
): Detector[] {
  const detectors = [
    ...(isKnownSecret === undefined ? [] : [knownDetector(isKnownSecret)]),
    ...rules.map((rule, index) => compileRule(rule, `/rules/${index}`)),
    ...builtInDetectors(),
  ]
  return onLeak === 'block' ? detectors.map((each) => ({ ...each, action: 'block' })) : detectors
}

const knownDetector = (isKnownSecret: (candidate: string) => boolean): Detector => ({
  name: knownName,
  action: 'mask',
  words: [],
  find: knownSecrets(isKnownSecret),
})
