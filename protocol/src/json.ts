import { maxNesting } from './limits.js'

/** Byte offsets of one member of a JSON object; `valueEnd` is exclusive. */
export interface Member {
  readonly key: string
  readonly keyStart: number
  readonly keyEnd: number
  readonly valueStart: number
  readonly valueEnd: number
}

export interface JsonObject {
  readonly value: Record<string, unknown>
  /** The members of the outermost object, in the order they were sent. */
  readonly members: readonly Member[]
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads one JSON object from UTF-8 bytes and says where its members stand, so that a value can be passed on as the
 * very bytes that were sent [MEUP-1.9]. Returns what is wrong as a string: unparsable, not an object, nested too
 * deep (counted on the bytes, before parsing), a repeated key, a lone surrogate, a key `__proto__` [MEUP-1.8].
 * `text` is the decoded form of `bytes` where the caller has it already.
 */
export function readObject(bytes: Uint8Array, text?: string): JsonObject | string {
  const scanned = scan(bytes)
  if (typeof scanned === 'string') return scanned
  let value: unknown
  try {
    value = JSON.parse(text ?? decoder.decode(bytes))
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'not a JSON object'
  const seen = { keys: 0 }
  const fault = inspect(value, seen)
  if (fault !== undefined) return `${fault.what} at ${fault.path || '/'}`
  if (seen.keys !== scanned.keys) return 'a key is repeated in one object'
  return { value: value as Record<string, unknown>, members: scanned.members }
}

/** The elements of one JSON array as the bytes that were sent, or what is wrong with it. */
export function readElements(bytes: Uint8Array): Uint8Array[] | string {
  const scanned = scan(bytes)
  if (typeof scanned === 'string') return scanned
  try {
    if (!Array.isArray(JSON.parse(decoder.decode(bytes)))) return 'not a JSON array'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return scanned.members.map(({ valueStart, valueEnd }) => bytes.subarray(valueStart, valueEnd))
}

/** Counts colons and nesting outside strings, and notes the members of the outermost object or array. */
function scan(bytes: Uint8Array): { keys: number; members: Member[] } | string {
  const members: Member[] = []
  let [depth, keys, keyStart, keyEnd, valueStart] = [0, 0, 0, 0, -1]
  let isArray = false
  const finish = (end: number): void => {
    if (valueStart === -1) return
    const value = trim(bytes, valueStart, end)
    valueStart = -1
    if (value.valueStart === value.valueEnd) return // An empty array; elsewhere the parser reports it.
    members.push({ key: keyText(bytes, keyStart, keyEnd), keyStart, keyEnd, ...value })
  }
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) {
      const start = at
      for (at++; at < bytes.length && bytes[at] !== quote; at++) if (bytes[at] === backslash) at++
      if (depth === 1 && valueStart === -1) [keyStart, keyEnd] = [start, at + 1]
    } else if (byte === colon) {
      keys++
      if (depth === 1) valueStart = at + 1
    } else if (byte === openBrace || byte === openBracket) {
      if (++depth > maxNesting) return `nested more than ${maxNesting} levels deep`
      if (depth === 1 && byte === openBracket) [isArray, valueStart] = [true, at + 1]
    } else if (byte === closeBrace || byte === closeBracket) {
      if (depth-- === 1) finish(at)
    } else if (byte === comma && depth === 1) {
      finish(at)
      if (isArray) valueStart = at + 1
    }
  }
  return { keys, members }
}

function trim(bytes: Uint8Array, start: number, end: number): { valueStart: number; valueEnd: number } {
  while (start < end && (bytes[start] ?? 0) <= 0x20) start++
  while (end > start && (bytes[end - 1] ?? 0) <= 0x20) end--
  return { valueStart: start, valueEnd: end }
}

function keyText(bytes: Uint8Array, start: number, end: number): string {
  let text = ''
  for (let at = start + 1; at < end - 1; at++) {
    const byte = bytes[at] ?? 0
    if (byte === backslash || byte > 0x7e) return unescapeKey(bytes.subarray(start, end))
    text += String.fromCharCode(byte)
  }
  return text
}

function unescapeKey(token: Uint8Array): string {
  try {
    return String(JSON.parse(decoder.decode(token)))
  } catch {
    return '' // The parse of the whole object reports what is wrong.
  }
}

interface Fault {
  readonly what: string
  readonly path: string
}

/** Counts keys, and finds what JSON.parse lets through. The path is put together only when there is a fault. */
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
  for (const key of Object.keys(value)) {
    seen.keys++
    if (key === '__proto__') return { what: 'a key __proto__', path: '' }
    if (!key.isWellFormed()) return { what: 'a lone surrogate in a key', path: '' }
    const fault = inspect(value[key], seen)
    if (fault !== undefined) return { ...fault, path: `/${key}${fault.path}` }
  }
  return undefined
}
