import { literalCapabilities } from '../kinds.js'
import { StepBudget, type WorkMeter } from '../work.js'
import {
  type AddresseesTest,
  allows,
  assemble,
  type ConditionProgram,
  type Conditions,
  compileQuestions,
  NOT_FRAMED,
  type PayloadPath,
  type Subject,
  valueAt,
} from './conditions.js'
import { COMPILED, type Node, parseStrings, patternLimits } from './parse.js'
import { dotted, parseRules, type Rule } from './rules.js'
import type { Capability, Pattern } from './schema.js'
import { compileNode } from './value.js'

export interface Decision {
  readonly allowed: boolean
  /** Index of the first capability that allows the envelope. */
  readonly matched?: number
}

export interface Capabilities {
  /** Checks an envelope. `budget`: can be shared with other checks. */
  allows(envelope: Subject, budget?: StepBudget): Decision
  readonly list: readonly Capability[]
}

const DENIED: Decision = Object.freeze({ allowed: false })
/** Frozen decisions by the index of the allowing capability, so that a check allocates nothing. */
const decisions: readonly Decision[] = Array.from({ length: patternLimits.capabilities }, (_, matched) =>
  Object.freeze({ allowed: true, matched }),
)

/**
 * Maximum number of kinds for which the capabilities that may allow them are cached, and maximum characters of a cached kind.
 * Bounded, because kinds are untrusted input.
 */
const REMEMBERED_KINDS = 64
const REMEMBERED_LENGTH = 128

/** Interned kinds, so that equal ones are compared by reference. */
const kinds = new Map<string, string>()

function theKind(kind: string): string {
  const known = kinds.get(kind)
  if (known !== undefined) return known
  if (kind.length > REMEMBERED_LENGTH) return kind
  if (kinds.size >= REMEMBERED_KINDS) kinds.clear()
  kinds.set(kind, kind)
  return kind
}

/** A compiled list of capabilities. `units`: the work of compiling it, without that of reading its JSON. */
interface Compiled {
  readonly capabilities: Capabilities
  readonly units: number
}

/** Recently compiled lists by their JSON, because participants of one role have equal lists. */
const compiled = new Map<string, Compiled>()
/** Limits of the cache: lists, and characters of their JSON. A compiled list takes about forty bytes per character. */
const REMEMBERED_LISTS = { count: 256, characters: 256 * 1024 }
let rememberedCharacters = 0

