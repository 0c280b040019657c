/** Functions that style parts of code. */
export interface CodeStyle {
  keyword(text: string): string
  /** Styles a string or number. */
  literal(text: string): string
  /** Styles a comment, or the context of a diff. */
  comment(text: string): string
  added(text: string): string
  removed(text: string): string
}

/** Languages whose comments begin with `#`. */
const hash = [
  'bash',
  'sh',
  'shell',
  'zsh',
  'python',
  'py',
  'ruby',
  'rb',
  'yaml',
  'yml',
  'toml',
  'make',
  'dockerfile',
  'r',
  'perl',
]
const dashes = ['sql', 'lua', 'haskell', 'hs', 'elm']
const slashes = [
  'js',
  'javascript',
  'jsx',
  'ts',
  'typescript',
  'tsx',
  'java',
  'c',
  'h',
  'cpp',
  'c++',
  'cs',
  'csharp',
  'go',
  'rust',
  'rs',
  'swift',
  'kotlin',
  'kt',
  'php',
  'scala',
  'dart',
  'json5',
  'jsonc',
]
const comments: Readonly<Record<string, RegExp>> = Object.fromEntries([
  ...hash.map((name) => [name, /(?:^|\s)#.*/y] as const),
  ...dashes.map((name) => [name, /--.*/y] as const),
  ...slashes.map((name) => [name, /\/\/.*|\/\*.*?(?:\*\/|$)/y] as const),
])

const keywords: ReadonlySet<string> = new Set(
  `abstract and as async await begin bool break case catch char class const continue def default del do done double elif else end enum
  esac except export extends false False fi final finally float fn for from func function if impl implements import in int interface is
  lambda let long match mod module mut new nil None not null or package pass private protected pub public raise return self static struct
  super switch then this throw throws trait true True try type typeof undefined union unsafe until use val var void when where while with
  yield SELECT FROM WHERE INSERT INTO UPDATE DELETE CREATE TABLE JOIN ON GROUP BY ORDER LIMIT VALUES SET AND OR NOT NULL`.split(
    /\s+/,
  ),
)

const texts = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/y
const numbers = /\d[\w.]*/y
const words = /[A-Za-z_]\w*/y

/** Colours a line of code. For an unknown language: strings, numbers and common keywords. */
export function highlightLine(line: string, language: string, style: CodeStyle): string {
  if (language === 'diff' || language === 'patch') return highlightChange(line, style)
  const comment = Object.hasOwn(comments, language) ? comments[language] : undefined
  const rules: readonly (readonly [RegExp | undefined, (text: string) => string])[] = [
    [comment, style.comment],
    [texts, style.literal],
    [words, (word) => (keywords.has(word) ? style.keyword(word) : word)],
    [numbers, style.literal],
  ]
  let coloured = ''
  for (let at = 0; at < line.length; ) {
    const [found, colour] = findToken(rules, line, at)
    coloured += colour(found)
    at += found.length
  }
  return coloured
}

function findToken(
  rules: readonly (readonly [RegExp | undefined, (text: string) => string])[],
  line: string,
  at: number,
): readonly [string, (text: string) => string] {
  for (const [rule, colour] of rules) {
    if (rule === undefined) continue
    rule.lastIndex = at
    const [found = ''] = rule.exec(line) ?? []
    if (found !== '') return [found, colour]
  }
  return [line.slice(at, at + 1), (text) => text]
}

function highlightChange(line: string, style: CodeStyle): string {
  if (/^(?:@@|diff |index |---|\+\+\+)/.test(line)) return style.comment(line)
  return line.startsWith('+') ? style.added(line) : line.startsWith('-') ? style.removed(line) : line
}
