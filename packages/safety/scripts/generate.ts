/** Writes src/leak/generated/rules.ts from the rules in src/rules, in the order in which they are applied. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { BuiltInRule, CompiledRule } from '../src/leak/built-in-rule.js'
import { readRuleNeeds } from './rule-needs.js'

/** A rule as in its JSON file. */
interface RuleData extends BuiltInRule {
  /** Example texts: those in which the rule finds a secret, and those in which it must not. */
  readonly positives: readonly string[]
  readonly negatives: readonly string[]
}

/** Files of rules that recognize a secret by its label. They are applied after rules that recognize it by its own shape. */
const labelled = ['databases', 'http', 'tokens', 'passwords', 'password-notations', 'places'].map(
  (name) => `${name}.json`,
)
/** Matches a pattern that masks a group, and not the label before it. */
const masksGroup = /\(\?<(?!from>)\w/
const folder = new URL('../src/rules/', import.meta.url)
const others = readdirSync(folder).filter((name) => !labelled.includes(name))
const rules = [...others.sort(), ...labelled].flatMap((name) => {
  const data: readonly RuleData[] = JSON.parse(readFileSync(new URL(name, folder), 'utf8'))
  return data.map((rule) => ({
    ...rule,
    isLabelled: labelled.includes(name) && masksGroup.test(rule.pattern),
  }))
})
const builtIn = rules.map(
  ({ positives, negatives, isLabelled, ...rule }): CompiledRule => ({
    ...rule,
    ...readRuleNeeds(rule),
    ...(isLabelled && { isLabelled }),
  }),
)

/** Writes a text as a string literal with escapes, so that scanners do not find a secret in this repository. */
function literalOf(text: string): string {
  const characters = Array.from(text, (character, at) =>
    at % 3 === 2 && /\w/.test(character)
      ? `\\u00${character.charCodeAt(0).toString(16)}`
      : JSON.stringify(character).slice(1, -1),
  )
  return `"${characters.join('')}"`
}

const linesOf = (literals: readonly string[]): string =>
  `[\n${literals.map((each) => `  ${each},\n`).join('')}]`
const text = `// Written by scripts/generate.ts.
import type { CompiledRule } from '../built-in-rule.js'

/** Built-in rules: first those that find a secret by its own form, then those that need a label before it. */
export const builtInRules: readonly CompiledRule[] = ${linesOf(builtIn.map((rule) => JSON.stringify(rule)))}

/** For each rule, a text that it finds a secret in. */
export const examples: readonly string[] = ${linesOf(rules.map(({ positives: [first = ''] }) => literalOf(first)))}
`

const generated = new URL('../src/leak/generated/', import.meta.url)
mkdirSync(generated, { recursive: true })
// Does not write an unchanged file, because that would trigger a build.
const file = new URL('rules.ts', generated)
if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text)
