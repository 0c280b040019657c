import { compileSafety, defaultSafety, SafetyError, type SafetySettings } from '@meup/safety'
import type { ProblemInside } from './problem-inside.js'

/** What is wrong with rules that have the right shape: the first mistake of each, or else of them together. */
export function safetyProblems({ rules, policy }: Pick<SafetySettings, 'rules' | 'policy'>): ProblemInside[] {
  const each = [
    ...rules.flatMap((rule, index) => inOne({ rules: [rule] }, `/rules/${index}`)),
    ...policy.flatMap((rule, index) => inOne({ policy: [rule] }, `/policy/${index}`)),
  ]
  return each.length > 0 ? each : compile({ rules, policy })
}

const inOne = (settings: Partial<SafetySettings>, pointer: string): ProblemInside[] =>
  compile(settings).map((problem) => ({ ...problem, pointer: problem.pointer.replace(/^\/\w+\/0/, pointer) }))

function compile(settings: Partial<SafetySettings>): ProblemInside[] {
  try {
    compileSafety({ ...defaultSafety, ...settings })
    return []
  } catch (error) {
    if (!(error instanceof SafetyError)) throw error
    return [{ pointer: error.path, message: error.message }]
  }
}
