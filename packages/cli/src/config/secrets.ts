import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTokenFolder, replaceFile } from './tokens.js'

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/

/** The folder of secrets, next to the configuration file: its file `<NAME>` contains the value of `${NAME}`. */
export const getSecretFolder = (directory: string): string => join(directory, '.meup', 'secrets')

/** Reads the secrets that space.yaml may use as variables, by name. Throws errors of the file system. */
export function readSecrets(directory: string): Record<string, string> {
  const folder = getSecretFolder(directory)
  const files = listFiles(folder).filter((name) => variableName.test(name))
  return Object.fromEntries(
    files.map((name) => [name, readFileSync(join(folder, name), 'utf8').replace(/\r?\n$/, '')]),
  )
}

function listFiles(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return []
  }
}

/** Writes secrets, each into a file that only its owner may read. */
export function writeSecrets(directory: string, secrets: Readonly<Record<string, string>>): void {
  if (Object.keys(secrets).length === 0) return
  makeTokenFolder(directory)
  const folder = getSecretFolder(directory)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const [name, value] of Object.entries(secrets)) replaceFile(join(folder, name), `${value}\n`)
}
