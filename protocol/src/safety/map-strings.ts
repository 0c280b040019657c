/**
 * Returns the text that replaces a string. `place`: the path of keys to the string, such as `metadata/model`. Elements of a
 * list have the place of the list, and a key has the place of its value.
 */
type Change = (text: string, place: string, isKey: boolean) => string

/**
 * Rewrites the strings of a JSON text, including keys, in order. Everything else stays byte by byte; without changes, returns
 * the same text. Keys of one object stay distinct. The text must be accepted by `readObject`.
 */
export function mapStrings(json: string, change: Change): string {
  let at = 0
  let written = 0
  let out = ''

  const replace = (from: number, text: string): void => {
    out += json.slice(written, from) + JSON.stringify(text)
    written = at
  }
  const readString = (): string => {
    const start = at
    at = endOfString(json, start)
    const inside = json.slice(start + 1, at - 1)
    return inside.includes('\\') ? (JSON.parse(json.slice(start, at)) as string) : inside
  }
  const skipTo = (isWanted: (code: number) => boolean): void => {
    while (at < json.length && !isWanted(json.charCodeAt(at))) at++
  }

  const value = (place: string): void => {
    skipTo(isVisible)
    const start = at
    const first = json.charCodeAt(at)
    if (first === quote) {
      const text = readString()
      const changed = change(text, place, false)
      if (changed !== text) replace(start, changed)
    } else if (first === openBrace) members(place)
    else if (first === openBracket) elements(place)
    else skipTo(endsScalar)
  }
  const elements = (place: string): void => {
    do {
      at++ // Skips the bracket or comma.
      skipTo(isVisible)
      if (json.charCodeAt(at) !== closeBracket) value(place)
      skipTo(isVisible)
    } while (json.charCodeAt(at) === comma)
    at++
  }
  const members = (place: string): void => {
    const keys = new Map<string, number>()
    do {
      at++ // Skips the brace or comma.
      skipTo(isVisible)
      if (json.charCodeAt(at) === closeBrace) break
      value(key(place, keys))
      skipTo(isVisible)
    } while (json.charCodeAt(at) === comma)
    at++
  }
  /** Reads a key with its colon. Returns the path of keys to its value. */
  const key = (place: string, taken: Map<string, number>): string => {
    const start = at
    const text = readString()
    const inside = place === '' ? text : `${place}/${text}`
    const changed = freeKey(change(text, inside, true), taken)
    if (changed !== text) replace(start, changed)
    skipTo(isColon)
    at++
    return inside
  }

  value('')
  return written === 0 ? json : out + json.slice(written)
}

const quote = 0x22
const comma = 0x2c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

const isVisible = (code: number): boolean => code > 0x20
const isColon = (code: number): boolean => code === 0x3a
const endsScalar = (code: number): boolean =>
  code === comma || code === closeBrace || code === closeBracket || code <= 0x20

/** Returns the index after the closing quote of the string that begins at `start`. */
function endOfString(json: string, start: number): number {
  for (let at = start + 1; ; at++) {
    at = json.indexOf('"', at)
    if (at === -1) throw new SyntaxError('a string has no end')
    if (!isEscaped(json, at)) return at + 1
  }
}

function isEscaped(json: string, at: number): boolean {
  let before = at - 1
  while (json[before] === '\\') before--
  return (at - before) % 2 === 0
}

/**
 * Returns a key that is unique in its object: numbers colliding keys, which `taken` counts. A key that cannot be sent becomes
 * empty [MEUP-1.8].
 */
function freeKey(wanted: string, taken: Map<string, number>): string {
  const base = wanted === '__proto__' ? '' : wanted
  let copies = taken.get(base)
  if (copies === undefined) {
    taken.set(base, 1)
    return base
  }
  let key: string
  do key = `${base} (${++copies})`
  while (taken.has(key))
  taken.set(base, copies).set(key, 1)
  return key
}
