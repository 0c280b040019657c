/**
 * The words of a command as a shell splits them, with quotes and backslashes. `undefined`: it has a quote that is not closed, or
 * something that only a shell does, such as a pipe.
 */
export function splitWords(command: string): string[] | undefined {
  const word = /((?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\|&;<>`])+)\s*/sy
  const words: string[] = []
  const text = command.trim()
  for (word.lastIndex = 0; word.lastIndex < text.length; ) {
    const [, found] = word.exec(text) ?? []
    if (found === undefined || found.includes('$(')) return undefined
    words.push(unquote(found))
  }
  return words
}

const unquote = (word: string): string =>
  word.replace(
    /"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/gs,
    (_, double?: string, single?: string, plain?: string) =>
      double === undefined ? (single ?? plain ?? '') : double.replace(/\\(["\\$`])/g, '$1'),
  )
