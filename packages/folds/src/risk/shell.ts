/** One command of a command line, with its quotes removed. */
export interface ShellCommand {
  readonly words: readonly string[]
  /** Quoted texts among the words, which may be command lines for another shell (`sh -c "…"`). */
  readonly quoted: readonly string[]
  /** Whether the command reads the output of another one. */
  readonly isPiped: boolean
}

/** Maximum nesting of command substitutions and quoted command lines. */
const maxDepth = 8

const separators = /[;&|\n(){}]/

/**
 * Splits a line into commands like a POSIX shell, including those in `$(…)`, backquotes and groups. Tolerates errors: unclosed
 * constructs end with the line.
 */
export function splitCommands(line: string, depth = 0): ShellCommand[] {
  const commands: ShellCommand[] = []
  let words: string[] = []
  let quoted: string[] = []
  let word: string | undefined
  let isPiped = false
  const endWord = (): void => {
    if (word !== undefined) words.push(word)
    word = undefined
  }
  const endCommand = (pipes: boolean): void => {
    endWord()
    if (words.length > 0) commands.push({ words, quoted, isPiped })
    words = []
    quoted = []
    isPiped = pipes
  }
  const substitute = (inner: string): void => {
    if (depth < maxDepth) commands.push(...splitCommands(inner, depth + 1))
    word = `${word ?? ''}$`
  }
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at)
    if (character === '\\') {
      at++
      // A backslash before a line break continues the line.
      if (line.charAt(at) !== '\n') word = (word ?? '') + line.charAt(at)
    } else if (character === "'" || character === '"') {
      const end = endOfQuote(line, at)
      const text = line.slice(at + 1, end)
      quoted.push(text)
      if (character === '"') for (const inner of substitutionsIn(text)) substitute(inner)
      word = (word ?? '') + (character === '"' ? text.replaceAll(/\\(.)/gs, '$1') : text)
      at = end
    } else if (character === '`' || line.startsWith('$(', at)) {
      const [inner, end] = readSubstitution(line, at)
      substitute(inner)
      at = end
    } else if (line.startsWith('$' + '{IFS}', at) || line.startsWith('$IFS', at)) {
      endWord()
      at += line.charAt(at + 1) === '{' ? 5 : 3
    } else if (character === '#' && word === undefined) {
      const end = line.indexOf('\n', at)
      at = end === -1 ? line.length : end - 1
    } else if (separators.test(character)) {
      const isPipe = character === '|' && line.charAt(at + 1) !== '|' && line.charAt(at - 1) !== '|'
      endCommand(isPipe)
    } else if (/\s/.test(character)) {
      endWord()
    } else word = (word ?? '') + character
  }
  endCommand(false)
  return commands
}

function endOfQuote(line: string, start: number): number {
  const quote = line.charAt(start)
  for (let at = start + 1; at < line.length; at++) {
    if (line.charAt(at) === quote) return at
    if (quote === '"' && line.charAt(at) === '\\') at++
  }
  return line.length
}

/** Reads a `$(…)` or backquotes that begin at `start`. Returns their text and their end. */
function readSubstitution(line: string, start: number): [inner: string, end: number] {
  if (line.charAt(start) === '`') {
    const end = line.indexOf('`', start + 1)
    return end === -1 ? [line.slice(start + 1), line.length] : [line.slice(start + 1, end), end]
  }
  let open = 0
  for (let at = start + 1; at < line.length; at++) {
    const character = line.charAt(at)
    if (character === "'" || character === '"') at = endOfQuote(line, at)
    else if (character === '(') open++
    else if (character === ')' && --open === 0) return [line.slice(start + 2, at), at]
  }
  return [line.slice(start + 2), line.length]
}

function substitutionsIn(text: string): string[] {
  const found: string[] = []
  for (let at = 0; at < text.length; at++) {
    if (text.charAt(at) === '\\') at++
    else if (text.charAt(at) === '`' || text.startsWith('$(', at)) {
      const [inner, end] = readSubstitution(text, at)
      found.push(inner)
      at = end
    }
  }
  return found
}
