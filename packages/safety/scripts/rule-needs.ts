import type { BuiltInRule, CompiledRule } from '../src/leak/built-in-rule.js'
import { readNeeds } from '../src/leak/pattern-needs.js'
import { commonWords } from './common-words.js'

type RuleNeeds = Pick<CompiledRule, 'reach' | 'hasBlanks' | 'inProse'>

/**
 * Derives from a rule's pattern the requirements of its matches. Throws for a rule that could match prose: one with unsupported
 * syntax, one that may begin within a word, or one that matches common words.
 */
export function readRuleNeeds({ name, pattern, flags = '', keywords }: BuiltInRule): RuleNeeds {
  const needs = readNeeds(pattern, flags, 'javascript')
  if (needs === undefined) throw new Error(`the pattern of the rule ${name} is not understood: ${pattern}`)
  const { reach, hasBlanks, matchesProse } = needs
  if (!matchesProse) return { reach, hasBlanks }
  if (!/^(?:\\b|\(\?:\\b\|)/.test(pattern) || /\\[1-9k]/.test(pattern))
    throw new Error(`the rule ${name} matches prose, so it must begin with \\b and have no backreference`)
  const inProse =
    flags === ''
      ? pattern.replace(/\(\?<\w+>/g, '(?:')
      : keywords.map((keyword) => keyword.replace(/[a-z]/g, inEitherCase)).join('|')
  const found = new RegExp(`(?<= )(?:${inProse})`).exec(` ${commonWords.join(' ')}`)
  if (found !== null) throw new Error(`the rule ${name} matches common words: ${found[0]}; let it need more`)
  return { reach, hasBlanks, inProse }
}

const inEitherCase = (letter: string): string => `[${letter}${letter.toUpperCase()}]`
