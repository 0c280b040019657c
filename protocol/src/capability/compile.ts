import { READ_TARGETED } from '../kinds.js'
import { type Candidates, candidatesOf, entryOf, firstOf } from './candidates.js'
import { beginCheck } from './effort.js'
import { type Node, parseStrings } from './parse.js'
import { type Capability, type Pattern, patternLimits } from './pattern.js'
import { questionsOf } from './payload.js'
import type { AddresseesTest, Conditions, Subject } from './program.js'
import { dotted, parseRules, type Rule } from './rules.js'
import { headsOf, tellingSigns } from './signs.js'
import { compileNode } from './value.js'

export interface Decision {
  readonly allowed: boolean
  /** Index of the first capability that allows it. */
  readonly matched?: number
}

export interface Capabilities {
  allows(envelope: Subject): Decision
  readonly list: readonly Capability[]
}

const DENIED: Decision = Object.freeze({ allowed: false })
/** By the index of the capability that allows. */
const decisions: readonly Decision[] = Array.from({ length: patternLimits.capabilities }, (_, matched) =>
  Object.freeze({ allowed: true, matched }),
)

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

function compile(parsed: readonly Rule[], list: readonly Capability[]): Capabilities {
  const capabilities = parsed.map((rule) => ({ ofKind: compileKind(rule), conditions: conditionsOf(rule) }))
  const signs = tellingSigns(capabilities.map(({ conditions }) => headsOf(conditions)))
  const entries = capabilities.map(({ conditions }, index) => entryOf(conditions, index, signs))
  const tests = capabilities.map(({ ofKind }) => ofKind)
  const byKind = new Map<string, Candidates>()

  function candidatesFor(kind: string): Candidates {
    const known = byKind.get(kind)
    if (known !== undefined) return known
    const wireKind = dotted(kind)
    const found = candidatesOf(
      signs,
      entries.filter((_, index) => tests[index]?.(wireKind)),
    )
    if (byKind.size >= REMEMBERED_KINDS) byKind.clear()
    if (kind.length <= REMEMBERED_LENGTH) byKind.set(kind, found)
    return found
  }

  /** The kind that was asked for last, which most often comes again, and the capabilities for it. */
  let last = ''
  let candidates = candidatesFor(last)

  // Also to be called by itself.
  const allows = (envelope: Subject): Decision => {
    const { kind } = envelope
    beginCheck()
    if (kind !== last) {
      candidates = candidatesFor(kind)
      last = theKind(kind)
    }
    const index = firstOf(candidates, envelope)
    return index < 0 ? DENIED : (decisions[index] ?? DENIED)
  }
  return { allows, list }
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

function compileKind({ kind, targeted }: Rule): (kind: string) => boolean {
  const test = compileNode(kind)
  return (value) => (value === READ_TARGETED ? targeted : test(value))
}

function conditionsOf({ to, context, payload }: Rule): Conditions {
  const only = to?.type === 'glob' ? to.text : undefined
  return {
    only,
    to: to && only === undefined ? compileAddressees(to) : undefined,
    context: context && compileNode(context),
    questions: payload === undefined ? [] : questionsOf(payload),
  }
}

function compileAddressees(pattern: Node): AddresseesTest {
  const test = compileNode(pattern)
  return (to) => to.every(test)
}
