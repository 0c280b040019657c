import { builtInRules } from '../built-in-rules.js'
import type { SafetySettings } from '../settings.js'
import { knownSecrets } from './known.js'
import { compileRule, type Detector } from './rule.js'

/** Stands in the mark of a secret that the caller knows. */
const knownName = 'known-secret'

let compiled: readonly Detector[] | undefined
/** They are the same for all settings, and take a while to compile. */
const builtInDetectors = (): readonly Detector[] => {
  compiled ??= builtInRules.map((rule) => compileRule(rule, `/built-in/${rule.name}`))
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
  keywords: [],
  find: knownSecrets(isKnownSecret),
})
