import { getErrorMessage } from './errors.js'
import { maxNesting } from './limits.js'
import type { WorkMeter } from './work.js'

/** A member of a JSON object, by byte offsets. The offsets of the key include its quotes; ends are exclusive. */
export interface Member {
  readonly keyStart: number
  readonly keyEnd: number
  readonly valueStart: number
  readonly valueEnd: number
}

export interface JsonObject {
  readonly value: Record<string, unknown>
  /** The members of the outermost object, in the order of the text. */
  readonly members: readonly Member[]
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Units of work for parsing and checking: per key, and per object or list [MEUP-7.1]. */
const keyWork = 1 / 4
const containerWork = 1 / 8

/**
 * Parses one JSON object from UTF-8 bytes with the offsets of its members, so that a value can be passed on byte by byte
 * [MEUP-1.9]. Returns a string that describes the problem if it cannot be parsed, is not an object, is too deep (checked on the
 * bytes, before parsing), or has a duplicate key, a lone surrogate or a key `__proto__` [MEUP-1.8]. Charges the meter before
 * parsing; throws `WorkError` if the meter runs out.
 */
export function readObject(bytes: Uint8Array, meter?: WorkMeter): JsonObject | string {
  const scanned = scan(bytes, maxNesting)
  if (typeof scanned === 'string') return scanned
  meter?.charge(scanned.keys * keyWork + scanned.containers * containerWork, 'keys, objects and lists in it')
  let value: unknown
  try {
    value = JSON.parse(decoder.decode(bytes))
  } catch (error) {
    return getErrorMessage(error)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'not a JSON object'
  const seen = { keys: 0 }
  const fault = inspect(value, seen)
  if (fault !== undefined) return `${fault.what} at ${fault.path || '/'}`
  if (seen.keys !== scanned.keys) return 'a key is repeated in one object'
  return { value: value as Record<string, unknown>, members: scanned.members }
}

/**
 * Returns the bytes of each element of a JSON array, or a string that describes a problem. Stops after one element more than
 * `maximum`.
 */
export function readElements(
  bytes: Uint8Array,
  maximum = Number.POSITIVE_INFINITY,
): readonly Uint8Array[] | string {
  const scanned = scan(bytes, maxNesting + 1, maximum) // Elements have the full nesting limit.
  if (typeof scanned === 'string') return scanned
  const elements = scanned.members.map(({ valueStart, valueEnd }) => bytes.subarray(valueStart, valueEnd))
  if (elements.length > maximum) return elements
  try {
    if (!Array.isArray(JSON.parse(decoder.decode(bytes)))) return 'not a JSON array'
  } catch (error) {
    return getErrorMessage(error)
  }
  return elements
}

/** Limits of `prescan`: members per object, and bytes per string. */
const [maxPrescanned, maxStringBytes] = [64, 1024]

/**
 * Reads only the `id` and `kind` of a frame that may be too large to parse. Omits values that are not strings or occur twice.
 * Returns neither if the frame is malformed in the part that is read.
 */
export function prescan(bytes: Uint8Array): { readonly id?: string; readonly kind?: string } {
  const scanned = scan(bytes, Number.POSITIVE_INFINITY, maxPrescanned)
  if (typeof scanned === 'string') return {}
  try {
    const id = stringNamed('id', scanned.members, bytes)
    const kind = stringNamed('kind', scanned.members, bytes)
    return { ...(id !== undefined && { id }), ...(kind !== undefined && { kind }) }
  } catch {
    return {} // The full parser reports the problem.
  }
}

function stringNamed(name: string, members: readonly Member[], bytes: Uint8Array): string | undefined {
  const [member, another] = members.filter((each) => isShort(each) && isNamed(each, name, bytes))
  if (member === undefined || another !== undefined) return undefined
  const { valueStart, valueEnd } = member
  if (bytes[valueStart] !== quote || valueEnd - valueStart > maxStringBytes) return undefined
  return JSON.parse(decoder.decode(bytes.subarray(valueStart, valueEnd))) as string
}

const isShort = ({ keyStart, keyEnd }: Member): boolean => keyEnd - keyStart <= maxStringBytes

/** Whether JSON is nested deeper than `deepest`, counted on the bytes, which need not be well-formed. */
export const isDeeper = (bytes: Uint8Array, deepest: number): boolean =>
  typeof scan(bytes, deepest, Number.POSITIVE_INFINITY, false) === 'string'

/** Returns the bytes of a member of a well-formed JSON object; `undefined` if it has no such member. */
export function getMember(object: Uint8Array, name: string): Uint8Array | undefined {
  const scanned = scan(object, Number.POSITIVE_INFINITY)
  if (typeof scanned === 'string') return undefined
  const member = memberNamed(name, scanned.members, object)
  return member && object.subarray(member.valueStart, member.valueEnd)
}

/** Escapes a key as a segment of a JSON pointer. */
export const pointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

/** Finds the member with this ASCII name, even if its key is written with escapes. */
export function memberNamed(name: string, members: readonly Member[], bytes: Uint8Array): Member | undefined {
  for (const member of members) if (isNamed(member, name, bytes)) return member
  return undefined
}

/** Whether the key of a member is this ASCII name, even if it is written with escapes. */
export function isNamed({ keyStart, keyEnd }: Member, name: string, bytes: Uint8Array): boolean {
  if (keyEnd - keyStart - 2 < name.length) return false
  for (let at = keyStart + 1, index = 0; ; at++, index++) {
    if (at === keyEnd - 1) return index === name.length
    if (bytes[at] === backslash) return JSON.parse(decoder.decode(bytes.subarray(keyStart, keyEnd))) === name
    if (bytes[at] !== name.charCodeAt(index)) return false
  }
}

interface Scanned {
  readonly keys: number
  /** Number of objects and lists in the text. */
  readonly containers: number
  readonly members: Member[]
}

/**
 * Counts colons and nesting outside of strings, and records the members of the outermost object or array. Stops after one
 * member more than `maximum`.
 */
function scan(
  bytes: Uint8Array,
  deepest: number,
  maximum = Number.POSITIVE_INFINITY,
  notes = true,
): Scanned | string {
  const { length } = bytes
  const members: Member[] = []
  let isArray = false
  let depth = 0
  let keys = 0
  let containers = 0
  let keyStart = 0
  let keyEnd = 0
  let valueStart = -1
  for (let at = 0; at < length; at++) {
    const byte = bytes[at]
    if (byte === quote) {
      const start = at
      at = closingQuote(bytes, start, length)
      if (depth === 1 && valueStart === -1) {
        keyStart = start
        keyEnd = at + 1
      }
    } else if (byte === colon) {
      keys++
      if (depth === 1) valueStart = at + 1
    } else if (byte === openBrace || byte === openBracket) {
      containers++
      if (++depth > deepest) return `nested more than ${Math.min(deepest, maxNesting)} levels deep`
      if (depth === 1 && byte === openBracket) {
        isArray = true
        valueStart = at + 1
      }
    } else if (byte === closeBrace || byte === closeBracket) {
      if (depth-- !== 1) continue
      if (notes && valueStart !== -1) addMember(members, bytes, keyStart, keyEnd, valueStart, at)
      valueStart = -1
    } else if (byte === comma && depth === 1) {
      if (notes && valueStart !== -1) addMember(members, bytes, keyStart, keyEnd, valueStart, at)
      if (members.length > maximum) return { keys, containers, members }
      valueStart = isArray ? at + 1 : -1
    }
  }
  return { keys, containers, members }
}

/** Bytes of a string that are scanned one by one, before `indexOf` searches for its end. */
const maxScannedBytes = 32

/** Returns the end of the string that begins at `start`, or the end of the bytes. */
function closingQuote(bytes: Uint8Array, start: number, length: number): number {
  let at = start + 1
  for (;;) {
    for (const far = Math.min(at + maxScannedBytes, length); at < far; at++) {
      const byte = bytes[at]
      if (byte === quote) return at
      if (byte === backslash) at++
    }
    if (at >= length) return length
    at = bytes.indexOf(quote, at)
    if (at === -1) return length
    if (!isEscaped(bytes, at)) return at
    at++
  }
}

function isEscaped(bytes: Uint8Array, at: number): boolean {
  let before = at - 1
  while (bytes[before] === backslash) before--
  return (at - before) % 2 === 0
}

/** Records a member. Ignores the empty member of an empty array; the parser reports other empty members. */
function addMember(
  members: Member[],
  bytes: Uint8Array,
  keyStart: number,
  keyEnd: number,
  valueStart: number,
  valueEnd: number,
): void {
  let [start, end] = [valueStart, valueEnd]
  while (start < end && (bytes[start] ?? 0) <= 0x20) start++
  while (end > start && (bytes[end - 1] ?? 0) <= 0x20) end--
  if (start < end) members.push({ keyStart, keyEnd, valueStart: start, valueEnd: end })
}

interface Fault {
  readonly what: string
  readonly path: string
}

/** Counts keys, and finds faults that JSON.parse accepts but the protocol does not. Builds the path only for a fault. */
function inspect(value: unknown, seen: { keys: number }): Fault | undefined {
  if (typeof value === 'string')
    return value.isWellFormed() ? undefined : { what: 'a lone surrogate', path: '' }
  if (typeof value !== 'object' || value === null) return undefined
  if (!Array.isArray(value)) return inspectMembers(value as Record<string, unknown>, seen)
  for (let index = 0; index < value.length; index++) {
    const fault = inspect(value[index], seen)
    if (fault !== undefined) return { ...fault, path: `/${index}${fault.path}` }
  }
  return undefined
}

function inspectMembers(value: Record<string, unknown>, seen: { keys: number }): Fault | undefined {
  // `for…in` avoids a list of keys; parsed objects have no inherited enumerable keys.
  for (const key in value) {
    seen.keys++
    if (key === '__proto__') return { what: 'a key __proto__', path: '' }
    if (!key.isWellFormed()) return { what: 'a lone surrogate in a key', path: '' }
    const fault = inspect(value[key], seen)
    if (fault !== undefined) return { ...fault, path: `/${pointer(key)}${fault.path}` }
  }
  return undefined
}

/**
 * Writes JSON in a form that is the same for equivalent texts [MEUP-4.17]: sorted members, strings by value, no white space. A
 * number keeps its token, so that 1.0 differs from 1, because readers may round differently. Omits the member `omitted` of the
 * outermost object. The bytes must be well-formed according to `readObject`.
 */
export function canonicalJson(json: Uint8Array, omitted?: string): string {
  const text = new TextDecoder().decode(json)
  // Matches a token of JSON. Strings are matched by an unrolled loop, so that long ones do not overflow the stack.
  const tokens = /[ \t\n\r]*("[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]|[^ \t\n\r{}[\]:,"]+)/y
  const next = (): string => {
    const [, token] = tokens.exec(text) ?? []
    if (token === undefined) throw new SyntaxError('this is not well-formed JSON')
    return token
  }

  const value = (token: string, without?: string): string => {
    if (token === '{') return object(without)
    if (token === '[') return array()
    return token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token
  }
  const object = (without: string | undefined): string => {
    const members: { key: string; text: string }[] = []
    for (let token = next(); token !== '}'; token = next()) {
      const key: string = JSON.parse(token === ',' ? next() : token)
      next() // Skips the colon.
      const member = { key, text: `${JSON.stringify(key)}:${value(next())}` }
      if (key !== without) members.push(member)
    }
    members.sort((a, b) => (a.key < b.key ? -1 : 1))
    return `{${members.map((member) => member.text).join(',')}}`
  }
  const array = (): string => {
    const elements: string[] = []
    for (let token = next(); token !== ']'; token = next()) {
      elements.push(value(token === ',' ? next() : token))
    }
    return `[${elements.join(',')}]`
  }

  return value(next(), omitted)
}
