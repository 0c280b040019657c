import { RE2JS, RE2Set } from 're2js'
import { SafetyError } from './error.js'
import type { Locator } from './leak/native.js'

/** Steps of a compiled pattern; a larger one would be slow on any text. */
const largest = 2000
/** Bytes that the automaton of one pattern may keep. */
const memory = 2 ** 20

export interface Pattern {
  /** Says where a match is. */
  readonly compiled: Locator
  /** Says whether there is one, which is a lot faster. */
  test(text: string): boolean
}

/** Compiles a pattern (RE2 syntax) that stands at `path` in the settings. Throws SafetyError if it can't be used. */
export function compilePattern(source: string, path: string): Pattern {
  const compiled = parse(source, path)
  const size = compiled.programSize()
  if (size > largest)
    throw new SafetyError(path, `takes ${size} steps of at most ${largest}; let it repeat less`)
  if (compiled.test('')) throw new SafetyError(path, 'matches the empty text, so it would match everywhere')
  return { compiled, test: compileTest(source, RE2Set.UNANCHORED) }
}

/** A pattern that is only looked for at the beginning of texts. */
export interface PrefixPattern extends Pattern {
  /** Says whether a match begins a text, which is faster still. */
  begins(text: string): boolean
}

/** Compiles a pattern of which it is known that it can be used; where matches are may be told by another. */
export function compilePrefixPattern(source: string, native?: Locator): PrefixPattern {
  return {
    compiled: native ?? RE2JS.compile(source),
    begins: compileTest(source, RE2Set.ANCHOR_START),
    test: compileTest(source, RE2Set.UNANCHORED),
  }
}

/** Compiled by the first text: many patterns never meet one. */
function compileTest(source: string, anchor: number): (text: string) => boolean {
  let compiled: RE2Set | undefined
  return (text) => {
    compiled ??= compileSet(source, anchor)
    return compiled.match(text).length > 0
  }
}

function compileSet(source: string, anchor: number): RE2Set {
  // Only of a set can the memory be bounded.
  const set = new RE2Set(anchor, 0, memory)
  set.add(source)
  set.compile()
  return set
}

function parse(source: string, path: string): RE2JS {
  try {
    return RE2JS.compile(source)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new SafetyError(path, `is not a regular expression in RE2 syntax: ${reason}`)
  }
}
