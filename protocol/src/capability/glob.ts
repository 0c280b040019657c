/** A parsed glob. `text`: set if it has no wildcards; `star`: position of its only wildcard, if that is a star. */
export interface Glob {
  readonly type: 'glob'
  readonly tokens: readonly number[]
  readonly separator: Separator
  readonly text: string | undefined
  readonly star: number | undefined
}

export type Separator = '/' | '.'

/**
 * Parses a glob; `undefined` if it ends in a lone backslash. With the separator `.`, for kinds, `/` is equivalent, and a lone
 * `*` matches everything.
 */
export function parseGlob(source: string, separator: Separator): Glob | undefined {
  if (separator === '.' && source === '*') return anyText(separator)
  const tokens: number[] = []
  let escaped = false
  for (const char of separator === '.' ? source.replaceAll('/', '.') : source) {
    if (escaped) tokens.push(toCodePoint(char))
    else if (char === '*') pushStar(tokens)
    else if (char === '?') tokens.push(ANY)
    else if (char !== '\\') tokens.push(toCodePoint(char))
    escaped = !escaped && char === '\\'
  }
  return escaped ? undefined : makeGlob(tokens, separator)
}

/** Creates the glob that matches every text. */
export const anyText = (separator: Separator): Glob => makeGlob([DEEP], separator)

/** Creates the glob that matches only this text. */
export function literalGlob(text: string, separator: Separator): Glob {
  return makeGlob(toCodePoints(text, 0, text.length), separator)
}

/**
 * A glob with one star, which matches texts with this beginning and end. `without`: the text between them must not contain this
 * separator.
 */
export interface GlobFrame {
  readonly head: string
  readonly tail: string
  readonly without: Separator | undefined
}

/** Returns the frame of a glob with one star; `undefined` for other globs. */
export function getFrame({ tokens, separator, star }: Glob): GlobFrame | undefined {
  if (star === undefined) return undefined
  return {
    head: toText(tokens.slice(0, star)),
    tail: toText(tokens.slice(star + 1)),
    without: tokens[star] === RUN ? separator : undefined,
  }
}

export function isFramed(
  value: unknown,
  head: string,
  tail: string,
  without: Separator | undefined,
): value is string {
  if (typeof value !== 'string' || value.length < head.length + tail.length) return false
  const end = value.length - tail.length
  if (!hasAt(value, 0, head) || !hasAt(value, end, tail)) return false
  if (without === undefined) return true
  const at = value.indexOf(without, head.length)
  return at === -1 || at >= end
}

/**
 * Compiles a glob to a test. Its time is linear in the value for common globs, and at most proportional to value × glob / 32.
 */
export function compileGlob(glob: Glob): (value: unknown) => boolean {
  const { tokens, separator, text } = glob
  if (text !== undefined) return (value) => value === text
  const frame = getFrame(glob)
  if (frame !== undefined) {
    const { head, tail, without } = frame
    return (value) => isFramed(value, head, tail, without)
  }
  const first = tokens.findIndex(isWild)
  const last = tokens.findLastIndex(isWild)
  const head = toText(tokens.slice(0, first))
  const tail = toText(tokens.slice(last + 1))
  const matches = automaton(tokens.slice(first, last + 1), toCodePoint(separator))
  return (value) =>
    isFramed(value, head, tail, undefined) &&
    matches(toCodePoints(value, head.length, value.length - tail.length))
}

/** Returns the text with which all matches of the glob begin. */
export function getGlobHead(glob: Glob | undefined): string {
  if (glob === undefined) return ''
  const wild = glob.tokens.findIndex(isWild)
  return toText(wild === -1 ? glob.tokens : glob.tokens.slice(0, wild))
}

const toText = (tokens: readonly number[]): string => String.fromCodePoint(...tokens)

/** Steps that the compiled test takes per character; 0 if it does not scan characters. */
export function globSteps({ tokens, text }: Glob): number {
  if (text !== undefined) return 0
  const wild = tokens.findLastIndex(isWild) - tokens.findIndex(isWild)
  return wild === 0 && tokens.find(isWild) !== ANY ? 0 : 8 + (wild >>> 5)
}

/** Additional units of work for compiling a glob to an automaton, which has a row of positions per token. */
export function compileCost(glob: Glob): number {
  return isMany(glob) ? 8 + glob.tokens.length / 8 : 0
}

