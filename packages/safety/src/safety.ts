import { checkSettings } from './check.js'
import type { Finding, Guarded } from './guarded.js'
import { sanitize } from './injection.js'
import { detectorsOf, takenNames } from './leak/detectors.js'
import { compileLeakDetector, type LeakDetector } from './leak/leak.js'
import { withoutSeams } from './leak/seams.js'
import { clamp, clampReadable, readable } from './length.js'
import { chargeReading, type Meter, Stopped, stopping } from './meter.js'
import { compilePolicy } from './policy.js'
import type { SafetySettings } from './settings.js'
import { withoutThinking } from './thinking.js'

export interface SafetyOptions {
  /** Whether this exact string is a secret that the caller knows, such as a token of the space. */
  readonly isKnownSecret?: (candidate: string) => boolean
  /** A stage failed: the text is withheld, and the caller logs a warning. */
  readonly failed?: (error: unknown) => void
}

export interface Safety {
  /**
   * What may be seen of a text that stands right behind `before`, the end of what its run said so far (`tailOf`): of a
   * secret that is split over both, the text's part is masked. What was guarded once stays as it is. A text is withheld
   * where a stage fails: nothing is thrown but what the meter throws.
   */
  guard(text: string, before?: string, meter?: Meter): Guarded
}

/** Passes after which a text has settled: a mark or a cut may bring together what was apart, but not for ever. */
const mostPasses = 8

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
  const detectors = detectorsOf(settings, isKnownSecret && isKnown)
  let leaks: LeakDetector | undefined
  const mask: LeakDetector = (text, before, meter) => {
    leaks ??= compileLeakDetector(detectors)
    return leaks(text, before, meter)
  }
  const judge = compilePolicy(settings.policy)
  const { maxLength } = settings

  // In this order: an operator's patterns meet no raw thinking and no secrets, and no secret straddles the cut.
  const pass = (whole: string, before: string, meter: Meter): Guarded => {
    const text = readable(whole, maxLength)
    chargeReading(meter, before.length + (3 + settings.policy.length) * text.length)
    const masked = mask(withoutThinking(text, withoutSeams(before)), before, meter)
    if (masked.findings.some(blocks)) return withheld(masked.findings)
    const verdict = judge(masked.text)
    const findings = [...masked.findings, ...verdict.findings]
    if (findings.some(blocks)) return withheld(findings)
    const sane = verdict.isTrusted ? masked.text : sanitize(masked.text)
    const seen = text === whole ? clamp(sane, maxLength) : clampReadable(sane, maxLength)
    return { text: seen, isWithheld: false, findings }
  }

  const settle = (text: string, before: string, meter: Meter, passes = 1): Guarded => {
    if (passes > mostPasses) throw new Error(`a text is not the same after ${mostPasses} passes`)
    const passed = pass(text, before, meter)
    if (passed.isWithheld || passed.text === text) return passed
    const settled = settle(passed.text, '', meter, passes + 1)
    return { ...settled, findings: distinct([...passed.findings, ...settled.findings]) }
  }

  return {
    guard(text, before = '', meter) {
      answers.clear()
      try {
        return settle(text, before, stopping(meter))
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

const blocks = ({ action }: Finding): boolean => action === 'block'
const withheld = (findings: readonly Finding[]): Guarded => ({ text: '', isWithheld: true, findings })

const distinct = (findings: readonly Finding[]): Finding[] => [
  ...new Map(findings.map((finding) => [`${finding.action} ${finding.rule}`, finding])).values(),
]
