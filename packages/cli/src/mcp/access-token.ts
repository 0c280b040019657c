import { mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { createToken, isOpenToOthers, makeTokenFolder, readTokenFile } from '../config/token-file.js'
import { UsageError } from '../exit.js'
import { tell } from '../output.js'

const defaultFile = '.meup/mcp-token'

/**
 * The token in the file, by default one beside those of the participants; where there is none, a new one is made there.
 * Throws `UsageError` for one that is no token.
 */
export function accessToken(given?: string): { readonly file: string; readonly token: string } {
  const file = given ?? defaultFile
  if (given === undefined) makeTokenFolder('.')
  mkdirSync(dirname(resolve(file)), { recursive: true, mode: 0o700 })
  createToken(file)
  const found = readTokenFile(file)
  if (found.state === 'unusable') throw new UsageError(found.problem)
  if (found.state !== 'valid')
    throw new UsageError(`there is no token in ${file}: delete it to have one made`)
  if (isOpenToOthers(file)) tell(`others on this machine may read ${file}: chmod 600 it`)
  return { file, token: found.token }
}
