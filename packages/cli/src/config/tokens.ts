import { dirname } from 'node:path'
import { createToken, makeTokenFolder, readTokenFile, tokenFile, tokenWarnings } from './token-file.js'

/** A token that cannot be used as it is; the message names its file and says what to do. */
export class TokenError extends Error {
  override readonly name = 'TokenError'
}

export interface TokenOptions {
  /** Where a file has several spaces, the tokens of each lie in a folder of its name. */
  readonly space?: string
  /** Told of what works but should not stay so. */
  readonly warn?: (message: string) => void
  /** Asked for a token to go on with where one cannot be used; without it that is an error. */
  readonly instead?: (participant: string, error: Error) => string | undefined
}

/**
 * The tokens of these participants, by id: what `.meup/tokens/<participant>` holds beside the configuration file, or
 * `.meup/tokens/<space>/<participant>` for one of several spaces. Missing ones are made; whoever has a revoked one is
 * left out. Throws `TokenError`, and what the file system throws.
 */
export function ensureTokens(
  directory: string,
  participants: readonly string[],
  { space = '', warn = () => {}, instead = refuse }: TokenOptions = {},
): Record<string, string> {
  makeTokenFolder(directory, space)
  const tokens = new Map<string, string>()
  const put = (id: string, token: string | undefined): void => {
    if (token === undefined) tokens.delete(id)
    else tokens.set(id, token)
  }
  for (const id of participants) {
    const file = tokenFile(directory, id, space)
    try {
      put(id, ensureToken(file, warn))
    } catch (error) {
      put(id, instead(id, error instanceof Error ? error : new Error(String(error))))
    }
  }
  const folder = dirname(tokenFile(directory, '-', space))
  for (const { id, owners } of sharers(tokens)) {
    const shared = `${owners.join(' and ')} have the same token in ${folder}: give each its own`
    put(id, instead(id, new TokenError(shared)))
  }
  // What is shared even so would identify nobody.
  for (const { id } of sharers(tokens)) tokens.delete(id)
  return Object.fromEntries(tokens)
}

function refuse(_participant: string, error: Error): never {
  throw error
}

function ensureToken(file: string, warn: (message: string) => void): string | undefined {
  createToken(file)
  const read = readTokenFile(file)
  if (read.state === 'unusable') throw new TokenError(read.problem)
  if (read.state !== 'valid') return undefined
  tokenWarnings(file, read.token).forEach(warn)
  return read.token
}

/** A token says who somebody is. Where case does not tell files apart, `ana` and `Ana` would share one. */
function sharers(tokens: ReadonlyMap<string, string>): { id: string; owners: string[] }[] {
  const owners = new Map<string, string[]>()
  for (const [id, token] of tokens) owners.set(token, [...(owners.get(token) ?? []), id])
  return [...owners.values()]
    .filter((ids) => ids.length > 1)
    .flatMap((ids) => ids.map((id) => ({ id, owners: ids })))
}
