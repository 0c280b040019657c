import { getEngine } from '#engine'

/** Length × characters that one regular expression may cost; from 3 to 70 ns each. */
const MAX_WORK = 2 ** 20
/** Bytes that the automaton of one regular expression may keep. */
const MEMORY = 2 ** 18

/** A counted repetition, with the character before it: `){2,5}`. */
const repetition = /.?\{(\d+)(?:,(\d*))?\}/gsu

/** Case folding takes that much longer to compile. */
const foldingFactor = 8
/** What a class such as `\pL` costs to read, the same with case folding, and each copy of it. */
const classWeights = { read: 128, folded: 256, copy: 24 }

/** The length of a regular expression with its counted repetitions written out, or more: what running it costs. */
export function regexLength(source: string): number {
  return writtenOut(source, { folds: foldsCase(source), perCopy: () => 1 }).length
}

/**
 * What compiling a regular expression costs, in units of about a microsecond, known before. Every copy of a class
 * is as dear as the class is large, and case folding looks at each character of a range.
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

/** Counts of groups may be nested, so they multiply: `factor`. */
function writtenOut(
  source: string,
  { folds, perCopy }: { readonly folds: boolean; readonly perCopy: (before: string) => number },
): { readonly length: number; readonly factor: number } {
  let length = source.length * (folds ? foldingFactor : 1)
  let factor = 1
  for (const [whole, min, max] of source.matchAll(repetition)) {
    const count = Math.max(Number(min), Number(max || 0), 1)
    // Behind `\Q\E`, which is nothing, it may be a group as well.
    if (whole.startsWith(')') || whole.startsWith('E')) factor *= count
    else length += count * perCopy(whole.charAt(0))
  }
  return { length: length * factor, factor }
}

/** The end of what may be a range of a class, beyond ASCII or escaped. */
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
 * Compiles a regular expression to a test of whole strings, in linear time. The answer for a string that is too long
 * for the expression's length is `undecided`. Throws what re2js throws for an expression that does not compile.
 */
export function compileRegex(source: string, undecided: boolean): (value: string) => boolean {
  // A set of one, because only a set is anchored by construction (whatever parentheses the source has) and lets its
  // memory be bounded. It is also the fastest of re2js' entrances.
  const RE2Set = getEngine()
  const set = new RE2Set(RE2Set.ANCHOR_BOTH, 0, MEMORY)
  set.add(source)
  set.compile()
  const longest = Math.floor(MAX_WORK / Math.max(regexLength(source), 1))
  return (value) => (value.length > longest ? undecided : set.match(value).length > 0)
}
