/**
 * JSON whose numbers keep their digits [MEUP-3.8]. JavaScript changes 9007199254740993, 0.1000 and 1.0 when it reads them. The
 * text of such numbers is kept with the value that holds them, so that the value is written as it was read.
 */

/** Digits of the numbers in an object or a list, by key. */
type NumberTexts = Map<string, string>

const numberTexts = new WeakMap<object, NumberTexts>()

/** Matches every JSON text with an inexact number, and some other texts, because a number may be inside a string. */
const mayBeInexact =
  /(?:^|[:,[])\s*-?(?:\d[\d.]{15}|0\.000000|\d+\.\d*0(?!\d)|\d+(?:\.\d+)?[eE]|(?<=-)0(?![\d.]))[\d.eE+-]*\s*(?:[,}\]]|$)/

/** Matches a token of JSON. Strings are matched by an unrolled loop, so that long ones do not overflow the stack. */
const tokens = () => /[ \t\n\r]*("[^"\\]*(?:\\[\s\S][^"\\]*)*"|[{}[\]:,]|[^ \t\n\r{}[\]:,"]+)/y

/** Returns `true` if JavaScript would write a number differently, or would round other numbers to the same value. */
const isInexact = (token: string): boolean =>
  /^[-\d]/.test(token) &&
  (String(Number(token)) !== token || (/^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token))))

/**
 * `JSON.parse` that keeps the digits of numbers for `stringifyExact`. They belong to the object or list that contains the
 * number: copy them with `copyNumberTexts`; a replaced number is written as the new one. Throws like `JSON.parse`.
 */
export function parseExact(json: string): unknown {
  const value: unknown = JSON.parse(json)
  if (mayBeInexact.test(json)) keepNumberTexts(json, [value], tokens())
  return value
}

/** Stores the digits of inexact numbers: walks the tokens of the text in parallel with the parsed value. */
function keepNumberTexts(json: string, root: unknown[], token: RegExp): void {
  interface Level {
    readonly value: unknown
    key: string | number
  }
  let level: Level = { value: root, key: 0 }
  const outer: Level[] = []
  let string: string | undefined
  for (let match = token.exec(json); match !== null; match = token.exec(json)) {
    const [, text = ''] = match
    switch (text[0]) {
      case '{':
      case '[':
        outer.push(level)
        level = { value: getMemberOf(level), key: text === '[' ? 0 : '' }
        break
      case '}':
      case ']':
        level = outer.pop() ?? level
        break
      case '"':
        string = text
        break
      case ':':
        level.key = JSON.parse(string ?? '""')
        break
      case ',':
        if (typeof level.key === 'number') level.key++
        break
      default:
        if (isContainer(level.value)) setNumberText(level.value, String(level.key), text)
    }
  }
}

const getMemberOf = ({ value, key }: { readonly value: unknown; readonly key: string | number }): unknown =>
  isContainer(value) ? (value as Record<string | number, unknown>)[key] : undefined

function setNumberText(container: object, key: string, text: string): void {
  const texts = numberTexts.get(container)
  if (!isInexact(text))
    texts?.delete(key) // Drops the digits of an earlier duplicate.
  else if (texts !== undefined) texts.set(key, text)
  else numberTexts.set(container, new Map([[key, text]]))
}

/**
 * Returns the digits of a number as parsed; `undefined` = JavaScript writes the number unchanged, or it was not parsed by
 * `parseExact`.
 */
export const getNumberText = (container: object, key: string | number): string | undefined =>
  numberTexts.get(container)?.get(String(key))

/** Copies the digits of those numbers that the copy has under the same keys. Returns the copy. */
export function copyNumberTexts<Copy extends object>(copy: Copy, original: object): Copy {
  const texts = numberTexts.get(original)
  if (texts !== undefined) numberTexts.set(copy, texts)
  return copy
}

type Replacer = (this: never, key: string, value: unknown) => unknown

/**
 * `JSON.stringify` that writes numbers with the digits read by `parseExact`. `replacer` is not called for objects and lists
 * with such numbers.
 */
export function stringifyExact(value: object | string | number | boolean | null, replacer?: Replacer): string
export function stringifyExact(value: unknown, replacer?: Replacer): string | undefined
export function stringifyExact(value: unknown, replacer?: Replacer): string | undefined {
  const holders = new Set<object>()
  findHolders(value, holders, 0)
  return write(value, holders, replacer)
}

/** Maximum nesting that is searched for numbers. A space accepts far less. */
const maxNesting = 500

/** Collects objects and lists that contain inexact numbers, at any depth. */
function findHolders(value: unknown, holders: Set<object>, depth: number): boolean {
  if (!isContainer(value) || depth > maxNesting) return false
  let holds = numberTexts.has(value)
  if (Array.isArray(value)) {
    for (const each of value) if (findHolders(each, holders, depth + 1)) holds = true
  } else {
    for (const key in value)
      if (findHolders(value[key as keyof typeof value], holders, depth + 1)) holds = true
  }
  if (holds) holders.add(value)
  return holds
}

function write(value: unknown, holders: ReadonlySet<object>, replacer?: Replacer): string | undefined {
  if (!isContainer(value) || !holders.has(value))
    return JSON.stringify(value, replacer as (key: string, each: unknown) => unknown)
  const texts = numberTexts.get(value)
  const writeMember = (key: string, each: unknown): string | undefined => {
    const text = texts?.get(key)
    return text !== undefined && Object.is(Number(text), each) ? text : write(each, holders, replacer)
  }
  if (Array.isArray(value))
    return `[${value.map((each, at) => writeMember(String(at), each) ?? 'null').join(',')}]`
  const members = Object.entries(value).flatMap(([key, each]) => {
    const text = writeMember(key, each)
    return text === undefined ? [] : `${JSON.stringify(key)}:${text}`
  })
  return `{${members.join(',')}}`
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null
