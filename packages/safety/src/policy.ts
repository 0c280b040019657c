import type { Finding } from './guarded.js'
import { compilePattern } from './pattern.js'
import type { PolicyRule } from './settings.js'
import { plain } from './views/plain.js'
import { decodeText } from './views/view.js'

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
