import { plain } from './decodings/decoders.js'
import { decodeText } from './decodings/decoding.js'
import { sanitize } from './injection.js'
import { createDetectors, takenNames } from './leak/detectors.js'
import { examples } from './leak/generated/rules.js'
import { compileLeakDetector, type LeakDetector } from './leak/leak.js'
import { compileProseCheck, isProse, joinsProse } from './leak/prose.js'
import { chargeReading, type Meter, Stopped, stopping } from './meter.js'
import { compileRulePattern } from './pattern.js'
import {
  checkSettings,
  type Finding,
  type Guarded,
  type PolicyRule,
  type SafetySettings,
} from './settings.js'
import { noTail, readTail, type Tail } from './tail.js'
import { withoutThinking } from './thinking.js'

export interface SafetyOptions {
  /** Whether a text is exactly a secret known to the caller, such as a token of the space. */
  readonly isKnownSecret?: (candidate: string) => boolean
  /** Called if a stage fails and the text is withheld; the caller should log a warning. */
  readonly failed?: (error: unknown) => void
}

export interface Safety {
  /**
   * Guards a text that directly follows `before`: the end of the run's previous texts (`tailOf`), or any string. If a secret
   * extends over both, masks the part in the text. Idempotent. If a stage fails, withholds the text; throws only the meter's
   * errors.
   */
  guard(text: string, before?: Tail | string, meter?: Meter): Guarded
}

/** Maximum number of passes until the result no longer changes: a mark or a cut may join parts that were separate. */
const maxPasses = 8

/**
 * Compiles settings to a guard for texts. Throws SafetyError for invalid settings. The built-in rules are compiled with the
 * first text, unless `warmUp` has done so.
 */
export function compileSafety(settings: SafetySettings, options: SafetyOptions = {}): Safety {
  checkSettings(settings, takenNames)
  const { isKnownSecret } = options
  /** Results of `isKnownSecret` by word, because several decodings contain the same words. */
  const answers = new Map<string, boolean>()
  const isKnown = (candidate: string): boolean => {
    const answer = answers.get(candidate) ?? isKnownSecret?.(candidate) === true
    answers.set(candidate, answer)
    return answer
  }
  const detectors = createDetectors(settings, isKnownSecret && isKnown)
  let leaks: LeakDetector | undefined
  const mask: LeakDetector = (text, before, meter) => {
    leaks ??= compileLeakDetector(detectors)
    return leaks(text, before, meter)
  }
  const judge = compilePolicy(settings.policy)
  const findsInProse = compileProseCheck(settings, (text) => judge(text) !== unjudged)
  const { maxLength } = settings

  const isPlain = (text: string, tail: Tail, meter: Meter): boolean => {
    if (text.length > maxLength) return false
    chargeReading(meter, text.length)
    if (!isProse(text) || !tail.isProse) return false
    chargeReading(meter, tail.said.length + settings.policy.length * text.length)
    return joinsProse(tail.said, tail.seams, text) && !findsInProse(tail.said, text)
  }

  // The order of stages matters: an operator's patterns see neither raw thinking nor secrets, and cutting comes last, so that
  // no secret is cut in two.
  const pass = (whole: string, before: Tail, meter: Meter): Guarded => {
    const text = readable(whole, maxLength)
    chargeReading(meter, before.said.length + (3 + settings.policy.length) * text.length)
    const masked = mask(withoutThinking(text, before.said), before, meter)
    if (masked.findings.some(isBlocking)) return withheld(masked.findings)
    const verdict = judge(masked.text)
    const findings = [...masked.findings, ...verdict.findings]
    if (findings.some(isBlocking)) return withheld(findings)
    const sane = verdict.isTrusted ? masked.text : sanitize(masked.text)
    const seen = text === whole ? clamp(sane, maxLength) : clampReadable(sane, maxLength)
    return { text: seen, isWithheld: false, findings }
  }

  const settle = (text: string, before: Tail, meter: Meter, passes = 1): Guarded => {
    if (passes > maxPasses) throw new Error(`a text is not the same after ${maxPasses} passes`)
    const passed = pass(text, before, meter)
    if (passed.isWithheld || passed.text === text) return passed
    const settled = settle(passed.text, noTail, meter, passes + 1)
    return { ...settled, findings: distinct([...passed.findings, ...settled.findings]) }
  }

  return {
    guard(text, before = '', meter) {
      try {
        const tail = readTail(before)
        const charged = stopping(meter)
        if (isPlain(text, tail, charged)) return { text, isWithheld: false, findings: nothing }
        answers.clear()
        return settle(text, tail, charged)
      } catch (error) {
        if (error instanceof Stopped) throw error.cause
        try {
          options.failed?.(error)
        } catch {
          // A failing callback must not fail the guard.
        }
        return withheld([])
      }
    },
  }
}

