import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, resolve, sep } from 'node:path'
import type { ProcessProgram } from '../config/config.js'
import { FileWatch } from './file-watch.js'

/** Quiet period after the last change before a restart. */
const settleMs = 200

interface SourceWatchOptions {
  /** Reads the current state of the files. */
  readonly read: () => Sources
  /** Whether the program waits for a change, so that saving a file unchanged counts as one. */
  readonly isWaiting: () => boolean
  /** Called with the files that changed since `mark`. */
  readonly changed: (files: readonly string[]) => void
  /** Called when watching fails: later changes may be missed. */
  readonly failed: (error: unknown) => void
}

/** Watches the files of a program. */
export class SourceWatch {
  readonly #options: SourceWatchOptions
  readonly #files: FileWatch
  #marked: Sources = new Map()

  constructor(options: SourceWatchOptions) {
    this.#options = options
    this.#files = new FileWatch({ settleMs, changed: () => this.#compare(), failed: options.failed })
  }

  /** Whether the program has files to watch. */
  get isWatching(): boolean {
    return this.#marked.size > 0
  }

  /** Records the current files as the baseline, just before the program starts. */
  mark(): void {
    this.#marked = this.#options.read()
    this.#files.follow([...this.#marked.keys()])
    this.#files.settle() // Also notices changes made before the watch began.
  }

  close(): void {
    this.#files.close()
  }

  #compare(): void {
    const { read, isWaiting, changed } = this.#options
    const files = changedSources(this.#marked, read(), isWaiting())
    if (files.length > 0) changed(files)
  }
}

/** Version of a file; without a digest, the file does not exist. */
interface Version {
  readonly digest?: string
  readonly mtimeMs?: number
}

/** Source files of a program, by path. */
type Sources = ReadonlyMap<string, Version>

/** Extensions of source files; other files on the command line may be output of the program. */
const script = /\.(?:[cm]?[jt]sx?|py|rb|sh|php|pl|lua|exs?|go|jar|wasm)$/
/** Extensions of files that are searched for imports. */
const importing = /\.[cm]?[jt]sx?$/
const specifiers = /\b(?:from|import|require)\s*\(?\s*(['"`])(\.\.?(?:\/[^'"`\n?]*)?)(?:\?[^'"`\n]*)?\1/g
/** Extensions in import specifiers, and those that the source file may have instead. */
const written: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx'],
  '.jsx': ['.tsx'],
  '.mjs': ['.mts'],
  '.cjs': ['.cts'],
}
const extensions = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.json']
/** Maximum number of files, and size of files that are hashed; larger files are compared by time. */
const [maxFiles, largestRead] = [2000, 4 * 1024 * 1024]

/**
 * Finds a program's source files: those on its command line, their relative imports as Node.js and TypeScript resolve them, and
 * the package.json that sets the module type. Excludes `node_modules`, and files that the program only reads or writes.
 */
export function findSources(
  { command, args, cwd }: Pick<ProcessProgram, 'command' | 'args' | 'cwd'>,
  directory: string,
): Sources {
  const found = new Map<string, Version>()
  const scripts = namedIn(args).map((word) => resolve(cwd, word))
  // A command outside of the space's folder is an installed program, so it is not watched for edits.
  const waiting = [...(command.startsWith(directory + sep) ? [command] : []), ...scripts]
  for (const file of waiting) {
    if (found.has(file) || file.split(sep).includes('node_modules') || found.size >= maxFiles) continue
    const { version, text } = read(file)
    found.set(file, version)
    if (text === undefined || !importing.test(file)) continue
    const manifest = findManifest(dirname(file), directory)
    found.set(manifest, readManifest(manifest))
    for (const [, , specifier = ''] of text.matchAll(specifiers)) {
      waiting.push(...resolveImport(resolve(dirname(file), specifier)))
    }
  }
  return found
}

/**
 * Files that differ; `byTime` includes files that were saved unchanged. Files that no longer belong to the program are compared
 * as they are now: without its script, the rest of a program is unknown.
 */
export function changedSources(before: Sources, now: Sources, byTime: boolean): string[] {
  const files = [...new Set([...before.keys(), ...now.keys()])]
  return files.filter((file) => {
    const [was, is] = [before.get(file), now.get(file) ?? readVersion(file)]
    return was?.digest !== is?.digest || (byTime && was?.mtimeMs !== is?.mtimeMs)
  })
}

/** Source files among the arguments: `node --import ./setup.js agent.js` has two. */
const namedIn = (args: readonly string[]): string[] =>
  args
    .map((arg) => (arg.startsWith('-') ? arg.slice(arg.indexOf('=') + 1) : arg))
    .filter((word) => script.test(word))

/** The file that an import resolves to; if none exists, all candidates, since one may be created later. */
function resolveImport(path: string): string[] {
  const extension = extname(path)
  const stem = path.slice(0, path.length - extension.length)
  const candidates = [
    path,
    ...(written[extension] ?? []).map((other) => stem + other),
    ...extensions.map((other) => path + other),
    ...extensions.map((other) => join(path, `index${other}`)),
  ]
  const there = candidates.find(isFile)
  const absent = candidates.slice(0, -extensions.length).filter((each) => !existsSync(each))
  return there === undefined ? absent : [there]
}

/** The package.json that sets the module type of a folder's files; otherwise the path at which it could be created. */
function findManifest(folder: string, directory: string): string {
  for (let at = folder; at.startsWith(directory); at = dirname(at)) {
    const file = join(at, 'package.json')
    if (at === directory || isFile(file)) return file
  }
  return join(folder, 'package.json')
}

/** Only `type` of a package.json counts, because other fields change with each installed package. */
function readManifest(file: string): Version {
  const { version, text } = read(file)
  if (text === undefined) return version
  try {
    const { type = '' } = JSON.parse(text) as { readonly type?: unknown }
    return { ...version, digest: `type ${String(type)}` }
  } catch {
    return version // The file is probably half-written.
  }
}

const readVersion = (file: string): Version =>
  basename(file) === 'package.json' ? readManifest(file) : read(file).version

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

function read(file: string): { readonly version: Version; readonly text?: string } {
  try {
    const { mtimeMs, size } = statSync(file)
    if (size > largestRead) return { version: { digest: `${size} bytes, ${mtimeMs}`, mtimeMs } }
    const bytes = readFileSync(file)
    const digest = createHash('sha256').update(bytes).digest('base64')
    return { version: { digest, mtimeMs }, text: bytes.toString('utf8') }
  } catch {
    return { version: {} }
  }
}
