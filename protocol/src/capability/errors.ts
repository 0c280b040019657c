import { type DetailsOf, fillIn } from '../error-texts.js'

/** The texts of `PatternError`, after the path, by code: what is wrong, with the value. Then what to do. */
export const patternTexts = {
  // Lists and capabilities
  not_a_list: 'is not a list. Give an array of capabilities.',
  many_capabilities: 'has {count} capabilities. Give at most {limit}: join some with globs.',
  no_kind: 'has no kind. Give one, "*" for every kind, or a tool.',
  unknown_field: 'does not go with {field}. Use {others}.',
  no_tool: 'is not a participant and its tool. Name both, such as files/read_*.',
  negated_participant: 'negates the participant. Negate the tool, such as files/!write_*.',

  // Patterns
  not_text: 'is not a string. Give a string or an array of strings.',
  not_a_pattern: 'is not a pattern. Give a string, number, boolean, null, object or an array of these.',
  large_number: 'is {number}. Use at most 2^53 - 1, on either side of 0.',
  empty_array: 'is an empty array. Put at least one pattern into it.',
  many_patterns: 'exceeds the {limit} patterns of one capability. Make two capabilities of it.',
  deep_object: 'is nested in {limit} objects. Reach deeper with a ** key.',
  nested_any_depth: 'is below another ** key, which reaches every depth. Leave it out.',
  double_negation: 'is negated twice. Negate it once, or write \\! to match a !.',
  open_escape: 'ends with a backslash. Write \\\\ to match it.',
  long_text: 'has {length} characters. Use at most {limit}.',
  lone_surrogate: 'has half of a surrogate pair. Remove it.',

  // Regular expressions
  invalid_regex: 'is not a regular expression in RE2 syntax: {reason}. Correct it.',
  large_regex:
    'brings the regular expressions of one {whole} to a size of {size}, with repetitions. Use at most {limit}.',
} as const

/** An invalid pattern, or one beyond the limits. */
export class PatternError<Code extends keyof typeof patternTexts = keyof typeof patternTexts> extends Error {
  override readonly name = 'PatternError'
  /** The message without its path. */
  readonly problem: string
  constructor(
    readonly code: Code,
    readonly details: DetailsOf<(typeof patternTexts)[Code]>,
    /** JSON pointer to the pattern within the list or pattern that was passed: `/3/payload/params/name/1`. */
    readonly path: string,
    options?: ErrorOptions,
  ) {
    const problem = fillIn(patternTexts[code], details)
    super(`${path || 'it'} ${problem}`, options)
    this.problem = problem
  }
}