/**
 * Compiles secret and blocking rules for stored texts of any length; texts without a match stay unchanged. `before`: the text
 * before a stored text, such as the name of its field. A withheld or failed text becomes `[withheld]`. Throws SafetyError for
 * invalid settings.
 */
export function compileSecretMask(
  settings: SafetySettings,
  { isKnownSecret, failed }: SafetyOptions = {},
): (text: string, before?: string) => string {
  checkSettings(settings, takenNames)
  const mask = compileLeakDetector(createDetectors(settings, isKnownSecret))
  const judge = compilePolicy(settings.policy)
  return (text, before = '') => {
    try {
      const masked = mask(text, readTail(before), stopping(undefined))
      const findings = [...masked.findings, ...judge(masked.text).findings]
      return findings.some(isBlocking) ? '[withheld]' : masked.text
    } catch (error) {
      failed?.(error)
      return '[withheld]'
    }
  }
}

const nothing: readonly Finding[] = []
const isBlocking = ({ action }: Finding): boolean => action === 'block'
const withheld = (findings: readonly Finding[]): Guarded => ({ text: '', isWithheld: true, findings })

const distinct = (findings: readonly Finding[]): Finding[] => [
  ...new Map(findings.map((finding) => [`${finding.action} ${finding.rule}`, finding])).values(),
]

export interface Verdict {
  /** Whether the text may contain instructions to a model. */
  readonly isTrusted: boolean
  readonly findings: readonly Finding[]
}

const unjudged: Verdict = { isTrusted: false, findings: [] }

/** Compiles an operator's rules; the first match decides. Throws SafetyError for invalid patterns. */
export function compilePolicy(rules: readonly PolicyRule[]): (text: string) => Verdict {
  const cases = rules.map(({ name, action, pattern }, index) => ({
    pattern: compileRulePattern(pattern, `/policy/${index}/pattern`),
    verdict: { isTrusted: action === 'allow', findings: action === 'allow' ? [] : [{ rule: name, action }] },
  }))
  if (cases.length === 0) return () => unjudged
  return (text) => {
    // Removes invisible characters, so that they cannot circumvent a rule.
    const seen = decodeText(text, plain)
    const matches = cases.find(({ pattern }) => pattern.test(text) || (seen !== text && pattern.test(seen)))
    return matches?.verdict ?? unjudged
  }
}

const ellipsis = '…'
const splitPair = /[\ud800-\udbff]$/
const mark = /\[redacted:[a-z0-9-]+\]/y

/** Characters after the maximum length that are scanned, so that a secret across the cut is found. */
const lookaheadChars = 2048

/** Returns the part of a text that is scanned. The rest of a longer text is cut off anyway. */
export const readable = (text: string, maxLength: number): string =>
  text.length <= maxLength + lookaheadChars
    ? text
    : text.slice(0, maxLength + lookaheadChars).replace(splitPair, '')

/**
 * Cuts the guarded part of a longer text. Never shows its last characters, because they may be half of an undetected secret.
 */
export const clampReadable = (text: string, maxLength: number): string =>
  clamp(text.slice(0, Math.max(0, text.length - lookaheadChars)) + ellipsis, maxLength)

/** Cuts a text to this many characters (UTF-16), including a final `…`, without splitting a character or a mark. */
export function clamp(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const maximum = Math.max(0, maxLength - ellipsis.length)
  const cut = text.slice(0, maximum).replace(splitPair, '')
  const bracket = cut.lastIndexOf('[')
  mark.lastIndex = Math.max(0, bracket)
  const isCutMark = mark.test(text) && mark.lastIndex > cut.length
  return (isCutMark ? cut.slice(0, bracket) : cut) + ellipsis
}

/** Number of examples that are guarded at once, which takes some milliseconds. */
const examplesPerStep = 4

/**
 * Compiles the built-in rules, which a process shares; otherwise the first texts take several times as long. Yields every few
 * milliseconds, so that a server can do other work.
 */
export function* warmUp({ guard }: Safety): Generator<void> {
  for (let at = 0; at < examples.length; at += examplesPerStep) {
    guard(examples.slice(at, at + examplesPerStep).join('\n'))
    yield
  }
}
