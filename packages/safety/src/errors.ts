/** The texts of `SafetyError`, after the path, by code: what is wrong, with the value. Then what to do. */
export const safetyTexts = {
  // Settings
  invalid_length: ({ maxLength }: { maxLength: number }) => `is ${maxLength}. Set a whole number above 0.`,
  invalid_name: () => 'is not made of 1 to 64 lower-case letters, digits and hyphens. Choose another name.',
  taken_name: ({ name }: { name: string }) => `is taken by another rule: ${name}. Choose another name.`,
  no_keywords: () => 'is empty, so the rule would never run. Leave it out, or name some.',
  empty_keyword: () => 'is empty, so it would be everywhere. Leave it out.',
  capital_keyword: ({ lower }: { lower: string }) => `is not in lower case. Write ${lower}.`,

  // Patterns
  invalid_pattern: ({ reason }: { reason: string }) =>
    `is not a regular expression in RE2 syntax: ${reason}. Correct it.`,
  large_pattern: ({ size, limit }: { size: number; limit: number }) =>
    `takes ${size} steps of at most ${limit}. Let it repeat less.`,
  empty_match: () => 'matches the empty text, so it would match everywhere. Let it require a character.',
}

type Texts = typeof safetyTexts
type DetailsOf<Text> = Text extends () => string
  ? object
  : Text extends (details: infer D) => string
    ? D
    : never

/** An invalid setting. */
export class SafetyError<Code extends keyof Texts = keyof Texts> extends Error {
  override readonly name = 'SafetyError'

  constructor(
    readonly code: Code,
    readonly details: DetailsOf<Texts[Code]>,
    /** JSON pointer into the settings. */
    readonly path: string,
  ) {
    const write: (details: never) => string = safetyTexts[code]
    super(write(details as never))
  }
}
