const comment = String.raw`\/\*[\s\S]*?\*\/|\/\/[^\n]*`
const quoted = String.raw`'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"`
/** Its substitutions may contain braces and templates one level deep, which should be enough. */
const template = '`(?:\\\\[^]|\\$(?!\\{)|\\$\\{(?:`[^`]*`|\\{[^{}]*\\}|[^`{}])*\\}|[^`\\\\$])*`'
/** A slash begins a regular expression in the place of an operand, and divides elsewhere. */
const regex = String.raw`(?<=(?:^|[(,=:[!&|?{;+>]|\breturn)\s*)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/\w*`
const token = new RegExp(`(?<blank>${comment}|${regex})|(?<text>${quoted}|${template})`, 'gm')

export interface Source {
  /** The text with comments and regular expressions blank and every string replaced by `"<n>"`. */
  readonly code: string
  /** The strings as written, without their quotes; `"<n>"` in `code` is the n-th. */
  readonly strings: readonly string[]
}

/** Separates code from what merely looks like code, so that rules over it can be plain regular expressions. */
export function scan(text: string): Source {
  const strings: string[] = []
  const code = text.replace(token, (match, blank: string | undefined) => {
    if (blank !== undefined) return ' '
    return `"${strings.push(match.slice(1, -1)) - 1}"`
  })
  return { code, strings }
}

/** The string of the first capture group of `pattern`, an `"<n>"`, for each match. */
export function stringsAt(source: Source, pattern: RegExp): string[] {
  return [...source.code.matchAll(pattern)].flatMap(([, found = '']) =>
    [...found.matchAll(/"(\d+)"/g)].map(([, index]) => source.strings[Number(index)] ?? ''),
  )
}

/** The comments of a source without their marks. Consecutive lines of `//` count as one comment. */
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
