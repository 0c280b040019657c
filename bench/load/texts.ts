import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesUnder, repositoryRoot } from '../../test/support/files.js'
import { snippetsOf } from '../../test/support/snippets.js'

export const textKinds = ['prose', 'technical', 'mixture', 'cut'] as const

/**
 * The kind of a message's text. `prose`: sentences without code and numbers. `technical`: sentences with them. `mixture`: 40 %
 * prose, 30 % technical, 20 % code and output of programs, 10 % JSON. `cut`: the same few words, cut anywhere.
 */
export type TextKind = (typeof textKinds)[number]

type PieceKind = 'prose' | 'technical' | 'code' | 'output' | 'JSON'

/** Number of different texts of each kind. Large enough that caches of earlier texts do not help with later ones. */
const maxTexts = 500
/** Minimum characters of a sentence, a line or a value that is used as a text. */
const minPieceLength = 25
/** Number of pieces that may be skipped because they do not fit, until a text is complete. */
const maxSkipped = 8

const words =
  'the report says that all tests pass but one in the module that reads tokens and the load test comes next '

/** The kinds of ten consecutive texts of the mixture. */
const mixture: readonly PieceKind[] = [
  ...(['prose', 'technical', 'prose', 'code', 'technical'] as const),
  ...(['prose', 'JSON', 'technical', 'prose', 'output'] as const),
]

/** Lists texts of at most `bytes` bytes in a JSON string, in a fixed order. */
export function textsOf(kind: TextKind, bytes: number): string[] {
  if (kind === 'cut') return cutWords(bytes)
  if (kind !== 'mixture') return packed(kind, bytes)
  const kinds = [...new Set(mixture)].map((each) => [each, packed(each, bytes)] as const)
  const all = Object.fromEntries(kinds) as Record<PieceKind, string[]>
  const next = new Map<PieceKind, number>()
  return Array.from({ length: maxTexts }, (_, i) => {
    const piece = mixture[i % mixture.length] ?? 'prose'
    const at = next.get(piece) ?? 0
    next.set(piece, at + 1)
    return all[piece][at % all[piece].length] ?? ''
  })
}

/** Cuts the words into consecutive texts, until a text would begin at the first word again. */
function cutWords(bytes: number): string[] {
  const texts: string[] = []
  for (let at = 0; texts.length < maxTexts && (at > 0 || texts.length === 0); ) {
    texts.push(words.repeat(Math.ceil(bytes / words.length) + 1).slice(at, at + bytes))
    at = (at + bytes) % words.length
  }
  return texts
}

/** Makes texts of pieces: each begins with another piece, followed by the next pieces that fit. */
function packed(kind: PieceKind, bytes: number): string[] {
  const { joint, pieces } = sources[kind]
  const all = pieces(bytes).map((text) => ({ text, size: jsonBytes(text) }))
  const starts = [...all.entries()].filter(([, { size }]) => size <= bytes)
  const texts = spread(starts, maxTexts).map(([start, first]) => {
    const chosen = [first.text]
    let left = bytes - first.size
    let skipped = 0
    for (const { text, size } of all.slice(start + 1, start + 1 + bytes)) {
      if (skipped === maxSkipped) break
      const added = jsonBytes(joint) + size
      if (added > left) skipped++
      else {
        chosen.push(text)
        left -= added
      }
    }
    return chosen.join(joint)
  })
  if (texts.length === 0) throw new Error(`no ${kind} fits into ${bytes} bytes`)
  return [...new Set(texts)]
}

const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2

/** Picks `count` items at equal distances. */
const spread = <Item>(items: readonly Item[], count: number): Item[] =>
  items.filter(
    (_, i) => Math.floor((i * count) / items.length) !== Math.floor(((i - 1) * count) / items.length),
  )

/** Pages with examples of secrets or markers, which the safety gate would change. */
const quoting = ['docs/compatibility.md', 'docs/extract.md', 'docs/model-agent.md', 'docs/safety.md']
const pages = [
  ...filesUnder('docs', '.md'),
  'protocol/SPEC.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'README.md',
].filter((path) => !quoting.includes(path))

/** The source of each kind of piece. `bytes`: maximum size of a text. */
const sources: Readonly<Record<PieceKind, { readonly joint: string; pieces(bytes: number): string[] }>> = {
  prose: { joint: ' ', pieces: () => sentences().filter((each) => !isTechnical(each)) },
  technical: { joint: ' ', pieces: () => sentences().filter(isTechnical) },
  code: {
    joint: '\n',
    pieces: () =>
      linesOf(['packages/agent-sdk/src', 'examples'].flatMap((path) => filesUnder(path)).map(read)),
  },
  output: {
    joint: '\n',
    pieces: () =>
      linesOf(pages.flatMap(snippetsOf).flatMap(({ language, text }) => (language === 'text' ? [text] : []))),
  },
  JSON: {
    joint: '\n',
    pieces: (bytes) =>
      ['protocol/vectors', 'protocol/fixtures']
        .flatMap((path) => filesUnder(path, '.json'))
        .flatMap((path) => largestIn(JSON.parse(read(path)), bytes)),
  },
}

const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8')

const linesOf = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => text.split('\n')).filter((line) => line.trim().length > 0)

/** Lists the largest objects and arrays in a value that fit, as JSON. */
function largestIn(value: unknown, bytes: number): string[] {
  if (typeof value !== 'object' || value === null) return []
  const text = JSON.stringify(value)
  if (jsonBytes(text) <= bytes) return text.length < minPieceLength ? [] : [text]
  return Object.values(value).flatMap((each) => largestIn(each, bytes))
}

const isTechnical = (sentence: string): boolean => /[`\d_/{}<>=]/.test(sentence)

/** Lists the sentences of the pages, each once, without Markdown except that of code. */
function sentences(): string[] {
  const found = pages.flatMap((path) =>
    read(path)
      .replace(/^```[\s\S]*?^```$/gm, '\n\n')
      .replace(/<!--[\s\S]*?-->|\*\*/g, '')
      .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
      .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/)
      .filter((block) => !/^\s*[|#<]/.test(block))
      .map((block) =>
        block
          .replace(/^\s*(?:[-*]|\d+\.)\s+/, '')
          .replace(/\s+/g, ' ')
          .trim(),
      )
      .flatMap((block) => block.split(/(?<=[.!?])\s+(?=[A-Z`(])/)),
  )
  return [...new Set(found)].filter((each) => /^[A-Z`].*[.!?]$/.test(each) && each.length >= minPieceLength)
}
