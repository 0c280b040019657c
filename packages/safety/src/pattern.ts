import { RE2JS, RE2Set } from 're2js'
import { SafetyError } from './errors.js'

/** Maximum instructions of a compiled pattern; a larger one would be slow on any text. */
const maxProgramSize = 2000
/** Maximum bytes of the automaton of one pattern. */
const maxMemoryBytes = 2 ** 20

interface Pattern {
  /** Finds the positions of matches. */
  readonly compiled: RE2JS
  /** Whether the text contains a match. Much faster than finding its position. */
  test(text: string): boolean
}

/** Compiles a pattern (RE2 syntax) at `path` in the settings. Throws SafetyError for an invalid one. */
export function compileRulePattern(source: string, path: string): Pattern {
  const compiled = parse(source, path)
  const size = compiled.programSize()
  if (size > maxProgramSize) throw new SafetyError('large_pattern', { size, limit: maxProgramSize }, path)
  if (compiled.test('')) throw new SafetyError('empty_match', {}, path)
  let set: RE2Set | undefined
  return {
    compiled,
    test(text) {
      // Compiled on first use, because many patterns are never needed.
      set ??= compileSet(source)
      return set.match(text).length > 0
    },
  }
}

function compileSet(source: string): RE2Set {
  // Uses a set for a single pattern, because only RE2 sets have bounded memory.
  const set = new RE2Set(RE2Set.UNANCHORED, 0, maxMemoryBytes)
  set.add(source)
  set.compile()
  return set
}

function parse(source: string, path: string): RE2JS {
  try {
    return RE2JS.compile(source)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new SafetyError('invalid_pattern', { reason }, path)
  }
}
