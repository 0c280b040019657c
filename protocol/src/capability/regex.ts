import { getEngine } from '#engine'

/** Maximum product of a text's length and a regular expression's length that is matched; one unit takes 3 to 70 ns. */
const MAX_WORK = 2 ** 20
/** Maximum bytes of a regular expression's automaton. */
const MEMORY = 2 ** 18

/** Matches a counted repetition with the preceding character: `){2,5}`. */
const repetition = /.?\{(\d+)(?:,(\d*))?\}/gsu

/** Factor by which ignoring case increases the cost of compiling. */
const foldingFactor = 8
/** Costs of a class such as `\pL`: reading it, reading it if case is ignored, and each copy of it. */
const classWeights = { read: 128, folded: 256, copy: 24 }

/**
 * Returns an upper bound of the length of a regular expression with counted repetitions expanded. The length determines the
 * cost of matching.
 */
export function regexLength(source: string): number {
  return writtenOut(source, { folds: foldsCase(source), perCopy: () => 1 }).length
}

/**
 * Estimates the cost of compiling a regular expression, in units of about a microsecond. Each copy of a class costs its size,
 * and ignoring case visits each character of a range.
 */
export function regexWeight(source: string): number {
  const folds = foldsCase(source)
  const classes = source.match(/\\p/gi)?.length ?? 0
  const listed = 1 + Math.ceil((source.length * (folds ? 3 : 1)) / 32)
  const named = classWeights.copy * Math.min(classes, 3)
  const perCopy = (before: string): number => (before === ']' ? listed : 1) + named
  const { length, factor } = writtenOut(source, { folds, perCopy })
  const reading = classes * (folds ? classWeights.folded : classWeights.read)
  return length + factor * classes * classWeights.copy + reading + (folds ? foldedRanges(source) : 0)
}

const foldsCase = (source: string): boolean => /\(\?[a-z]*i/i.test(source)

/**
 * Estimates the expanded length of a regular expression. `factor`: the product of the counts of all groups, because counts of
 * nested groups multiply.
 */
function writtenOut(
  source: string,
  { folds, perCopy }: { readonly folds: boolean; readonly perCopy: (before: string) => number },
): { readonly length: number; readonly factor: number } {
  let length = source.length * (folds ? foldingFactor : 1)
  let factor = 1
  for (const [whole, min, max] of source.matchAll(repetition)) {
    const count = Math.max(Number(min), Number(max || 0), 1)
    // `\Q\E` is empty, so a count after it may also apply to the group before it.
    if (whole.startsWith(')') || whole.startsWith('E')) factor *= count
    else length += count * perCopy(whole.charAt(0))
  }
  return { length: length * factor, factor }
}

/** Matches the end of a possible range in a class, if it is beyond ASCII or escaped. */
const rangeEnd = /-(?:\\x\{?([0-9a-f]+)|\\([0-7]+)|([^\0-\x7f]))/giu

function foldedRanges(source: string): number {
  let weight = 0
  for (const [, hex, octal, character] of source.matchAll(rangeEnd)) {
    const end = hex ? Number.parseInt(hex, 16) : octal ? Number.parseInt(octal, 8) : character?.codePointAt(0)
    weight += Math.ceil((end ?? 0) / 16)
  }
  return weight
}

/**
 * Compiles a regular expression to a test of whole strings in linear time. For a string that is too long for the expression it
 * returns `undecided`. Throws the error of re2js for an invalid expression.
 */
export function compileRegex(source: string, undecided: boolean): (value: string) => boolean {
  // A set with one expression, because only sets are anchored by construction (whatever the parentheses) and bound their
  // memory. It is also the fastest entry point of re2js.
  const RE2Set = getEngine()
  const set = new RE2Set(RE2Set.ANCHOR_BOTH, 0, MEMORY)
  set.add(source)
  set.compile()
  const longest = Math.floor(MAX_WORK / Math.max(regexLength(source), 1))
  return (value) => (value.length > longest ? undecided : set.match(value).length > 0)
}
