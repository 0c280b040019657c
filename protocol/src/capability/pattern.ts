/** Bounds on what may enter; a pattern beyond them is refused with a `PatternError`. */
export const patternLimits = {
  /** Capabilities in a list. */
  capabilities: 256,
  /** Single patterns (strings, numbers, booleans, nulls, empty objects) in one capability. */
  patterns: 64,
  /** UTF-16 units in a string. */
  length: 512,
  /** Objects within objects in one payload pattern. */
  depth: 32,
  /** Regular expressions of one capability: their lengths, with counted repetitions written out. */
  regexWeight: 1024,
  /** The same for a list of capabilities. */
  listRegexWeight: 8192,
} as const

/** A pattern that is refused where it enters. */
export class PatternError extends Error {
  override readonly name = 'PatternError'
  constructor(
    /** JSON pointer to the pattern, from the list or pattern that was given: `/3/payload/params/name/1`. */
    readonly path: string,
    /** What is wrong and what to do about it. */
    readonly problem: string,
    options?: ErrorOptions,
  ) {
    super(path === '' ? problem : `${path}: ${problem}`, options)
  }
}
