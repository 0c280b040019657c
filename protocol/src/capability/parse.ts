import { pointer } from '../json.js'
import { Kind, STEP_ALIAS } from '../kinds.js'
import type { WorkMeter } from '../work.js'
import { PatternError } from './errors.js'
import { anyText, compileCost, type Glob, literalGlob, parseGlob, type Separator } from './glob.js'
import { regexWeight } from './regex.js'

/** Limits of patterns; longer ones are refused with a `PatternError`. */
export const patternLimits = {
  /** Maximum capabilities in a list. */
  capabilities: 256,
  /** Maximum simple patterns (strings, numbers, booleans, nulls, empty objects) in one capability. */
  patterns: 64,
  /** Maximum UTF-16 units of a string. */
  length: 512,
  /** Maximum nesting of objects in one payload pattern. */
  depth: 32,
  /** Maximum length of the regular expressions of one capability together, with counted repetitions expanded. */
  regexWeight: 1024,
  /** Maximum length of the regular expressions of a list together, measured like `regexWeight`. */
  listRegexWeight: 8192,
} as const

export interface Regex {
  readonly type: 'regex'
  readonly source: string
  /** JSON pointer to the pattern, for the error if it does not compile. */
  readonly path: string
}

/** A pattern for alternatives: an array, or `!p`. A value must match one of `some` and none of `none`. */
export interface Choice {
  readonly type: 'choice'
  readonly some: readonly Node[]
  readonly none: readonly (Glob | Regex)[]
}

/** A parsed pattern. `single` matches everything but objects and arrays; `inside` is the pattern of the key `**`. */
export type Node =
  | Glob
  | Regex
  | Choice
  | { readonly type: 'single' }
  | { readonly type: 'equal'; readonly value: number | boolean | null }
  | { readonly type: 'object'; readonly fields: readonly (readonly [string, Node])[]; readonly inside?: Node }

type Item =
  | { readonly not: boolean; readonly node: Glob | Regex }
  | { readonly not: false; readonly node: Node }

/** `work`: the meter that parsing is charged to; `compiles`: also charge for compiling the pattern. */
export interface Charged {
  readonly work?: WorkMeter | undefined
  readonly compiles?: boolean
}

/** Counts how much of its limits one capability has used. */
export interface CapabilityMeter extends Charged {
  patterns: number
  regexWeight: number
}

/** The costly items, as a `WorkError` names them. */
export const COMPILED = 'patterns to parse or compile'
/**
 * Units of work for each part of a pattern. Compiling is charged when a pattern is parsed, so that a cached pattern costs the
 * same.
 */
const units = { pattern: 1 / 2, text: 1 / 2, character: 1 / 16, regex: 64, regexWeight: 2, compiledText: 2 }

/** Parses a pattern for a string: a text or an array of texts. Throws `PatternError`. */
export function parseStrings(
  pattern: unknown,
  path: string,
  separator: Separator,
  meter: CapabilityMeter,
): Node {
  return parseOneOrMany(pattern, path, anyText(separator), (item, at) => {
    if (typeof item !== 'string') throw new PatternError('not_text', {}, at)
    return parseText(item, at, separator, meter)
  })
}

/** Parses a pattern for a JSON value. `depth`: number of enclosing objects. Throws `PatternError`. */
export function parseValue(
  pattern: unknown,
  path: string,
  meter: CapabilityMeter,
  depth = 0,
  deep = false,
): Node {
  return parseOneOrMany(pattern, path, { type: 'single' }, (item, at) => {
    if (typeof item === 'string') return parseText(item, at, '/', meter)
    if (isPlainObject(item)) return { not: false, node: parseObject(item, at, meter, depth, deep) }
    if (item !== null && typeof item !== 'boolean' && !Number.isFinite(item)) {
      throw new PatternError('not_a_pattern', {}, at)
    }
    // JavaScript rounds larger integers, so that the pattern would match other integers than in a parser with exact numbers.
    const number = Number(item)
    if (Math.abs(number) > Number.MAX_SAFE_INTEGER) throw new PatternError('large_number', { number }, at)
    count(meter, at)
    return { not: false, node: { type: 'equal', value: item as number | boolean | null } }
  })
}

