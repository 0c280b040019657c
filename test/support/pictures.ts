import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryRoot } from './files.js'

/** The folder of the pictures that the docs show. */
export const picturesFolder = join(repositoryRoot, 'docs/pictures')

/** Bytes. */
const maximum: Readonly<Record<string, number>> = { png: 220_000, svg: 200_000 }

export const kindOf = (file: string): string => file.split('.').at(-1) ?? ''

export const picturesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((file) => kindOf(file) in maximum)
    .sort()

/** True for the size of a picture that is drawn, and small. */
export const fits =
  (file: string) =>
  (bytes: number): boolean =>
    bytes > 1000 && bytes < (maximum[kindOf(file)] ?? 0)
