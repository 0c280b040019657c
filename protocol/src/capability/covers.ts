import { type Glob, globIncludes, globsDisjoint, matchesAll } from './glob.js'
import type { Choice, Node, Regex } from './parse.js'
import type { Capability } from './pattern.js'
import { parseRules, type Rule } from './rules.js'

/** Comparisons that are left. When they are used up, nothing more is proven. */
interface Effort {
  left: number
}

const MAX_EFFORT = 2 ** 23

/**
 * Whether provably each asked capability allows only what some single held capability allows too [MEUP-4]. `false`
 * means "not proven". A regular expression is covered by the same one, or by what matches any text. Throws
 * `PatternError` for a bad pattern in either list, save that regular expressions are not compiled.
 */
export function covers(held: readonly Capability[], asked: readonly Capability[]): boolean {
  return new Coverage().firstGap([held], asked) === -1
}

/** Compares with lists that come up again and again: reads each of them once, and keeps it. */
export class Coverage {
  readonly #read = new Map<readonly Capability[], readonly Rule[]>()

  /**
   * Index of the first asked capability that what is held does not provably cover; -1 = all are covered. `held`: lists
   * that count together, each within the limits of a list. Throws as `covers` does.
   */
  firstGap(held: readonly (readonly Capability[])[], asked: readonly Capability[]): number {
    const effort = { left: MAX_EFFORT }
    const lists = held.map((list) => this.#rulesOf(list))
    const covered = (rule: Rule) =>
      lists.some((rules) => rules.some((candidate) => ruleIncludes(candidate, rule, effort)))
    return parseRules(asked).findIndex((rule) => !covered(rule))
  }

  #rulesOf(list: readonly Capability[]): readonly Rule[] {
    let rules = this.#read.get(list)
    if (rules === undefined) {
      rules = parseRules(list)
      this.#read.set(list, rules)
    }
    return rules
  }
}

/** A field that `held` leaves out is free; one that `asked` alone leaves out is wider than any pattern. */
function ruleIncludes(held: Rule, asked: Rule, effort: Effort): boolean {
  const included = (h: Node | undefined, a: Node | undefined) =>
    h === undefined || (a !== undefined && includes(h, a, effort))
  return (
    held.targeted === asked.targeted &&
    included(held.kind, asked.kind) &&
    included(held.to, asked.to) &&
    included(held.context, asked.context) &&
    included(held.payload, asked.payload)
  )
}

/** Whether provably every value that matches `asked` matches `held`. */
function includes(held: Node, asked: Node, effort: Effort): boolean {
  effort.left -= cost(held, asked)
  if (effort.left < 0) return false
  if (held.type === 'choice') return choiceIncludes(held, asked, effort)
  if (asked.type === 'choice') return asked.some.every((node) => includes(held, node, effort))
  if (held.type === 'object') {
    if (asked.type !== 'object') return false
    const fields = new Map(asked.fields)
    const narrowed = held.fields.every(([key, node]) => {
      const field = fields.get(key)
      return field !== undefined && includes(node, field, effort)
    })
    return narrowed && (held.inside === undefined || hasInside(asked, held.inside, effort))
  }
  if (held.type === 'single') return asked.type !== 'object'
  if (held.type === 'equal') return asked.type === 'equal' && held.value === asked.value
  if (held.type === 'regex') return asked.type === 'regex' && held.source === asked.source
  if (asked.type === 'regex') return matchesAll(held)
  return asked.type === 'glob' && globIncludes(held, asked)
}

function choiceIncludes(held: Choice, asked: Node, effort: Effort): boolean {
  const { some, none } = asked.type === 'choice' ? asked : { some: [asked], none: [] }
  const chosen = some.every((node) => held.some.some((wider) => includes(wider, node, effort)))
  const excluded = (node: Glob | Regex) =>
    none.some((wider) => includes(wider, node, effort)) ||
    some.every((other) => disjoint(other, node, effort))
  return chosen && held.none.every(excluded)
}

/** Whether every object that matches `asked` has, somewhere inside, a value that matches `node`. */
function hasInside(asked: Node, node: Node, effort: Effort): boolean {
  if (asked.type !== 'object') return false
  const inner = asked.fields.map(([, field]) => field)
  if (asked.inside !== undefined) inner.push(asked.inside)
  return inner.some((field) => includes(node, field, effort) || hasInside(field, node, effort))
}

/** Whether provably no value matches both; `text` is what may stand behind `!`, and matches strings only. */
function disjoint(node: Node, text: Glob | Regex, effort: Effort): boolean {
  effort.left -= cost(node, text)
  if (effort.left < 0) return false
  if (node.type === 'equal' || node.type === 'object') return true
  return node.type === 'glob' && text.type === 'glob' && globsDisjoint(node, text)
}

/** Steps that a comparison of two patterns takes at worst, without what they contain. */
function cost(held: Node, asked: Node): number {
  return held.type === 'glob' && asked.type === 'glob' ? held.tokens.length + asked.tokens.length : 1
}
