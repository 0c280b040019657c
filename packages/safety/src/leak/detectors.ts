import { builtInRules } from '../generated/rules.js'
import { compilePattern } from '../pattern.js'
import type { SafetySettings, SecretRule } from '../settings.js'
import { assignments } from './assignment.js'
import { compileBuiltIn } from './built-in.js'
import { clientCredentials } from './clients.js'
import type { Detector } from './detector.js'
import { knownSecrets } from './known.js'
import { searchAround } from './matches.js'
import { prefixedTokens } from './prefixed-token.js'
import { urlCredentials, webhooks } from './urls.js'

/** Stands in the mark of a secret that the caller knows. */
const knownName = 'known-secret'

/** What is told by its place, or by a prefix that no rule knows. */
const others: readonly Detector[] = [
  ...assignments,
  prefixedTokens,
  urlCredentials,
  webhooks,
  clientCredentials,
]

/** The same for all settings. */
let builtIns: readonly Detector[] | undefined

function builtInDetectors(): readonly Detector[] {
  builtIns ??= [...builtInRules.map(compileBuiltIn), ...others]
  return builtIns
}

/** Names that an operator's rule can't have. */
export const takenNames = (): string[] => [knownName, ...[...builtInRules, ...others].map(({ name }) => name)]

/**
 * The more is known about a secret, the earlier comes what finds it. Throws SafetyError for patterns that can't be used;
 * the rules of this package, which can, are compiled when the result is called.
 */
export function detectorsOf(
  { rules, onLeak }: SafetySettings,
  isKnownSecret?: (candidate: string) => boolean,
): () => Detector[] {
  const own = [
    ...(isKnownSecret === undefined ? [] : [knownDetector(isKnownSecret)]),
    ...rules.map((rule, index) => ownDetector(rule, `/rules/${index}/pattern`)),
  ]
  return () => {
    const detectors = [...own, ...builtInDetectors()]
    return onLeak === 'block' ? detectors.map((each) => ({ ...each, action: 'block' })) : detectors
  }
}

const knownDetector = (isKnownSecret: (candidate: string) => boolean): Detector => ({
  name: knownName,
  action: 'mask',
  words: [],
  find: knownSecrets(isKnownSecret),
})

/** RE2 alone finds what an operator's pattern matches. */
function ownDetector(rule: SecretRule, path: string): Detector {
  const { name, action, keywords = [] } = rule
  return { name, action, words: keywords, find: searchAround(compilePattern(rule.pattern, path), rule) }
}
