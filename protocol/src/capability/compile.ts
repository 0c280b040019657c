import { READ_TARGETED } from '../kinds.js'
import { beginCheck } from './effort.js'
import { type Node, parseStrings } from './parse.js'
import type { Capability, Pattern } from './pattern.js'
import { compilePayload, fits, type PayloadTest } from './payload.js'
import { type Places, placesForList } from './places.js'
import { dotted, parseRules, type Rule } from './rules.js'
import { compileNode, type Test } from './value.js'

/** What capabilities look at: an envelope after normalisation. An absent or empty `to` is everyone. */
export interface Subject {
  readonly kind: string
  readonly to?: readonly string[] | undefined
  readonly context?: string | undefined
  readonly payload: unknown
}

export interface Decision {
  readonly allowed: boolean
  /** Index of the first capability that allows it. */
  readonly matched?: number
}

export interface Capabilities {
  allows(envelope: Subject): Decision
  readonly list: readonly Capability[]
}

interface CompiledRule {
  readonly decision: Decision
  readonly ofKind: (kind: string) => boolean
  /** The only addressee that it allows, where its pattern is a name. */
  readonly only: string | undefined
  readonly to: ((to: readonly string[]) => boolean) | undefined
  readonly context: Test | undefined
  readonly payload: PayloadTest | undefined
}

/**
 * The rules for envelopes of one kind, each behind the mark of the only addressee that it allows, or behind
 * `ANYBODY`: most rules name another addressee, and are not even looked at.
 */
type Candidates = readonly (number | CompiledRule)[]

const ANYBODY = -1

/** What tells most names apart: from 0 on. */
function markOf(name: string): number {
  let mark = name.length
  for (let i = Math.max(0, name.length - 16); i < name.length; i++) {
    mark = (Math.imul(mark, 31) + name.charCodeAt(i)) & 0x3fffffff
  }
  return mark
}

const DENIED: Decision = Object.freeze({ allowed: false })

/** Kinds come from the wire: that many are remembered with the capabilities for them, of that length at most. */
const REMEMBERED_KINDS = 64
const REMEMBERED_LENGTH = 128

/** One string for equal kinds: to tell that two are the same one, neither has to be read. */
const kinds = new Map<string, string>()

function theKind(kind: string): string {
  const known = kinds.get(kind)
  if (known !== undefined) return known
  if (kind.length > REMEMBERED_LENGTH) return kind
  if (kinds.size >= REMEMBERED_KINDS) kinds.clear()
  kinds.set(kind, kind)
  return kind
}

/** Lists that were compiled lately, by their JSON: participants of one role share one. */
const compiled = new Map<string, Capabilities>()
const REMEMBERED_LISTS = 256

/** Compiles what one participant holds [MEUP-4]. Throws `PatternError` for a bad pattern. */
export function compileCapabilities(list: readonly Capability[]): Capabilities {
  const rules = parseRules(list)
  const text = JSON.stringify(list)
  const capabilities = compiled.get(text) ?? compile(rules, JSON.parse(text) as Capability[])
  compiled.delete(text)
  compiled.set(text, capabilities)
  for (const oldest of compiled.keys()) {
    if (compiled.size <= REMEMBERED_LISTS) break
    compiled.delete(oldest)
  }
  return capabilities
}

const compile = (parsed: readonly Rule[], list: readonly Capability[]): Capabilities =>
  new CompiledList(parsed, list)

class CompiledList implements Capabilities {
  readonly list: readonly Capability[]
  readonly #rules: readonly CompiledRule[]
  readonly #places = placesForList()
  /** The kind that was asked for last, which most often comes again; and all that were. */
  #kind = ''
  #candidates: Candidates = []
  readonly #byKind = new Map<string, Candidates>()

  constructor(parsed: readonly Rule[], list: readonly Capability[]) {
    this.list = list
    this.#rules = parsed.map((rule, index) => compileRule(rule, index, this.#places))
    this.#candidates = this.#candidatesOf(this.#kind)
  }

