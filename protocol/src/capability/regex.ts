import { RE2Set } from 're2js'

/** Weight × characters that one regular expression may cost; from 3 to 70 ns each. */
const MAX_WORK = 2 ** 20
/** Bytes that the automaton of one regular expression may keep. */
const MEMORY = 2 ** 18

/** A counted repetition, with the character before it: `){2,5}`. */
const repetition = /.?\{(\d+)(?:,(\d*))?\}/gsu

/**
 * The length of a regular expression with its counted repetitions written out, or more: what compiling and running
 * it costs, known before either. Counts of groups may be nested, so they multiply.
 */
export function regexWeight(source: string): number {
  // Case folding takes that much longer to compile.
  let length = source.length * (/\(\?[a-z]*i/i.test(source) ? 8 : 1)
  let factor = 1
  for (const [whole, least, most] of source.matchAll(repetition)) {
    const count = Math.max(Number(least), Number(most || 0), 1)
    // Behind `\Q\E`, which is nothing, it may be a group as well.
    if (whole.startsWith(')') || whole.startsWith('E')) factor *= count
    else length += count
  }
  return length * factor
}

/**
 * Compiles a regular expression to a test of whole strings, in linear time. The answer for a string that is too long
 * for the expression's weight is `undecided`. Throws what re2js throws for an expression that does not compile.
 */
export function compileRegex(source: string, undecided: boolean): (value: string) => boolean {
  // A set of one, because only a set is anchored by construction (whatever parentheses the source has) and lets its
  // memory be bounded. It is also the fastest of re2js' entrances.
  const set = new RE2Set(RE2Set.ANCHOR_BOTH, 0, MEMORY)
  set.add(source)
  set.compile()
  const longest = Math.floor(MAX_WORK / Math.max(regexWeight(source), 1))
  return (value) => (value.length > longest ? undecided : set.match(value).length > 0)
}
