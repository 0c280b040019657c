import type { Safety } from '@meup/safety'
import type { BenignCase } from './benign/index.js'
import { isHidden, type SecretCase } from './secrets.js'

type Guard = Safety['guard']

/** A secret that the guard left partly visible. */
export interface Miss extends SecretCase {
  readonly seen: string
}

export const missesOf = (cases: readonly SecretCase[], guard: Guard): Miss[] =>
  cases.map((each) => ({ ...each, seen: guard(each.text).text })).filter((each) => !isHidden(each, each.seen))

/** A text without a secret that the guard has changed. */
export interface Touched extends BenignCase {
  readonly seen: string
  readonly rules: readonly string[]
}

export const touchedOf = (cases: readonly BenignCase[], guard: Guard): Touched[] =>
  cases.flatMap((each) => {
    const { text, findings } = guard(each.text)
    if (text === each.text && findings.length === 0) return []
    const rules = findings.map(({ rule }) => rule)
    return [{ ...each, seen: text, rules: rules.length > 0 ? rules : ['sanitized'] }]
  })

/** Returns the part of a text that was changed, with enough context to understand it. */
export function changedPart({ text, seen }: Touched): string {
  let start = 0
  while (start < text.length && text[start] === seen[start]) start++
  let end = 0
  while (end < Math.min(text.length, seen.length) - start && text.at(-1 - end) === seen.at(-1 - end)) end++
  const from = text.lastIndexOf('\n', Math.max(0, start - 1)) + 1
  return text.slice(Math.max(from, start - 80), text.length - end + 20)
}
