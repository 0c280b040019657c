/** Matches a text that begins with `@` names: the names, and the rest. */
export const matchMentions = (text: string): RegExpExecArray | null =>
  /^((?:@[\p{L}\p{N}]\S*\s+)+)(\S.*)$/su.exec(text)

/** Parses names that are separated by spaces or commas, each with or without a leading `@`. */
export const readNames = (text: string): string[] => [
  ...new Set(text.split(/[\s,]+/).flatMap((name) => name.replace(/^@|:$/g, '') || [])),
]

/**
 * Separates the addressees from the question. If none are given by name or `--to`, the mentions at the beginning of the
 * question are the addressees, as in `meup join`: `@bot Why?`.
 */
export function readAddressees(words: readonly string[], to: readonly string[] = []) {
  const [question = '', ...first] = words.toReversed()
  const named = readNames([...first, ...to].join(' '))
  const [, mentions = '', rest = ''] = (named.length === 0 && matchMentions(question)) || []
  return rest === '' ? { names: named, question } : { names: readNames(mentions), question: rest }
}
