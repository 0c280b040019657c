import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export const repositoryRoot = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

const notOurs = new Set(['node_modules', 'dist', 'generated'])

/**
 * Lists the files below a folder except generated ones, as paths relative to the repository, sorted; none if the folder does
 * not exist.
 */
export function filesUnder(directory: string, suffix = '.ts'): string[] {
  const start = join(repositoryRoot, directory)
  if (!existsSync(start)) return []
  return readdirSync(start, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(suffix))
    .map((entry) => relative(repositoryRoot, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !path.split('/').some((segment) => notOurs.has(segment)))
    .sort()
}