/** Whether a glob matches everything: `**`, or `*` for a kind. */
export function matchesAll({ tokens }: Glob): boolean {
  return tokens.length === 1 && tokens[0] === DEEP
}

/**
 * Returns `true` if the glob `held` provably matches every string that `asked` matches [MEUP-4.12]. Recognizes equal globs, a
 * text that `held` matches, and a `held` with a single star if `asked` has the same beginning and end. `false` does not prove
 * the opposite.
 */
export function globIncludes(held: Glob, asked: Glob): boolean {
  if (held.text !== undefined) return held.text === asked.text
  if (held.star !== undefined) return frameIncludes(held, asked, held.star)
  return asked.text === undefined ? sameTokens(held, asked) : matchesTokens(held, asked.tokens)
}

/** Maximum steps for comparing two globs in either direction. */
export function globCost(a: Glob, b: Glob): number {
  const [left, right] = [a.tokens.length, b.tokens.length]
  const isSearch = isMany(a) ? b.text !== undefined : isMany(b) && a.text !== undefined
  return isSearch ? left * right : Math.min(left, right)
}

/** Whether the glob has several wildcards, or a single `?`. */
const isMany = ({ text, star }: Glob): boolean => text === undefined && star === undefined

/** Whether provably no string matches both globs: one is a text that the other does not match, or their beginnings differ. */
export function globsDisjoint(a: Glob, b: Glob): boolean {
  if (a.text !== undefined) return !globIncludes(b, a)
  if (b.text !== undefined) return !globIncludes(a, b)
  const at = a.tokens.findIndex((token, i) => isWild(token) || token !== b.tokens[i])
  const [x, y] = [a.tokens[at], b.tokens[at]]
  return x !== undefined && y !== undefined && !isWild(x) && !isWild(y)
}

/** Whether a glob with one star covers `asked`. `star`: the position of the star in `held`. */
function frameIncludes(held: Glob, asked: Glob, star: number): boolean {
  const tail = held.tokens.length - star - 1
  const end = asked.tokens.length - tail
  if (end < star) return false
  for (let at = 0; at < star; at++) if (asked.tokens[at] !== held.tokens[at]) return false
  for (let at = 0; at < tail; at++) if (asked.tokens[end + at] !== held.tokens[star + 1 + at]) return false
  if (held.tokens[star] === DEEP) return true
  const separator = toCodePoint(held.separator)
  for (let at = star; at < end; at++) {
    const token = asked.tokens[at]
    if (token === DEEP || token === separator) return false
  }
  return true
}

/** Whether a glob matches a text, given as code points. For single use; compile globs that are used repeatedly. */
function matchesTokens({ tokens, separator }: Glob, text: readonly number[]): boolean {
  const boundary = toCodePoint(separator)
  /** For each number of tokens: whether these first tokens of the glob match the text so far. */
  let reached = new Uint8Array(tokens.length + 1)
  let next = new Uint8Array(tokens.length + 1)
  reached[0] = 1
  for (let at = 0; at < tokens.length && isStar(tokens[at]); at++) reached[at + 1] = 1
  for (const symbol of text) {
    const isInside = symbol !== boundary
    next[0] = 0
    for (let at = 0; at < tokens.length; at++) {
      const token = tokens[at] ?? 0
      const isTaken = token < 0 ? isInside || token === DEEP : token === symbol
      const before = (isTaken ? reached[token < ANY ? at + 1 : at] : 0) ?? 0
      // A star either takes the symbol and stays, or matches nothing.
      next[at + 1] = token < ANY ? before | (next[at] ?? 0) : before
    }
    ;[reached, next] = [next, reached]
  }
  return reached[tokens.length] === 1
}

const isStar = (token = 0): boolean => token < ANY

function makeGlob(tokens: readonly number[], separator: Separator): Glob {
  const first = tokens.findIndex(isWild)
  return {
    type: 'glob',
    tokens,
    separator,
    text: first === -1 ? toText(tokens) : undefined,
    star: first !== -1 && first === tokens.findLastIndex(isWild) && isStar(tokens[first]) ? first : undefined,
  }
}

