import { literalCapabilities } from '../kinds.js'
import type { WorkMeter } from '../work.js'
import {
  type Candidates,
  chooseSigns,
  createCandidates,
  createEntry,
  findFirst,
  getHeads,
} from './candidates.js'
import { type AddresseesTest, type Conditions, compileQuestions, type Subject } from './conditions.js'
import { COMPILED, type Node, parseStrings, patternLimits } from './parse.js'
import { dotted, parseRules, type Rule } from './rules.js'
import type { Capability, Pattern } from './schema.js'
import { beginCheck, compileNode } from './value.js'

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

/** `units` is what compiling cost beside what is charged for reading. */
interface Compiled {
  readonly capabilities: Capabilities
  readonly units: number
}

/** Lists that were compiled lately, by their JSON: participants of one role share one. */
const compiled = new Map<string, Compiled>()
/** A compiled list takes some forty bytes for each character of its JSON. */
const REMEMBERED_LISTS = { count: 256, characters: 256 * 1024 }
let rememberedCharacters = 0

/**
 * Compiles what one participant holds [MEUP-4]. Throws `PatternError` for a bad pattern, and `WorkError` where the
 * meter runs out: a list that was compiled before is charged the same.
 */
export function compileCapabilities(list: readonly Capability[], meter?: WorkMeter): Capabilities {
  const rules = parseRules(list, { work: meter, compiles: true })
  const text = JSON.stringify(list)
  const known = compiled.get(text)
  if (known !== undefined) meter?.charge(known.units, COMPILED)
  const found = known ?? compile(rules, JSON.parse(text) as Capability[], meter)
  remember(text, found)
  return found.capabilities
}

function remember(text: string, list: Compiled): void {
  if (!compiled.delete(text)) rememberedCharacters += text.length
  compiled.set(text, list)
  const { count, characters } = REMEMBERED_LISTS
  for (const oldest of compiled.keys()) {
    if (compiled.size <= count && rememberedCharacters <= characters) break
    compiled.delete(oldest)
    rememberedCharacters -= oldest.length
  }
}

function compile(
  parsed: readonly Rule[],
  list: readonly Capability[],
  meter: WorkMeter | undefined,
): Compiled {
  const capabilities = parsed.map((rule) => ({
    index: rule.index,
    ofKind: compileKind(rule),
    conditions: conditionsOf(rule),
  }))
  let units = 0
  const heads = capabilities.map(({ conditions }) => getHeads(conditions))
  const signs = chooseSigns(heads, (cost) => {
    units = cost
    meter?.charge(cost, COMPILED)
  })
  const entries = capabilities.map(({ conditions, index }) => createEntry(conditions, index, signs))
  const tests = capabilities.map(({ ofKind }) => ofKind)
  const byKind = new Map<string, Candidates>()

  function candidatesFor(kind: string): Candidates {
    const known = byKind.get(kind)
    if (known !== undefined) return known
    const wireKind = dotted(kind)
    const found = createCandidates(
      signs,
      entries.filter((_, at) => tests[at]?.(wireKind)),
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
    const index = findFirst(candidates, envelope)
    return index < 0 ? DENIED : (decisions[index] ?? DENIED)
  }
  return { capabilities: { allows, list }, units }
}

export interface PatternOptions {
  readonly kinds?: boolean
  readonly path?: string
  readonly meter?: WorkMeter | undefined
}

/**
 * Compiles a pattern for strings alone, as subscriptions have them. With `kinds`, `.` and `/` are the same separator
 * on both sides. Throws `PatternError`, whose path begins with `path`, and `WorkError` where the meter runs out.
 */
export function compilePattern(
  pattern: Pattern,
  { kinds = false, path = '', meter }: PatternOptions = {},
): (value: string) => boolean {
  const usage = { patterns: 0, regexWeight: 0, work: meter, compiles: true }
  const test = compileNode(parseStrings(pattern, path, kinds ? '.' : '/', usage))
  return (value) => {
    beginCheck()
    return test(kinds ? dotted(value) : value)
  }
}

/**
 * Whether the list has a capability of literally this kind without conditions: what `observe.targeted` and `space.erase` ask for.
 * Globs, arrays, and capabilities narrowed by `to`, `context` or `payload` do not count.
 */
export function holdsLiteral(list: readonly Capability[], kind: string): boolean {
  return list.some((capability) => {
    if (typeof capability === 'string') return dotted(capability) === dotted(kind)
    if (!('kind' in capability)) return false
    const { kind: held, to = '**', context = '**', payload } = capability
    const narrowed = to !== '**' || context !== '**' || payload !== undefined
    return !narrowed && typeof held === 'string' && dotted(held) === dotted(kind)
  })
}

function compileKind({ kind, literal }: Rule): (kind: string) => boolean {
  const test = compileNode(kind)
  return (value) => (literalCapabilities.has(value) ? literal === value : test(value))
}

function conditionsOf({ to, context, payload }: Rule): Conditions {
  const only = to?.type === 'glob' ? to.text : undefined
  return {
    only,
    to: to && only === undefined ? compileAddressees(to) : undefined,
    context: context && compileNode(context),
    questions: payload === undefined ? [] : compileQuestions(payload),
  }
}

function compileAddressees(pattern: Node): AddresseesTest {
  const test = compileNode(pattern)
  return (to) => to.every(test)
}
