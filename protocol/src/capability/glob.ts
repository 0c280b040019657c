import { ANY, automaton, DEEP, isWild, RUN } from './automaton.js'

/** `text` is what a glob without wildcards stands for. */
export interface Glob {
  readonly type: 'glob'
  readonly tokens: readonly number[]
  readonly separator: Separator
  readonly text: string | undefined
}

export type Separator = '/' | '.'

/**
 * Reads a glob; `undefined` when it ends in a lone backslash. With the separator `.`, as kinds have it, `/` is
 * another way of writing it, and a lone `*` matches everything.
 */
export function parseGlob(source: string, separator: Separator): Glob | undefined {
  if (separator === '.' && source === '*') return anyText(separator)
  const tokens: number[] = []
  let escaped = false
  for (const char of separator === '.' ? source.replaceAll('/', '.') : source) {
    if (escaped) tokens.push(code(char))
    else if (char === '*') pushStar(tokens)
    else if (char === '?') tokens.push(ANY)
    else if (char !== '\\') tokens.push(code(char))
    escaped = !escaped && char === '\\'
  }
  return escaped ? undefined : makeGlob(tokens, separator)
}

/** The glob that matches every text. */
export const anyText = (separator: Separator): Glob => makeGlob([DEEP], separator)

/** The glob that matches this text only. */
export function literalGlob(text: string, separator: Separator): Glob {
  return makeGlob(codes(text, 0, text.length), separator)
}

/** What a glob with one star stands for: texts with this beginning and end, and in between anything `without` that. */
export interface Frame {
  readonly head: string
  readonly tail: string
  readonly without: Separator | undefined
}

/** The frame that a glob is; undefined for any other. */
export function frameOf({ tokens, separator }: Glob): Frame | undefined {
  const first = tokens.findIndex(isWild)
  const wild = tokens[first]
  if (first !== tokens.findLastIndex(isWild) || (wild !== DEEP && wild !== RUN)) return undefined
  return {
    head: textOf(tokens.slice(0, first)),
    tail: textOf(tokens.slice(first + 1)),
    without: wild === RUN ? separator : undefined,
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

/** Compiles to a test that is linear in the value for the usual shapes, and value × glob / 32 at worst. */
export function compileGlob(glob: Glob): (value: unknown) => boolean {
  const { tokens, separator, text } = glob
  if (text !== undefined) return (value) => value === text
  const frame = frameOf(glob)
  if (frame !== undefined) {
    const { head, tail, without } = frame
    return (value) => isFramed(value, head, tail, without)
  }
  const first = tokens.findIndex(isWild)
  const last = tokens.findLastIndex(isWild)
  const head = textOf(tokens.slice(0, first))
  const tail = textOf(tokens.slice(last + 1))
  const matches = automaton(tokens.slice(first, last + 1), code(separator))
  return (value) =>
    isFramed(value, head, tail, undefined) && matches(codes(value, head.length, value.length - tail.length))
}

/** What every match of the glob begins with. */
export function headOf(glob: Glob | undefined): string {
  if (glob === undefined) return ''
  const wild = glob.tokens.findIndex(isWild)
  return textOf(wild === -1 ? glob.tokens : glob.tokens.slice(0, wild))
}

const textOf = (tokens: readonly number[]): string => String.fromCodePoint(...tokens)

/** Steps that the compiled test takes for a character; 0 where it does not look at each. */
export function globSteps({ tokens, text }: Glob): number {
  if (text !== undefined) return 0
  const wild = tokens.findLastIndex(isWild) - tokens.findIndex(isWild)
  return wild === 0 && tokens.find(isWild) !== ANY ? 0 : 8 + (wild >>> 5)
}

/** Whether the glob is `**`, or `*` for a kind. */
export function matchesAll({ tokens }: Glob): boolean {
  return tokens.length === 1 && tokens[0] === DEEP
}

/** Whether provably every string that `asked` matches is matched by `held`: "no" is not a proof of the contrary. */
export function globIncludes(held: Glob, asked: Glob): boolean {
  if (held.text !== undefined || sameTokens(held, asked)) return sameTokens(held, asked)
  return automaton(held.tokens, code(held.separator))(asked.tokens)
}

/** Whether provably no string is matched by both. */
export function globsDisjoint(a: Glob, b: Glob): boolean {
  if (a.text !== undefined) return !compileGlob(b)(a.text)
  if (b.text !== undefined) return !compileGlob(a)(b.text)
  const at = a.tokens.findIndex((token, i) => isWild(token) || token !== b.tokens[i])
  const [x, y] = [a.tokens[at], b.tokens[at]]
  return x !== undefined && y !== undefined && !isWild(x) && !isWild(y)
}

function makeGlob(tokens: readonly number[], separator: Separator): Glob {
  return {
    type: 'glob',
    tokens,
    separator,
    text: tokens.some(isWild) ? undefined : textOf(tokens),
  }
}

/** Neighbouring stars are one, as the automaton wants it: `***` is `**`. */
function pushStar(tokens: number[]): void {
  const before = tokens.at(-1)
  if (before === RUN || before === DEEP) tokens[tokens.length - 1] = DEEP
  else tokens.push(RUN)
}

function sameTokens(a: Glob, b: Glob): boolean {
  return a.tokens.length === b.tokens.length && a.tokens.every((token, i) => token === b.tokens[i])
}

/** By its last character first, because patterns of one list often begin alike. `startsWith` takes twice as long. */
function hasAt(value: string, at: number, text: string): boolean {
  const last = text.length - 1
  if (last < 0) return true
  if (value.charCodeAt(at + last) !== text.charCodeAt(last)) return false
  return last === 0 || value.slice(at, at + text.length) === text
}

const code = (char: string): number => char.codePointAt(0) ?? 0

function codes(value: string, from: number, to: number): number[] {
  const found: number[] = []
  for (let at = from; at < to; ) {
    const point = value.codePointAt(at) ?? 0
    found.push(point)
    at += point > 0xffff ? 2 : 1
  }
  return found
}
