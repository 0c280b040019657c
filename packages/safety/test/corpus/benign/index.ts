import { Random } from '../random.js'
import { installed, read, type Shelf, shuffled, system, tracked } from './files.js'
import { lockFileOf, logOf, type Vocabulary } from './made.js'
import { diffOf, excerpt, paragraphsOf } from './paragraphs.js'
import { isSkipped } from './skipped.js'

export const benignKinds = ['prose', 'code', 'logs', 'JSON', 'diffs', 'lock files'] as const
type BenignKind = (typeof benignKinds)[number]

/** A text without a secret. */
export interface BenignCase {
  readonly kind: BenignKind
  /** The file that the text is from, or that its words are from. */
  readonly source: string
  readonly text: string
}

const patterns = {
  prose:
    /(?:\.(?:md|markdown|txt|rst|html)|\/(?:README|NEWS|TODO|AUTHORS|THANKS|BUGS|changelog)[\w.]*)(?:\.gz)?$/i,
  code: /\.(?:[cm]?[jt]sx?|py|c|cc|cpp|h|sh|go|rs|css|sql)$/,
  JSON: /\.(?:json|jsonl|webmanifest)$/,
}

/** Maximum number of files per folder, and of paragraphs per file, so that large ones do not dominate. */
const perFolder = 2
/** Minimum characters of a paragraph. */
const shortest = 80
/** Matches words that most rules search for. Paragraphs with them come first, because others are rarely masked. */
const telling = /key|token|secret|passw|credential|auth/i

function* paragraphsIn(shelf: Shelf, kind: keyof typeof patterns, seed: string): Generator<BenignCase> {
  for (const folder of shuffled(shelf.folders, seed)) {
    const files = shelf.filesIn(folder).filter((path) => patterns[kind].test(path) && !isSkipped(path))
    for (const source of shuffled(files, seed).slice(0, perFolder)) {
      const text = read(source)
      const random = new Random(`${seed} ${source}`)
      const all = (
        kind === 'JSON' ? Array.from({ length: 8 }, () => excerpt(text, random)) : paragraphsOf(text)
      ).filter((paragraph) => paragraph.length >= shortest)
      const inOrder = shuffled(all, seed)
      const chosen = [...inOrder.filter((each) => telling.test(each)), ...inOrder].slice(0, perFolder)
      for (const paragraph of chosen) yield { kind, source, text: paragraph }
    }
  }
}

/** Takes texts from the generators in turn, each text once. */
function take(count: number, from: readonly Generator<BenignCase>[]): BenignCase[] {
  const found = new Map<string, BenignCase>()
  let left = [...from]
  while (left.length > 0 && found.size < count) {
    left = left.filter((each) => {
      const next = each.next()
      if (next.done !== true && found.size < count) found.set(next.value.text, next.value)
      return next.done !== true
    })
  }
  return [...found.values()]
}

interface BenignOptions {
  readonly seed: string
  readonly count: number
  /** Whether to read files that are installed on this machine, outside of this repository and its packages. */
  readonly system: boolean
}

/** Collects texts, equally many of each kind, from files of this machine. The repository has no copies of them. */
export function benignCases({ seed, count, system: hasSystem }: BenignOptions): BenignCase[] {
  const [packages, own] = [installed(), tracked()]
  const shelves = [packages, own, ...(hasSystem ? [system()] : [])]
  const perKind = Math.ceil(count / benignKinds.length)
  const of = (kind: keyof typeof patterns): BenignCase[] =>
    take(
      perKind,
      shelves.map((shelf) => paragraphsIn(shelf, kind, seed)),
    )
  const files = { prose: of('prose'), code: of('code'), JSON: of('JSON') }
  const all = [...files.prose, ...files.code, ...files.JSON]

  const vocabulary: Vocabulary = {
    packages: packages.folders.map((entry) => entry.replace('+', '/').replace(/_.*/, '')),
    paths: own.folders,
    sentences: files.prose.map(({ text }) => text.replace(/\s+/g, ' ').slice(0, 80)),
  }
  const make = (kind: BenignKind, of: (random: Random) => Omit<BenignCase, 'kind'>): BenignCase[] =>
    Array.from({ length: perKind }, (_, index) => ({ kind, ...of(new Random(`${seed} ${kind} ${index}`)) }))
  const lockFile = read('pnpm-lock.yaml')
  return [
    ...all,
    ...make('logs', (random) => ({ source: 'made', text: logOf(vocabulary, random) })),
    ...make('diffs', (random) => {
      const { source, text } = random.pick(all)
      return { source, text: diffOf(source, text, random) }
    }),
    ...make('lock files', (random) =>
      random.chance(0.5)
        ? { source: 'pnpm-lock.yaml', text: excerpt(lockFile, random) }
        : { source: 'made', text: lockFileOf(vocabulary, random) },
    ),
  ].slice(0, count)
}
