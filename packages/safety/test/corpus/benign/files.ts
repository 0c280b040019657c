import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { repositoryRoot } from '../../../../../test/support/files.js'
import { Random } from '../random.js'

/** A collection of files, listed one folder at a time, because there are many. */
export interface Shelf {
  readonly folders: readonly string[]
  /** Paths relative to the repository, or absolute. */
  filesIn(folder: string): readonly string[]
}

/**
 * Shuffles texts by the seed. Added or missing texts do not change the order of the others, so that a sample is similar on
 * every machine.
 */
export const shuffled = (texts: readonly string[], seed: string): string[] =>
  texts
    .map((text) => ({ text, rank: new Random(`${seed} ${text}`).next() }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ text }) => text)

function filesBelow(folder: string): string[] {
  const found = readdirSync(join(repositoryRoot, folder), { withFileTypes: true }).sort((one, other) =>
    one.name < other.name ? -1 : 1,
  )
  return found.flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isFile()) return [path]
    return entry.isDirectory() && entry.name !== 'node_modules' ? filesBelow(path) : []
  })
}

const store = 'node_modules/.pnpm'

/** The name of a package by its folder in pnpm's store, such as `@types+ws@8.18.1`. */
const packageOf = (entry: string): string => entry.replace(/(?<=.)@.*/, '').replace('+', '/')

export function installed(): Shelf {
  const isPackage = (entry: string): boolean =>
    existsSync(join(repositoryRoot, store, entry, 'node_modules', packageOf(entry)))
  const folders = existsSync(join(repositoryRoot, store)) ? readdirSync(join(repositoryRoot, store)) : []
  return {
    folders: folders.filter(isPackage),
    filesIn: (entry) => filesBelow(`${store}/${entry}/node_modules/${packageOf(entry)}`),
  }
}

export function tracked(): Shelf {
  const { stdout } = spawnSync('git', ['ls-files'], { cwd: repositoryRoot, encoding: 'utf8' })
  const files = (stdout ?? '')
    .split('\n')
    .filter((path) => path !== '' && existsSync(join(repositoryRoot, path)))
  return { folders: files, filesIn: (path) => [path] }
}

/** Files in `/usr/share/doc`, a folder per Debian package: texts of the system that contain no secrets. */
export function system(): Shelf {
  const folder = '/usr/share/doc'
  const entries = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : []
  return {
    folders: entries.filter((entry) => entry.isDirectory()).map(({ name }) => name),
    filesIn: (name) =>
      readdirSync(join(folder, name), { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(folder, name, entry.name))
        .sort(),
  }
}

/** Maximum bytes of a file; larger files are data. */
const largest = 2 ** 20

/** Returns the text of a file; empty if the file is too large. */
export function read(path: string): string {
  const file = path.startsWith('/') ? path : join(repositoryRoot, path)
  if (statSync(file).size > largest) return ''
  const bytes = readFileSync(file)
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
}
