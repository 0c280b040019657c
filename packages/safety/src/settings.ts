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
