/**
 * Splits a command line like a shell, with quotes and backslashes. `undefined` if a quote is not closed or the command needs a
 * shell, for example for a pipe.
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