/** Parses a pattern or an array of patterns. `otherwise`: the set that a pattern with only exclusions selects from. */
function parseOneOrMany(
  pattern: unknown,
  path: string,
  otherwise: Node,
  parse: (item: unknown, path: string) => Item,
): Node {
  if (!Array.isArray(pattern)) {
    const { not, node } = parse(pattern, path)
    return not ? { type: 'choice', some: [otherwise], none: [node] } : node
  }
  if (pattern.length === 0) throw new PatternError('empty_array', {}, path)
  const some: Node[] = []
  const none: (Glob | Regex)[] = []
  pattern.forEach((item: unknown, i) => {
    const { not, node } = parse(item, `${path}/${i}`)
    if (not) none.push(node)
    else some.push(node)
  })
  return { type: 'choice', some: some.length > 0 ? some : [otherwise], none }
}

function parseObject(
  object: object,
  path: string,
  meter: CapabilityMeter,
  depth: number,
  deep: boolean,
): Node {
  if (depth === patternLimits.depth) throw new PatternError('deep_object', { limit: depth }, path)
  const entries: [string, unknown][] = Object.entries(object)
  if (entries.length === 0) count(meter, path)
  const fields: [string, Node][] = []
  let inside: Node | undefined
  for (const [key, value] of entries) {
    const at = `${path}/${pointer(key)}`
    checkText(key, at, meter)
    // Refuses nested `**` keys, because they would make matching polynomial in the payload.
    if (key === '**' && deep) throw new PatternError('nested_any_depth', {}, at)
    const node = parseValue(value, at, meter, depth + 1, deep || key === '**')
    if (key === '**') inside = node
    else fields.push([key, node])
  }
  return inside === undefined ? { type: 'object', fields } : { type: 'object', fields, inside }
}

function parseText(text: string, path: string, separator: Separator, meter: CapabilityMeter) {
  checkText(text, path, meter)
  count(meter, path)
  const not = text.startsWith('!')
  const plain = not ? text.slice(1) : text
  if (not && plain.startsWith('!')) throw new PatternError('double_negation', {}, path)
  const source = regexSource(plain)
  const node = source === undefined ? readGlob(plain, path, separator, meter) : readRegex(source, path, meter)
  return { not, node }
}

function readGlob(
  text: string,
  path: string,
  separator: Separator,
  { work, compiles }: CapabilityMeter,
): Glob {
  const glob = parseGlob(text, separator)
  if (glob === undefined) throw new PatternError('open_escape', {}, path)
  if (compiles) work?.charge(compileCost(glob), COMPILED)
  // Older grants use `reasoning.step`, a kind that never existed, for thoughts [MEUP-4].
  return separator === '.' && glob.text === STEP_ALIAS ? literalGlob(Kind.reasoningThought, separator) : glob
}

function readRegex(source: string, path: string, meter: CapabilityMeter): Regex {
  const weight = regexWeight(source)
  meter.regexWeight += weight
  const { regexWeight: size } = meter
  const { regexWeight: limit } = patternLimits
  if (size > limit) throw new PatternError('large_regex', { whole: 'capability', size, limit }, path)
  if (meter.compiles) meter.work?.charge(units.regex + weight * units.regexWeight, COMPILED)
  return { type: 'regex', source, path }
}

/**
 * Returns the source of a regular expression; `undefined` for other texts. The older form `/…/` counts only with an anchor,
 * because without one it may be a path [MEUP-4].
 */
function regexSource(text: string): string | undefined {
  if (text.startsWith('re:')) return text.slice(3)
  const enclosed = text.startsWith('/') && text.endsWith('/')
  return enclosed && (text.startsWith('/^') || text.endsWith('$/')) ? text.slice(1, -1) : undefined
}

/** Checks the limits of a single text in a pattern. */
export function checkText(text: string, path: string, { work, compiles }: CapabilityMeter): void {
  const { length: limit } = patternLimits
  if (text.length > limit) throw new PatternError('long_text', { length: text.length, limit }, path)
  const reading = units.text + text.length * units.character
  work?.charge(compiles ? reading + units.compiledText : reading, COMPILED)
  if (/\p{Surrogate}/u.test(text)) throw new PatternError('lone_surrogate', {}, path)
}

function count(meter: CapabilityMeter, path: string): void {
  meter.patterns += 1
  meter.work?.charge(units.pattern, COMPILED)
  const { patterns: limit } = patternLimits
  if (meter.patterns > limit) throw new PatternError('many_patterns', { limit }, path)
}

/**
 * Whether a value is an object literal. Instances of classes may have no own properties, so a pattern of one would match any
 * object.
 */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
