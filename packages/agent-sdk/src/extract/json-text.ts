/** Functions that read JSON of models without parsing and encoding it again, which would change integers over 2^53. */

/**
 * Matches a string, or a token between strings. The loop for escapes is unrolled, so that long strings do not overflow the
 * stack.
 */
const token = /\s*("[^"\\]*(?:\\[\s\S][^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+)/y

/** Returns the end of the JSON object or list at a position; -1 = it is incomplete, or none begins there. */
export function findJsonEnd(text: string, from: number): number {
  let depth = 0
  token.lastIndex = from
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    const [, part = ''] = match
    if (part === '{' || part === '[') depth++
    else if (depth === 0) return -1
    else if ((part === '}' || part === ']') && --depth === 0) return token.lastIndex
  }
  return -1
}

/** Splits an object into its members, or a list into its elements, each as written. The JSON must be valid. */
export function splitJson(json: string): (readonly [name: string, json: string])[] {
  const parts: [string, string][] = []
  let depth = 0
  let name = ''
  let start = 0
  token.lastIndex = 0
  for (let match = token.exec(json); match !== null; match = token.exec(json)) {
    const [, part = ''] = match
    const begins = token.lastIndex - part.length
    const isEnd = part === '}' || part === ']'
    if (depth === 1 && part === ':') {
      name = JSON.parse(json.slice(start, begins))
      start = token.lastIndex
    } else if (depth === 1 && (part === ',' || isEnd)) {
      const value = json.slice(start, begins).trim()
      if (value !== '') parts.push([name, value])
      start = token.lastIndex
    }
    if (part === '{' || part === '[') {
      if (depth++ === 0) start = token.lastIndex
    } else if (isEnd) depth--
  }
  return parts
}

/** `undefined` = not JSON. */
export const parseJson = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Texts that mean "no arguments"; PHP encodes an empty object as an empty list. */
const nothing = /^(?:null|none|undefined|\[\s*\])?$/i
/** Texts that may surround arguments: fences, control tokens, call marks, unmatched brackets. */
const around = /[\s,;}\]]+|```(?:json)?|null\b|<[^<>{}]*>|\[\/?[A-Z_]+\]/y

/**
 * Splits a text into the arguments of its calls, each as JSON; usually there is one call. Converts missing arguments to an
 * empty object. Repairs known faults of servers: concatenated arguments of several calls, a leading `{}`, duplicated arguments,
 * surrounding marks, and JSON within a JSON string. Returns any other text unchanged.
 */
export function readArguments(text: string): readonly string[] {
  const json = text.trim()
  if (nothing.test(json)) return ['{}']
  const value = parseJson(json)
  if (typeof value === 'string') {
    const inner = readArguments(value)
    return inner.every((each) => isObject(parseJson(each))) ? inner : [text]
  }
  if (value !== undefined) return [json]
  const glued: string[] = []
  for (let at = skipAround(json, 0); at < json.length; ) {
    const end = findJsonEnd(json, at)
    const piece = json.slice(at, end).trim()
    if (end < 0 || !isObject(parseJson(piece))) return [text]
    if (piece !== glued.at(-1)) glued.push(piece)
    at = skipAround(json, end)
  }
  if (glued.length === 0) return [text]
  const filled = glued.filter((each) => splitJson(each).length > 0)
  return filled.length > 0 ? filled : ['{}']
}

function skipAround(json: string, from: number): number {
  let at = from
  around.lastIndex = at
  while (around.test(json)) at = around.lastIndex
  return at
}
