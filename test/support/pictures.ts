import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryRoot } from './files.js'

/** Folder of the pictures that the docs show. */
export const picturesFolder = join(repositoryRoot, 'docs/pictures')

/** Maximum bytes of a picture, by type. */
const maximum: Readonly<Record<string, number>> = { png: 220_000, svg: 200_000 }

export const kindOf = (file: string): string => file.split('.').at(-1) ?? ''

export const picturesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((file) => kindOf(file) in maximum)
    .sort()

/** Checks the bytes of a picture: a file of at most 1,000 bytes has no drawing, and the maximum depends on the type. */
export const fits =
  (file: string) =>
  (bytes: number): boolean =>
    bytes > 1000 && bytes < (maximum[kindOf(file)] ?? 0)
