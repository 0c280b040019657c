import { WorkError, WorkMeter } from '../work.js'
import { type Glob, globCost, globIncludes, globsDisjoint, matchesAll } from './glob.js'
import type { Choice, Node, Regex } from './parse.js'
import { parseRules, type Rule } from './rules.js'
import type { Capability } from './schema.js'

/** Maximum units of work for a comparison without a meter. A comparison that needs more counts as not proven. */
const UNMETERED_WORK = 200_000
const COMPARED = 'patterns to compare'
/** Units of work to compare two capabilities, two of their patterns, and one token of each. */
const PER_RULE = 1 / 8
const PER_PAIR = 1 / 16
const PER_TOKEN = 1 / 256

/**
 * Whether for each asked capability, one held capability provably allows all that it allows [MEUP-4.12]. `false` means "not
 * proven". A regular expression is covered by an equal one, or by a pattern that matches any text. Throws `PatternError` for an
 * invalid pattern in either list, but does not compile regular expressions, and `WorkError` if a given meter runs out.
 */
export function covers(
  held: readonly Capability[],
  asked: readonly Capability[],
  meter?: WorkMeter,
): boolean {
  return new Coverage().firstGap([held], asked, meter) === -1
}

/** Compares lists like `covers`, and parses each list only once, for lists that are compared repeatedly. */
export class Coverage {
  readonly #read = new Map<readonly Capability[], readonly Rule[]>()

  /**
   * Returns the index of the first asked capability that is not provably covered; -1 = all are. `held`: lists that count
   * together, each within the limits of a list. Throws like `covers`.
   */
  firstGap(
    held: readonly (readonly Capability[])[],
    asked: readonly Capability[],
    meter?: WorkMeter,
  ): number {
    const rules = held.flatMap((list) => this.#rulesOf(list, meter))
    const work = meter ?? new WorkMeter(UNMETERED_WORK)
    for (const rule of parseRules(asked, { work: meter })) {
      try {
        if (!rules.some((candidate) => ruleIncludes(candidate, rule, work))) return rule.index
      } catch (error) {
        if (meter !== undefined || !(error instanceof WorkError)) throw error
        return rule.index
      }
    }
    return -1
  }

  #rulesOf(list: readonly Capability[], meter: WorkMeter | undefined): readonly Rule[] {
    let rules = this.#read.get(list)
    if (rules === undefined) {
      rules = parseRules(list, { work: meter })
      this.#read.set(list, rules)
    }
    return rules
  }
}

/**
 * Whether the rule `held` covers `asked`. A field that `held` omits is unrestricted; a field that only `asked` omits is not
 * covered.
 */
function ruleIncludes(held: Rule, asked: Rule, work: WorkMeter): boolean {
  work.charge(PER_RULE, COMPARED)
  const included = (h: Node | undefined, a: Node | undefined) =>
    h === undefined || (a !== undefined && includes(h, a, work))
  return (
    held.literal === asked.literal &&
    included(held.kind, asked.kind) &&
    included(held.to, asked.to) &&
    included(held.context, asked.context) &&
    included(held.payload, asked.payload)
  )
}

/** Whether every value that matches `asked` provably matches `held`. */
function includes(held: Node, asked: Node, work: WorkMeter): boolean {
  work.charge(cost(held, asked), COMPARED)
  if (held.type === 'choice') return choiceIncludes(held, asked, work)
  if (asked.type === 'choice') return asked.some.every((node) => includes(held, node, work))
  if (held.type === 'object') {
    if (asked.type !== 'object') return false
    const fields = new Map(asked.fields)
    const narrowed = held.fields.every(([key, node]) => {
      const field = fields.get(key)
      return field !== undefined && includes(node, field, work)
    })
    return narrowed && (held.inside === undefined || hasInside(asked, held.inside, work))
  }
  if (held.type === 'single') return asked.type !== 'object'
  if (held.type === 'equal') return asked.type === 'equal' && held.value === asked.value
  if (held.type === 'regex') return asked.type === 'regex' && held.source === asked.source
  if (asked.type === 'regex') return matchesAll(held)
  return asked.type === 'glob' && globIncludes(held, asked)
}

function choiceIncludes(held: Choice, asked: Node, work: WorkMeter): boolean {
  const { some, none } = asked.type === 'choice' ? asked : { some: [asked], none: [] }
  const chosen = some.every((node) => held.some.some((wider) => includes(wider, node, work)))
  const excluded = (node: Glob | Regex) =>
    none.some((wider) => includes(wider, node, work)) || some.every((other) => disjoint(other, node, work))
  return chosen && held.none.every(excluded)
}

/** Whether every object that matches `asked` contains a value that matches `node` at any depth. */
function hasInside(asked: Node, node: Node, work: WorkMeter): boolean {
  if (asked.type !== 'object') return false
  const inner = asked.fields.map(([, field]) => field)
  if (asked.inside !== undefined) inner.push(asked.inside)
  return inner.some((field) => includes(node, field, work) || hasInside(field, node, work))
}

/** Whether provably no value matches both. `text`: a pattern after `!`, which matches strings only. */
function disjoint(node: Node, text: Glob | Regex, work: WorkMeter): boolean {
  work.charge(cost(node, text), COMPARED)
  if (node.type === 'equal' || node.type === 'object') return true
  return node.type === 'glob' && text.type === 'glob' && globsDisjoint(node, text)
}

/** Units of work to compare two patterns, without the patterns that are nested in them. */
function cost(one: Node, other: Node): number {
  if (one.type === 'glob' && other.type === 'glob') return PER_PAIR + globCost(one, other) * PER_TOKEN
  return other.type === 'object' ? PER_PAIR * (1 + other.fields.length) : PER_PAIR
}
