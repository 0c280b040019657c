import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesUnder, repositoryRoot } from './files.js'
import { importsOf } from './imports.js'
import { type Source, scan } from './source.js'

interface SourceFile extends Source {
  /** Path relative to the repository. */
  readonly path: string
  readonly imports: readonly string[]
}

export interface Package {
  readonly name: string
  readonly directory: string
  readonly files: readonly SourceFile[]
}

interface Manifest {
  readonly name: string
}

export const readText = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8')

const readSource = (path: string): SourceFile => {
  const source = scan(readText(path))
  return { path, ...source, imports: importsOf(source) }
}

const readPackage = (directory: string): Package => {
  const manifest: Manifest = JSON.parse(readText(`${directory}/package.json`))
  return {
    name: manifest.name,
    directory,
    files: [...filesUnder(`${directory}/src`, '.ts'), ...filesUnder(`${directory}/src`, '.tsx')].map(
      readSource,
    ),
  }
}

const directoriesIn = (parent: string): string[] =>
  existsSync(join(repositoryRoot, parent))
    ? readdirSync(join(repositoryRoot, parent)).map((name) => `${parent}/${name}`)
    : []

/** The packages of the workspace, with their sources. */
export const packages: readonly Package[] = [
  'protocol',
  ...directoriesIn('packages'),
  ...directoriesIn('examples'),
]
  .filter((directory) => existsSync(join(repositoryRoot, directory, 'package.json')))
  .map(readPackage)

/** Files of tests, as in vitest.config.ts. */
export const testFiles: readonly string[] = [
  'test',
  'protocol/test',
  ...directoriesIn('packages').map((p) => `${p}/test`),
].flatMap((directory) => filesUnder(directory))
