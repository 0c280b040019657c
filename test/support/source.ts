const comment = String.raw`\/\*[\s\S]*?\*\/|\/\/[^\n]*`
const quoted = String.raw`'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"`
/** Matches a template literal. Its substitutions may contain braces and templates one level deep. */
const template = '`(?:\\\\[^]|\\$(?!\\{)|\\$\\{(?:`[^`]*`|\\{[^{}]*\\}|[^`{}])*\\}|[^`\\\\$])*`'
/** Matches a regular expression: a slash in the position of an operand. Elsewhere, a slash divides. */
const regex = String.raw`(?<=(?:^|[(,=:[!&|?{;+>]|\breturn)\s*)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/\w*`
const token = new RegExp(`(?<blank>${comment}|${regex})|(?<text>${quoted}|${template})`, 'gm')

export interface Source {
  /** The source with comments and regular expressions blanked, and every string replaced by `"<n>"`. */
  readonly code: string
  /** The strings as written, without quotes; `"<n>"` in `code` is the n-th. */
  readonly strings: readonly string[]
}

/** Separates code from strings and comments, so that rules about code can be simple regular expressions. */
export function scan(text: string): Source {
  const strings: string[] = []
  const code = text.replace(token, (match, blank: string | undefined) => {
    if (blank !== undefined) return ' '
    return `"${strings.push(match.slice(1, -1)) - 1}"`
  })
  return { code, strings }
}

/** Lists the strings that a pattern finds: its first capture group must match an `"<n>"`. */
export function stringsAt(source: Source, pattern: RegExp): string[] {
  return [...source.code.matchAll(pattern)].flatMap(([, found = '']) =>
    [...found.matchAll(/"(\d+)"/g)].map(([, index]) => source.strings[Number(index)] ?? ''),
  )
}

/** Lists the comments of a source without their delimiters. Consecutive lines of `//` count as one comment. */
export function listComments(text: string): string[] {
  const comments: string[] = []
  let end = -1
  for (const { 0: match, index, groups } of text.matchAll(token)) {
    if (groups?.blank === undefined || !/^\/[/*]/.test(match)) continue
    const isLine = match.startsWith('//')
    const words = isLine ? match.slice(2) : match.slice(2, -2).replace(/^\s*\*+ ?/gm, '')
    const previous = comments.at(-1)
    if (isLine && previous !== undefined && /^\n[ \t]*$/.test(text.slice(end, index)))
      comments[comments.length - 1] = `${previous} ${words.trim()}`
    else comments.push(words.replace(/\s+/g, ' ').trim())
    end = isLine ? index + match.length : -1
  }
  return comments
}