/**
 * Compiles the capabilities of one participant [MEUP-4]. Throws `PatternError` for an invalid pattern, and `WorkError` if the
 * meter runs out. A list from the cache is charged the same as a new one.
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
  const byKind = new Map<string, KindCandidates>()

  /**
   * Returns the capabilities of the list whose pattern for `kind` matches this kind. Uses its own budget, because the result is
   * cached for checks with any budget.
   */
  function candidatesFor(kind: string): KindCandidates {
    const known = byKind.get(kind)
    if (known !== undefined) return known
    const wireKind = dotted(kind)
    const own = new StepBudget()
    const { left } = own
    const candidates = createCandidates(
      signs,
      entries.filter((_, at) => tests[at]?.(wireKind, own)),
    )
    const found = { candidates, steps: left - own.left }
    if (byKind.size >= REMEMBERED_KINDS) byKind.clear()
    if (kind.length <= REMEMBERED_LENGTH) byKind.set(kind, found)
    return found
  }

  /** The last checked kind, which is likely to come next again. */
  let last = ''
  let ofLast = candidatesFor(last)

  // A function rather than a method, because callers use it without its object.
  const allows = (envelope: Subject, budget = new StepBudget()): Decision => {
    const { kind } = envelope
    if (kind !== last) {
      ofLast = candidatesFor(kind)
      last = theKind(kind)
    }
    if (!budget.spend(ofLast.steps)) return DENIED
    const index = findFirst(ofLast.candidates, envelope, budget)
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
 * Compiles a pattern for strings only, as in subscriptions. With `kinds`, `.` and `/` are equal separators on both sides.
 * Throws `PatternError`, whose path begins with `path`, and `WorkError` if the meter runs out.
 */
export function compilePattern(
  pattern: Pattern,
  { kinds = false, path = '', meter }: PatternOptions = {},
): (value: string, budget?: StepBudget) => boolean {
  const usage = { patterns: 0, regexWeight: 0, work: meter, compiles: true }
  const test = compileNode(parseStrings(pattern, path, kinds ? '.' : '/', usage))
  return (value, budget = new StepBudget()) => test(kinds ? dotted(value) : value, budget)
}

/** Whether the list has a capability whose pattern for `kind` matches, ignoring its other conditions. */
export const matchesKind = (list: readonly Capability[], kind: string): boolean =>
  list.some((capability) => {
    if (typeof capability === 'string') return compilePattern(capability, { kinds: true })(kind)
    return 'kind' in capability && compilePattern(capability.kind, { kinds: true })(kind)
  })

/**
 * Whether the list has a capability with this literal kind and no conditions, as required for `observe.targeted` and
 * `space.erase`. Globs, arrays, and capabilities with `to`, `context` or `payload` do not count.
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

function compileKind({ kind, literal }: Rule): (kind: string, budget: StepBudget) => boolean {
  const test = compileNode(kind)
  return (value, budget) => (literalCapabilities.has(value) ? literal === value : test(value, budget))
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
  return (to, budget) => to.every((name) => test(name, budget))
}

/**
 * The capabilities of a list for one kind, in one array. First come two signs: each is a position in one text of the envelope,
 * whose character there rules most capabilities out without running their programs. Then come, for each capability, the
 * characters that it requires at the two signs, its index, and its program.
 */
type Candidates = readonly (number | PayloadPath | ConditionProgram | undefined)[]

/**
 * The capabilities that may allow one kind, and the steps that it took to select them. Each check is charged these steps, also
 * if the selection was cached.
 */
interface KindCandidates {
  readonly candidates: Candidates
  readonly steps: number
}

const HEADER = 4
const WIDTH = 4
/** Represents the position beyond the end of a text, which has no character. */
const NONE = -2

/**
 * A capability, with the characters that it requires at the two positions that best distinguish the capabilities (see `Sign`).
 */
type Entry = readonly [here: number, there: number, index: number, program: ConditionProgram]

function createEntry(conditions: Conditions, index: number, [one, other]: Signs): Entry {
  const heads = getHeads(conditions)
  return [getCharacter(heads, one), getCharacter(heads, other), index, assemble(conditions)]
}

const createCandidates = ([one, other]: Signs, entries: readonly Entry[]): Candidates => [
  one.path,
  one.at,
  other.path,
  other.at,
  ...entries.flat(),
]

/** Finds the first candidate that allows an envelope of their kind; returns its index, or -1. */
function findFirst(candidates: Candidates, envelope: Subject, budget: StepBudget): number {
  if (candidates.length === HEADER) return -1
  const { payload, to } = envelope
  let path = candidates[0] as PayloadPath | undefined
  let text = path === undefined ? to?.[0] : valueAt(payload, path)
  const here = characterAt(text, candidates[1] as number)
  if (candidates[2] !== path) {
    path = candidates[2] as PayloadPath | undefined
    text = path === undefined ? to?.[0] : valueAt(payload, path)
  }
  const there = characterAt(text, candidates[3] as number)
  for (let at = HEADER; at < candidates.length; at += WIDTH) {
    const first = candidates[at]
    if (first !== here && first !== ANY) continue
    const second = candidates[at + 1]
    if (second !== there && second !== ANY) continue
    if (allows(candidates[at + 3] as ConditionProgram, envelope, path, text, budget))
      return candidates[at + 2] as number
  }
  return -1
}

const characterAt = (text: unknown, at: number): number =>
  typeof text === 'string' && at < text.length ? text.charCodeAt(at) : NONE

/**
 * A position in the text at a path, or in the first addressee if the path is undefined. The character there distinguishes
 * capabilities.
 */
interface Sign {
  readonly path: PayloadPath | undefined
  readonly at: number
}

type Signs = readonly [Sign, Sign]

/** The text with which the value at a path of the payload must begin, by path; `undefined` = the first addressee. */
type Heads = ReadonlyMap<PayloadPath | undefined, string>

/** Returns the texts with which values of every matching envelope begin. */
function getHeads({ only, questions }: Conditions): Heads {
  const heads = new Map<PayloadPath | undefined, string>()
  if (only !== undefined) heads.set(undefined, only)
  for (const { path, asked, head } of questions) {
    if (asked !== NOT_FRAMED && head.length > (heads.get(path)?.length ?? 0)) heads.set(path, head)
  }
  return heads
}

/** Represents a capability that allows any character at this position, or none. */
const ANY = -1

const getCharacter = (heads: Heads, { path, at }: Sign): number => {
  const head = heads.get(path) ?? ''
  return at < head.length ? head.charCodeAt(at) : ANY
}

/** Limits for choosing signs: positions in a text, and paths. */
const maxCharacters = 32
const maxPlaces = 16

/** Units of work to try one sign on one capability, for the choice of both signs together. */
const WORK_PER_TRIAL = 1 / 4

/** Chooses the two signs that best distinguish the capabilities. Charges for all the work before it starts. */
function chooseSigns(capabilities: readonly Heads[], charge: (units: number) => void): Signs {
  const signs = listSigns(capabilities)
  charge(signs.length * capabilities.length * WORK_PER_TRIAL)
  const none = capabilities.map(() => 0)
  const one = chooseSign(signs, capabilities, none)
  const groups = capabilities.map((heads) => getCharacter(heads, one) + 2)
  return [one, chooseSign(signs, capabilities, groups)]
}

function listSigns(capabilities: readonly Heads[]): Sign[] {
  const longest = new Map<PayloadPath | undefined, number>([[undefined, 1]])
  for (const [path, head] of capabilities.flatMap((heads) => [...heads])) {
    longest.set(path, Math.max(longest.get(path) ?? 0, Math.min(head.length, maxCharacters)))
  }
  const places = [...longest].slice(0, maxPlaces)
  return places.flatMap(([path, length]) => Array.from({ length }, (_, at) => ({ path, at })))
}

const groupSize = 0x10002

/** Chooses the sign that divides the given groups of capabilities into the smallest ones. */
function chooseSign(signs: readonly Sign[], capabilities: readonly Heads[], groups: readonly number[]): Sign {
  let best: Sign = { path: undefined, at: 0 }
  let least = Number.POSITIVE_INFINITY
  for (const sign of signs) {
    const sizes = new Map<number, number>()
    let left = 0
    for (const [index, heads] of capabilities.entries()) {
      const character = getCharacter(heads, sign)
      const group = (groups[index] ?? 0) * groupSize + character
      const size = sizes.get(group) ?? 0
      // A group of n capabilities costs n²: the first one 1, the second one 3, the third one 5. A capability that allows any
      // character belongs to every group.
      left += character === ANY ? capabilities.length : 2 * size + 1
      sizes.set(group, size + 1)
    }
    if (left < least) [best, least] = [sign, left]
  }
  return best
}
