import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { riddles } from '../vocabulary.js'
import { filesUnder, repositoryRoot } from './files.js'
import { listComments, scan } from './source.js'

/** Numbers of riddling phrases by file and kind. */
type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>

/** A count that differs from the list. `found`: the phrases in the file. */
interface Difference {
  readonly path: string
  readonly kind: string
  readonly listed: number
  readonly found: readonly string[]
}

const list = join(repositoryRoot, 'test/phrasing.json')
const folders = ['protocol', 'packages', 'examples', 'bench', 'test', 'scripts']

/** Code, and the vocabulary itself, contain phrases that no one reads as prose. */
const isProse = (path: string): boolean => !/^test\/(?:vocabulary|support\/phrasing)|^docs\/adr\//.test(path)

const files: readonly string[] = [
  ...folders.flatMap((folder) => ['.ts', '.tsx', '.mjs'].flatMap((suffix) => filesUnder(folder, suffix))),
  ...filesUnder('docs', '.md'),
  ...filesUnder('packages', 'README.md'),
].filter(isProse)

const readText = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8')

/** Lists the messages in a source: strings of several words, without the code in templates. */
const listMessages = (text: string): string[] =>
  scan(text)
    .strings.map((each) => each.replace(/\$\{[^}]*\}/g, '…'))
    .filter((each) => /\w+ \w+ \w+/.test(each))

/** Lists the paragraphs of a page, without code and URLs. */
const listParagraphs = (text: string): string[] =>
  text
    .replace(/^ *```.*?^ *```/gms, '')
    .replace(/<!--.*?-->|\]\([^)]*\)/gs, '')
    .split(/\n\s*\n/)

const listProse = (path: string): string[] => {
  const text = readText(path)
  const prose = path.endsWith('.md')
    ? listParagraphs(text)
    : [...listComments(text), ...(path.includes('/src/') ? listMessages(text) : [])]
  return prose.map((each) => each.replace(/`[^`]*`/g, '`…`'))
}

export function findRiddles(texts: readonly string[], kind: string): string[] {
  const pattern = riddles[kind]?.pattern
  return pattern === undefined
    ? []
    : texts.flatMap((text) => [...text.matchAll(pattern)].map(([found]) => found))
}

const readList = (): Counts => (existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : {})

/** Compares the counts of all files with `test/phrasing.json`. */
export function comparePhrasing(): Difference[] {
  const listed = readList()
  return files.flatMap((path) => {
    const prose = listProse(path)
    return Object.keys(riddles).flatMap((kind) => {
      const found = findRiddles(prose, kind)
      const count = listed[path]?.[kind] ?? 0
      return found.length === count ? [] : [{ path, kind, listed: count, found }]
    })
  })
}

/** Lowers the counts of `test/phrasing.json` to those of the files. Counts rise only if there is no list yet. */
export function lowerPhrasing(): void {
  const isNew = !existsSync(list)
  const counts: Record<string, Record<string, number>> = {}
  for (const [path, kinds] of Object.entries(readList()))
    if (files.includes(path)) counts[path] = { ...kinds }
  for (const { path, kind, listed, found } of comparePhrasing()) {
    if (found.length > listed && !isNew) continue
    counts[path] = { ...counts[path], [kind]: found.length }
  }
  const lines = Object.entries(counts)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([path, kinds]) => {
      const left = Object.entries(kinds).filter(([, count]) => count > 0)
      const text = left.map(([kind, count]) => `${JSON.stringify(kind)}: ${count}`).join(', ')
      return left.length === 0 ? [] : [`  ${JSON.stringify(path)}: { ${text} }`]
    })
  writeFileSync(list, `{\n${lines.join(',\n')}\n}\n`)
}