  // Also to be called by itself.
  readonly allows = (envelope: Subject): Decision => {
    beginCheck()
    const kind = theKind(envelope.kind)
    if (kind !== this.#kind) {
      this.#candidates = this.#candidatesOf(kind)
      this.#kind = kind
    }
    const candidates = this.#candidates
    return candidates.length === 0 ? DENIED : decide(candidates, envelope, this.#places)
  }

  #candidatesOf(kind: string): Candidates {
    const known = this.#byKind.get(kind)
    if (known !== undefined) return known
    const wireKind = dotted(kind)
    const found = this.#rules
      .filter((rule) => rule.ofKind(wireKind))
      .flatMap((rule) => [rule.only === undefined ? ANYBODY : markOf(rule.only), rule])
    if (this.#byKind.size >= REMEMBERED_KINDS) this.#byKind.clear()
    if (kind.length <= REMEMBERED_LENGTH) this.#byKind.set(kind, found)
    return found
  }
}

function decide(candidates: Candidates, envelope: Subject, places: Places): Decision {
  const { to = [] } = envelope
  const [first] = to
  const only = to.length === 1 && first !== undefined ? markOf(first) : undefined
  places.enter(envelope.payload)
  try {
    for (let at = 0; at < candidates.length; at += 2) {
      const mark = candidates[at]
      if (only !== undefined && mark !== only && mark !== ANYBODY) continue
      const rule = candidates[at + 1] as CompiledRule
      if (allowsAll(rule, envelope, places)) return rule.decision
    }
    return DENIED
  } finally {
    places.leave()
  }
}

function allowsAll({ only, to, context, payload }: CompiledRule, envelope: Subject, places: Places): boolean {
  if (only === undefined ? to !== undefined && !(envelope.to && to(envelope.to)) : !isOnly(only, envelope.to))
    return false
  return (
    (payload === undefined || fits(payload, places)) && (context === undefined || context(envelope.context))
  )
}

/** Every addressee is that one, and there is one. */
function isOnly(only: string, to: readonly string[] | undefined): boolean {
  if (to?.length === 1) return to[0] === only
  return to !== undefined && to.length > 0 && to.every((each) => each === only)
}

/**
 * Compiles a pattern for strings alone, as subscriptions have them. With `kinds`, `.` and `/` are the same separator
 * on both sides. Throws `PatternError`; its path begins with `path`.
 */
export function compilePattern(
  pattern: Pattern,
  { kinds = false, path = '' }: { readonly kinds?: boolean; readonly path?: string } = {},
): (value: string) => boolean {
  const test = compileNode(parseStrings(pattern, path, kinds ? '.' : '/', { patterns: 0, regexWeight: 0 }))
  return (value) => {
    beginCheck()
    return test(kinds ? dotted(value) : value)
  }
}

/**
 * Whether the list has a capability of literally this kind without conditions: what `observe.targeted` asks for.
 * Globs, arrays, and capabilities narrowed by `to`, `context` or `payload` do not count.
 */
export function holdsLiteral(list: readonly Capability[], kind: string): boolean {
  return list.some((capability) => {
    if (typeof capability === 'string') return dotted(capability) === dotted(kind)
    const { kind: held, to = '**', context = '**', payload } = capability
    const narrowed = to !== '**' || context !== '**' || payload !== undefined
    return !narrowed && typeof held === 'string' && dotted(held) === dotted(kind)
  })
}

function compileRule(rule: Rule, index: number, places: Places): CompiledRule {
  const kind = compileNode(rule.kind)
  return {
    decision: Object.freeze({ allowed: true, matched: index }),
    ofKind: (value) => (value === READ_TARGETED ? rule.targeted : kind(value)),
    only: rule.to?.type === 'glob' ? rule.to.text : undefined,
    to: rule.to && compileAddressees(rule.to),
    context: rule.context && compileNode(rule.context),
    payload: rule.payload && compilePayload(rule.payload, places),
  }
}

/** Every addressee matches, and there is one. */
function compileAddressees(pattern: Node): (to: readonly string[]) => boolean {
  const test = compileNode(pattern)
  return (to) => (to.length === 1 ? test(to[0]) : to.length > 0 && to.every(test))
}
