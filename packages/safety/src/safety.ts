import { plain } from './decodings/decoders.js'
import { decodeText } from './decodings/decoding.js'
import { sanitize } from './injection.js'
import { createDetectors, takenNames } from './leak/detectors.js'
import { examples } from './leak/generated/rules.js'
import { compileLeakDetector, type LeakDetector } from './leak/leak.js'
import { compileProseCheck, isProse, joinsProse } from './leak/prose.js'
import { chargeReading, type Meter, Stopped, stopping } from './meter.js'
import { compilePattern } from './pattern.js'
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
  /** Whether this exact string is a secret that the caller knows, such as a token of the space. */
  readonly isKnownSecret?: (candidate: string) => boolean
  /** A stage failed: the text is withheld, and the caller logs a warning. */
  readonly failed?: (error: unknown) => void
}

export interface Safety {
  /**
   * What may be seen of a text that stands right behind `before`, the end of what its run said so far (`tailOf`), or any
   * string: of a secret that is split over both, the text's part is masked. What was guarded once stays as it is. A text is
   * withheld where a stage fails: nothing is thrown but what the meter throws.
   */
  guard(text: string, before?: Tail | string, meter?: Meter): Guarded
}

/** Passes after which a text has settled: a mark or a cut may bring together what was apart, but not for ever. */
const maxPasses = 8

/**
 * Compiles settings to a gate for texts. Throws SafetyError for what can't be used. The built-in rules are compiled by the
 * first text that is guarded, unless `warmUp` has done it.
 */
export function compileSafety(settings: SafetySettings, options: SafetyOptions = {}): Safety {
  checkSettings(settings, takenNames)
  const { isKnownSecret } = options
  /** A text is read in several ways, in which the same words are. */
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

  // In this order: an operator's patterns meet no raw thinking and no secrets, and no secret straddles the cut.
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
          // What can't even be told of a failure is not to fail for it.
        }
        return withheld([])
      }
    },
  }
}

/**
 * Compiles the rules for secrets and those that block, for texts that are kept and otherwise stay as they are, however long. `before`: what the
 * text stands behind, such as the name of its field. A text that a rule withholds, or fails on, becomes `[withheld]`. Throws
 * SafetyError for what can't be used.
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
  /** The text may hold what would be instructions to a model. */
  readonly isTrusted: boolean
  readonly findings: readonly Finding[]
}

const unjudged: Verdict = { isTrusted: false, findings: [] }

/** Compiles an operator's rules, of which the first that a text matches decides. Throws SafetyError for bad patterns. */
export function compilePolicy(rules: readonly PolicyRule[]): (text: string) => Verdict {
  const cases = rules.map(({ name, action, pattern }, index) => ({
    pattern: compilePattern(pattern, `/policy/${index}/pattern`),
    verdict: { isTrusted: action === 'allow', findings: action === 'allow' ? [] : [{ rule: name, action }] },
  }))
  if (cases.length === 0) return () => unjudged
  return (text) => {
    // A rule is not escaped by what can't be seen.
    const seen = decodeText(text, plain)
    const matches = cases.find(({ pattern }) => pattern.test(text) || (seen !== text && pattern.test(seen)))
    return matches?.verdict ?? unjudged
  }
}

const ellipsis = '…'
const splitPair = /[\ud800-\udbff]$/
const mark = /\[redacted:[a-z0-9-]+\]/y

/** Characters behind the longest text that are read all the same, so that a secret that begins before them is seen. */
const lookaheadChars = 2048

/** What of a text is worth reading: of a much longer one than may be shown, the rest is cut off anyway. */
export const readable = (text: string, maxLength: number): string =>
  text.length <= maxLength + lookaheadChars
    ? text
    : text.slice(0, maxLength + lookaheadChars).replace(splitPair, '')

/**
 * Cuts what came of the readable part of a longer text. Where that part ends, half a secret may stand unseen: so many
 * characters of its end are never shown.
 */
export const clampReadable = (text: string, maxLength: number): string =>
  clamp(text.slice(0, Math.max(0, text.length - lookaheadChars)) + ellipsis, maxLength)

/** Cuts a text to so many characters (UTF-16), the last of them `…`. No character and no mark is cut in half. */
export function clamp(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const maximum = Math.max(0, maxLength - ellipsis.length)
  const cut = text.slice(0, maximum).replace(splitPair, '')
  const bracket = cut.lastIndexOf('[')
  mark.lastIndex = Math.max(0, bracket)
  const isCutMark = mark.test(text) && mark.lastIndex > cut.length
  return (isCutMark ? cut.slice(0, bracket) : cut) + ellipsis
}

/** Examples in one text: it takes some milliseconds to guard. */
const examplesPerStep = 4

/**
 * Compiles the built-in rules, which a process shares: the first texts take several times as long otherwise. Goes in steps
 * of some milliseconds; between two of them a server can do its work.
 */
export function* warmUp({ guard }: Safety): Generator<void> {
  for (let at = 0; at < examples.length; at += examplesPerStep) {
    guard(examples.slice(at, at + examplesPerStep).join('\n'))
    yield
  }
}
