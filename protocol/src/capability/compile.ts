import { READ_TARGETED } from '../kinds.js'
import { beginCheck } from './effort.js'
import { type Node, parseStrings } from './parse.js'
import type { Capability, Pattern } from './pattern.js'
import { compilePayload, type PayloadTest } from './payload.js'
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
  /** The only addressee that it allows, where its pattern is a name. */
  readonly only: string | undefined
  readonly to: ((to: readonly string[]) => boolean) | undefined
  readonly context: Test | undefined
  readonly payload: PayloadTest | undefined
}

/** The rules for envelopes of one kind. */
interface Candidates {
  readonly all: readonly CompiledRule[]
  /** Those that may allow an envelope to this participant alone, for every name that a rule has. */
  readonly byName: ReadonlyMap<string, readonly CompiledRule[]>
  /** Those for an envelope to any other participant alone. */
  readonly unnamed: readonly CompiledRule[]
}

const DENIED: Decision = Object.freeze({ allowed: false })

/** Kinds come from the wire: that many are remembered with the capabilities for them, of that length at most. */
const REMEMBERED_KINDS = 64
const REMEMBERED_LENGTH = 128

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

function compile(parsed: readonly Rule[], list: readonly Capability[]): Capabilities {
  const places = new Places()
  const rules = parsed.map((rule, index) => compileRule(rule, index, places))
  const byKind = new Map<string, Candidates>()

  function candidatesOf(kind: string): Candidates {
    const known = byKind.get(kind)
    if (known !== undefined) return known
    const wireKind = dotted(kind)
    const found = byAddressee(rules.filter((rule) => rule.ofKind(wireKind)))
    if (byKind.size >= REMEMBERED_KINDS) byKind.clear()
    if (kind.length <= REMEMBERED_LENGTH) byKind.set(kind, found)
    return found
  }

  return {
    list,
    allows(envelope) {
      beginCheck()
      const candidates = rulesFor(envelope, candidatesOf(envelope.kind))
      if (candidates.length === 0) return DENIED
      places.enter(envelope.payload)
      let decision = DENIED
      for (const rule of candidates) {
        if (!fits(rule, envelope, places)) continue
        decision = rule.decision
        break
      }
      places.leave()
      return decision
    },
  }
}

/** Most rules name another addressee: they are not even looked at. */
function byAddressee(all: readonly CompiledRule[]): Candidates {
  const names = new Set(all.flatMap(({ only }) => only ?? []))
  const forName = (name: string) => all.filter(({ only }) => only === undefined || only === name)
  return {
    all,
    byName: new Map([...names].map((name) => [name, forName(name)])),
    unnamed: all.filter(({ only }) => only === undefined),
  }
}

function rulesFor({ to }: Subject, { all, byName, unnamed }: Candidates): readonly CompiledRule[] {
  const [only] = to ?? []
  return to?.length === 1 && only !== undefined ? (byName.get(only) ?? unnamed) : all
}

/** The payload is glanced at first: most differ there, and it costs the least. */
const fits = ({ to, context, payload }: CompiledRule, envelope: Subject, places: Places): boolean =>
  (payload === undefined || places.beginsWith(payload.place, payload.head)) &&
  (to === undefined || (envelope.to !== undefined && to(envelope.to))) &&
  (context === undefined || context(envelope.context)) &&
  (payload === undefined || payload.fits())

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
