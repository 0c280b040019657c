import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A token that cannot be used as it is; the message names its file and says what to do. */
export class TokenError extends Error {
  override readonly name = 'TokenError'
}

export interface TokenOptions {
  /** Where a file has several spaces, the tokens of each lie in a folder of its name. */
  readonly space?: string
  /** Told of what works but should not stay so. */
  readonly warn?: (message: string) => void
}

const SHORTEST = 16
/** What an HTTP header takes, and what the name of a WebSocket subprotocol takes [MEUP-5.1]. */
const headerSafe = /^[\x21-\x7e]+$/
const subprotocolSafe = /^[\w!#$%&'*+.^`|~-]+$/

/**
 * The tokens of these participants, by id: what `.meup/tokens/<participant>` holds beside the configuration file, or
 * `.meup/tokens/<space>/<participant>` for one of several spaces. Missing ones are made, for their owner's eyes only.
 * Throws `TokenError`, and what the file system throws.
 */
export function ensureTokens(
  directory: string,
  participants: readonly string[],
  { space = '', warn = () => {} }: TokenOptions = {},
): Record<string, string> {
  const folder = join(directory, '.meup', 'tokens', space)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  createOnce(join(directory, '.meup', '.gitignore'), '*\n', 0o644)
  const tokens = participants.map((id) => [id, ensureToken(join(folder, id), warn)] as const)
  checkDistinct(tokens, folder)
  return Object.fromEntries(tokens)
}

function ensureToken(file: string, warn: (message: string) => void): string {
  createOnce(file, `${randomBytes(32).toString('base64url')}\n`, 0o600)
  const token = readFileSync(file, 'utf8').trim()
  if (token.length < SHORTEST) {
    throw new TokenError(
      `the token in ${file} is shorter than ${SHORTEST} characters: write a longer one, or delete the file to have one made`,
    )
  }
  if (!headerSafe.test(token)) {
    throw new TokenError(
      `the token in ${file} must be one word of ASCII letters, digits and signs: replace it`,
    )
  }
  if (!subprotocolSafe.test(token)) {
    warn(`browsers cannot send the token in ${file}: use letters, digits, - and _ alone`)
  }
  // Windows has no such bits and makes them up.
  if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0) {
    warn(`others on this machine may read ${file}: chmod 600 it`)
  }
  return token
}

/**
 * Makes the file unless there is one. It is written under another name first, so that a start at the same time sees
 * all of it or nothing, and linking, unlike renaming, leaves alone what is there.
 */
function createOnce(file: string, content: string, mode: number): void {
  if (statSync(file, { throwIfNoEntry: false }) !== undefined) return
  const draft = join(dirname(file), `.${randomBytes(12).toString('hex')}`)
  writeFileSync(draft, content, { flag: 'wx', mode, flush: true })
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
}

/** A token says who somebody is. Where case does not tell files apart, `ana` and `Ana` would share one. */
function checkDistinct(tokens: readonly (readonly [id: string, token: string])[], folder: string): void {
  const owners = new Map<string, string>()
  for (const [id, token] of tokens) {
    const owner = owners.get(token)
    if (owner !== undefined) {
      throw new TokenError(`${owner} and ${id} have the same token in ${folder}: give each its own`)
    }
    owners.set(token, id)
  }
}
