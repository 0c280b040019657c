import { READ_TARGETED } from '../kinds.js'
import { beginCheck } from './effort.js'
import { type Node, parseStrings } from './parse.js'
import type { Capability, Pattern } from './pattern.js'
import { compilePayload } from './payload.js'
import { Places } from './places.js'
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
  readonly fits: (envelope: Subject) => boolean
}

const DENIED: Decision = Object.freeze({ allowed: false })

/** Kinds come from the wire: that many are remembered with the capabilities for them, of that length at most. */
const REMEMBERED_KINDS = 64
const REMEMBERED_LENGTH = 128

/** Compiles what one participant holds [MEUP-4]. Throws `PatternError` for a bad pattern. */
export function compileCapabilities(list: readonly Capability[]): Capabilities {
  const places = new Places()
  const rules = parseRules(list).map((rule, index) => compileRule(rule, index, places))
  const byKind = new Map<string, readonly CompiledRule[]>()

  function rulesFor(kind: string): readonly CompiledRule[] {
    const known = byKind.get(kind)
    if (known !== undefined) return known
    const wireKind = dotted(kind)
    const found = rules.filter((rule) => rule.ofKind(wireKind))
    if (byKind.size >= REMEMBERED_KINDS) byKind.clear()
    if (kind.length <= REMEMBERED_LENGTH) byKind.set(kind, found)
    return found
  }

  return {
    list,
    allows(envelope) {
      const candidates = rulesFor(envelope.kind)
      if (candidates.length === 0) return DENIED
      beginCheck()
      places.enter(envelope.payload)
      let decision = DENIED
      for (const rule of candidates) {
        if (!rule.fits(envelope)) continue
        decision = rule.decision
        break
      }
      places.leave()
      return decision
    },
  }
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
  const to = rule.to && compileAddressees(rule.to)
  const context = rule.context && compileNode(rule.context)
  const payload = rule.payload && compilePayload(rule.payload, places)
  return {
    decision: Object.freeze({ allowed: true, matched: index }),
    ofKind: (value) => (value === READ_TARGETED ? rule.targeted : kind(value)),
    fits: (envelope) =>
      (to === undefined || (envelope.to !== undefined && to(envelope.to))) &&
      (context === undefined || context(envelope.context)) &&
      (payload === undefined || payload()),
  }
}

/** Every addressee matches, and there is one. */
function compileAddressees(pattern: Node): (to: readonly string[]) => boolean {
  const only = pattern.type === 'glob' ? pattern.text : undefined
  const test: Test = only === undefined ? compileNode(pattern) : (id) => id === only
  return (to) => {
    if (to.length === 1) return only === undefined ? test(to[0]) : to[0] === only
    return to.length > 0 && to.every(test)
  }
}
