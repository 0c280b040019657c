/** What becomes of a secret: a mark in its place, or the whole text withheld. */
export type LeakAction = 'mask' | 'block'

/** How a secret looks. */
export interface SecretRule {
  /** `[a-z0-9-]`; it stands in the mark: `[redacted:<name>]`. */
  readonly name: string
  /** RE2 syntax. The group named `secret`, where there is one, is what must not be seen; else the whole match is. */
  readonly pattern: string
  /** In lower case. The pattern is only tried around them; without any, on all of a text, which takes longer. */
  readonly keywords?: readonly string[]
  readonly action: LeakAction
  /** The pattern tells a secret by its label, so what plainly stands for one (`<your-key>`, `****`) is left alone. */
  readonly generic?: boolean
}

/** What the operator thinks of a text that matches. */
export interface PolicyRule {
  readonly name: string
  /** RE2 syntax. */
  readonly pattern: string
  /** `review` = it passes and the decision is recorded. */
  readonly action: 'allow' | 'sanitize' | 'review' | 'block'
}

export interface SafetySettings {
  /** `block` makes every rule withhold the text; `mask` leaves it to the rules. */
  readonly onLeak: LeakAction
  /** Characters of one text; what is longer is cut. */
  readonly maxLength: number
  readonly policy: readonly PolicyRule[]
  /** Beside those this package brings. */
  readonly rules: readonly SecretRule[]
}

export const defaultSafety: SafetySettings = { onLeak: 'mask', maxLength: 8192, policy: [], rules: [] }

const wellFormed = /^[a-z0-9-]{1,64}$/

function expect(isSo: boolean, path: string, otherwise: string): void {
  if (!isSo) throw new SafetyError(path, otherwise)
}

/** Throws SafetyError for what of settings can't be used, patterns aside. `taken` are names that stand for others. */
export function checkSettings({ maxLength, rules, policy }: SafetySettings, taken: Iterable<string>): void {
  expect(Number.isInteger(maxLength) && maxLength >= 1, '/maxLength', 'is not a whole number above 0')
  const names = new Set(taken)
  for (const [list, all] of Object.entries({ rules, policy })) {
    for (const [index, { name }] of all.entries()) {
      const path = `/${list}/${index}/name`
      expect(wellFormed.test(name), path, 'is not made of 1 to 64 lower-case letters, digits and hyphens')
      expect(!names.has(name), path, `is taken by another rule: ${name}`)
      names.add(name)
    }
  }
  for (const [index, { keywords = ['-'] }] of rules.entries()) {
    const path = `/rules/${index}/keywords`
    expect(keywords.length > 0, path, 'is empty, so the rule would never run; leave it out, or name some')
    for (const [at, keyword] of keywords.entries()) {
      expect(keyword !== '', `${path}/${at}`, 'is empty, so it would be everywhere')
      const isLower = keyword === keyword.toLowerCase()
      expect(isLower, `${path}/${at}`, 'is not in lower case, as keywords must be')
    }
  }
}

/** A setting that can't be used. `path` is a JSON pointer into the settings. */
export class SafetyError extends Error {
  override readonly name = 'SafetyError'

  constructor(
    readonly path: string,
    message: string,
  ) {
    super(message)
  }
}

export interface Finding {
  readonly rule: string
  readonly action: 'mask' | 'block' | 'sanitize' | 'review'
}

export interface Guarded {
  /** Empty if it is withheld. */
  readonly text: string
  readonly isWithheld: boolean
  /** Each rule once. */
  readonly findings: readonly Finding[]
}
