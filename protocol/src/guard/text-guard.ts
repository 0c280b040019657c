import type { WorkMeter } from '../work.js'
import type { TailOf } from './recently-said.js'

export interface GuardFinding {
  readonly rule: string
  readonly action: string
}

/** What is left of a text. */
export interface GuardedText<Finding extends GuardFinding> {
  /** Empty where it is withheld. */
  readonly text: string
  readonly isWithheld: boolean
  readonly findings: readonly Finding[]
}

/** What guards single texts. */
export interface TextGuard<Finding extends GuardFinding> {
  /**
   * `before` stands right before the text: what is split over both is found, and changed in the text alone. Charges the
   * meter before each step, and throws what the meter throws.
   */
  guard(text: string, before?: string, meter?: WorkMeter): GuardedText<Finding>
}

/** What the guards of texts go by. */
export interface GuardSettings {
  /** Characters of one text; what is longer is cut. */
  readonly maxLength: number
  readonly rules: readonly PatternRule[]
  readonly policy: readonly PatternRule[]
}

interface PatternRule {
  /** RE2 syntax. */
  readonly pattern: string
}

/** Makes guards of texts; @meup/safety does. */
export interface GuardMaker<Settings extends GuardSettings, Finding extends GuardFinding> {
  /** Throws for settings that cannot be used. */
  compile(settings: Settings): TextGuard<Finding>
  readonly tailOf: TailOf
}