/** Adds a star, merged with a preceding one, as the automaton requires: `***` is `**`. */
function pushStar(tokens: number[]): void {
  const before = tokens.at(-1)
  if (before === RUN || before === DEEP) tokens[tokens.length - 1] = DEEP
  else tokens.push(RUN)
}

function sameTokens(a: Glob, b: Glob): boolean {
  return a.tokens.length === b.tokens.length && a.tokens.every((token, i) => token === b.tokens[i])
}

/**
 * Whether `value` has this text at a position. Compares the last character first, because patterns of one list often begin
 * alike. `startsWith` takes twice as long.
 */
function hasAt(value: string, at: number, text: string): boolean {
  const last = text.length - 1
  if (last < 0) return true
  if (value.charCodeAt(at + last) !== text.charCodeAt(last)) return false
  return last === 0 || value.slice(at, at + text.length) === text
}

const toCodePoint = (char: string): number => char.codePointAt(0) ?? 0

function toCodePoints(value: string, from: number, to: number): number[] {
  const found: number[] = []
  for (let at = from; at < to; ) {
    const point = value.codePointAt(at) ?? 0
    found.push(point)
    at += point > 0xffff ? 2 : 1
  }
  return found
}

/** Tokens of a glob are code points of literal characters, and these constants; stars are below `ANY`. */
const ANY = -1
const RUN = -2
const DEEP = -3

const isWild = (token: number): boolean => token < 0

/** A set of positions in the glob, with 32 positions in an element. */
type Positions = Int32Array

/** The effect of a symbol on positions: stars in `stay` take it and stay, positions in `move` advance. */
interface Step {
  readonly stay: Positions
  readonly move: Positions
}

/**
 * Compiles a glob without adjacent stars to a test that tracks the set of all reachable positions. It never backtracks: the
 * time is symbols × glob / 32.
 */
function automaton(glob: readonly number[], separator: number): (symbols: readonly number[]) => boolean {
  const words = (glob.length >>> 5) + 1
  const stars = positions(glob, (token) => token === RUN || token === DEEP)
  const deep = positions(glob, (token) => token === DEEP)
  const any = positions(glob, (token) => token === ANY)
  const steps = new Map<number, Step>([
    [separator, { stay: deep, move: positions(glob, (token) => token === separator) }],
  ])
  const other: Step = { stay: stars, move: any }
  glob.forEach((token, at) => {
    if (token === separator || isWild(token)) return
    const step = steps.get(token) ?? { stay: stars, move: any.slice() }
    add(step.move, at)
    steps.set(token, step)
  })
  const reached = new Int32Array(words)

  /** Applies a symbol to the reached positions. Returns whether any position is left. */
  function advance({ stay, move }: Step): boolean {
    let carried = 0
    let skipped = 0
    let left = 0
    for (let word = 0; word < words; word++) {
      const before = reached[word] ?? 0
      const moved = before & (move[word] ?? 0)
      const entered = (before & (stay[word] ?? 0)) | (moved << 1) | carried
      const empty = entered & (stars[word] ?? 0)
      reached[word] = entered | (empty << 1) | skipped
      carried = moved >>> 31
      skipped = empty >>> 31
      left |= reached[word] ?? 0
    }
    return left !== 0
  }

  return (symbols) => {
    reached.fill(0)
    add(reached, 0)
    if (has(stars, 0)) add(reached, 1)
    for (const symbol of symbols) if (!advance(steps.get(symbol) ?? other)) return false
    return has(reached, glob.length)
  }
}

function positions(glob: readonly number[], included: (token: number) => boolean): Positions {
  const found = new Int32Array((glob.length >>> 5) + 1)
  glob.forEach((token, at) => {
    if (included(token)) add(found, at)
  })
  return found
}

function add(set: Positions, at: number): void {
  set[at >>> 5] = (set[at >>> 5] ?? 0) | (1 << (at & 31))
}

function has(set: Positions, at: number): boolean {
  return ((set[at >>> 5] ?? 0) & (1 << (at & 31))) !== 0
}

/** Returns a pattern that matches only this text [MEUP-4.3]. */
export function escapePattern(text: string): string {
  const plain = text.replace(/[*?\\]/g, '\\$&')
  return /^(!|re:|\/.*\/$)/s.test(plain) ? `\\${plain}` : plain
}
