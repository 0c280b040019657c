import { SafetyError } from './errors.js'

/** How to treat a secret: replace it by a mark, or withhold the whole text. */
export type LeakAction = 'mask' | 'block'

/** An operator's rule that finds secrets. */
export interface SecretRule {
  /** Name of the rule, of `[a-z0-9-]`. It appears in the mark: `[redacted:<name>]`. */
  readonly name: string
  /** Regular expression in RE2 syntax. Masks the group named `secret`, if any, otherwise the whole match. */
  readonly pattern: string
  /** Keywords in lower case. The pattern is only tried around them; without keywords, on the whole text, which takes longer. */
  readonly keywords?: readonly string[]
  readonly action: LeakAction
  /**
   * `true` if the pattern identifies a secret only by its label, so that placeholders (`<your-key>`, `****`) are left
   * unchanged.
   */
  readonly generic?: boolean
}

/** An operator's rule that decides about texts. */
export interface PolicyRule {
  readonly name: string
  /** Regular expression in RE2 syntax. */
  readonly pattern: string
  /** Decision about a matching text. `review`: the text passes, and the decision is recorded. */
  readonly action: 'allow' | 'sanitize' | 'review' | 'block'
}

export interface SafetySettings {
  /** Treatment of secrets. `block`: all rules withhold the text; `mask`: each rule decides. */
  readonly onLeak: LeakAction
  /** Maximum characters of one text; longer ones are cut. */
  readonly maxLength: number
  readonly policy: readonly PolicyRule[]
  /** Rules for secrets, in addition to the built-in ones. */
  readonly rules: readonly SecretRule[]
}

export const defaultSafety: SafetySettings = { onLeak: 'mask', maxLength: 8192, policy: [], rules: [] }

const wellFormed = /^[a-z0-9-]{1,64}$/

/** Checks everything but patterns. `taken`: names that rules may not have. Throws SafetyError for invalid settings. */
export function checkSettings({ maxLength, rules, policy }: SafetySettings, taken: Iterable<string>): void {
  if (!Number.isInteger(maxLength) || maxLength < 1) {
    throw new SafetyError('invalid_length', { maxLength }, '/maxLength')
  }
  const names = new Set(taken)
  for (const [list, all] of Object.entries({ rules, policy })) {
    for (const [index, { name }] of all.entries()) {
      const path = `/${list}/${index}/name`
      if (!wellFormed.test(name)) throw new SafetyError('invalid_name', {}, path)
      if (names.has(name)) throw new SafetyError('taken_name', { name }, path)
      names.add(name)
    }
  }
  for (const [index, { keywords = ['-'] }] of rules.entries()) {
    const path = `/rules/${index}/keywords`
    if (keywords.length === 0) throw new SafetyError('no_keywords', {}, path)
    for (const [at, keyword] of keywords.entries()) {
      if (keyword === '') throw new SafetyError('empty_keyword', {}, `${path}/${at}`)
      const lower = keyword.toLowerCase()
      if (keyword !== lower) throw new SafetyError('capital_keyword', { lower }, `${path}/${at}`)
    }
  }
}

export interface Finding {
  readonly rule: string
  readonly action: 'mask' | 'block' | 'sanitize' | 'review'
}

export interface Guarded {
  /** The guarded text; empty if it was withheld. */
  readonly text: string
  readonly isWithheld: boolean
  /** The rules that matched, each once. */
  readonly findings: readonly Finding[]
}
