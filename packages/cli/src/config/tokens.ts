import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Failure, UsageError } from '../failure/failure.js'

export interface TokenOptions {
  /** Folder name below `.meup/tokens`, if the configuration has several spaces. */
  readonly space?: string
  /** Called for usable tokens that are weak or exposed. */
  readonly warn?: (message: string) => void
  /** Returns a replacement for an unusable token; default: throws. */
  readonly instead?: (participant: string, error: Error) => string | undefined
}

/**
 * Returns the tokens of participants by id, from `.meup/tokens/<participant>` next to the configuration file, or from
 * `.meup/tokens/<space>/<participant>` with several spaces. Creates missing tokens and leaves out revoked ones. Throws
 * `Failure` or `UsageError` for an unusable one, and errors of the file system.
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
    const file = getTokenPath(directory, id, space)
    try {
      put(id, ensureToken(file, warn))
    } catch (error) {
      put(id, instead(id, error instanceof Error ? error : new Error(String(error))))
    }
  }
  const folder = dirname(getTokenPath(directory, '-', space))
  for (const { id, owners } of findSharedTokens(tokens)) {
    put(id, instead(id, new UsageError('shared_token', { participants: owners, folder })))
  }
  // Leaves out tokens that several participants share: such a token identifies none of them.
  for (const { id } of findSharedTokens(tokens)) tokens.delete(id)
  return Object.fromEntries(tokens)
}

function refuse(_participant: string, error: Error): never {
  throw error
}

function ensureToken(file: string, warn: (message: string) => void): string | undefined {
  createToken(file)
  const read = readTokenFile(file)
  if (read.state === 'unusable') throw read.problem
  if (read.state !== 'valid') return undefined
  tokenWarnings(file, read.token).forEach(warn)
  return read.token
}

/** Participants with equal tokens. On case-insensitive file systems, `ana` and `Ana` share a token file. */
function findSharedTokens(tokens: ReadonlyMap<string, string>): { id: string; owners: string[] }[] {
  const owners = new Map<string, string[]>()
  for (const [id, token] of tokens) owners.set(token, [...(owners.get(token) ?? []), id])
  return [...owners.values()]
    .filter((ids) => ids.length > 1)
    .flatMap((ids) => ids.map((id) => ({ id, owners: ids })))
}

/** State of a participant's token file. A revoked token leaves its file, so that no new token is created. */
export type TokenState =
  | { readonly state: 'valid'; readonly token: string }
  | { readonly state: 'missing' | 'revoked' }
  | { readonly state: 'unusable'; readonly problem: Error }

const minTokenChars = 16
/** Content that marks a token as revoked; too short to be accepted as a token. */
const revokedMarker = 'revoked'
/** Matches characters allowed in an HTTP header; `subprotocolSafe`: in the name of a WebSocket subprotocol [MEUP-5.1]. */
const headerSafe = /^[\x21-\x7e]+$/
const subprotocolSafe = /^[\w!#$%&'*+.^`|~-]+$/

/** Path of a token file; `space` is given only if the configuration has several spaces. */
export const getTokenPath = (directory: string, participant: string, space = ''): string =>
  join(directory, '.meup', 'tokens', space, participant)

export function readTokenFile(file: string): TokenState {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return { state: 'missing' }
  const token = readFileSync(file, 'utf8').trim()
  if (token === revokedMarker) return { state: 'revoked' }
  if (token.length < minTokenChars)
    return { state: 'unusable', problem: new Failure('unusable_token', { path: file }) }
  if (!headerSafe.test(token))
    return { state: 'unusable', problem: new UsageError('invalid_token', { file }) }
  return { state: 'valid', token }
}

/** Problems that do not prevent the token from being used. */
export function tokenWarnings(file: string, token: string): string[] {
  const warnings: string[] = []
  if (!subprotocolSafe.test(token)) {
    warnings.push(`browsers cannot send the token in ${file}: use letters, digits, - and _ alone`)
  }
  if (isOpenToOthers(file)) warnings.push(`others on this machine may read ${file}: chmod 600 it`)
  return warnings
}

/** Whether group or others have any permission. Not checked on Windows, which has no such bits. */
export const isOpenToOthers = (file: string): boolean =>
  process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0

/** Creates the folder, readable by its owner only. */
export function makeTokenFolder(directory: string, space = ''): void {
  mkdirSync(join(directory, '.meup', 'tokens', space), { recursive: true, mode: 0o700 })
  createOnce(join(directory, '.meup', '.gitignore'), '*\n', 0o644)
}

/** Creates a token unless the file exists. */
export const createToken = (file: string): void => createOnce(file, freshToken(), 0o600)

/** Replaces the token atomically: a reader sees either the old or the new one. */
export const replaceToken = (file: string): void => replaceFile(file, freshToken())

/** Replaces the token with a marker that means revoked. */
export const revokeToken = (file: string): void => replaceFile(file, `${revokedMarker}\n`)

const freshToken = (): string => `${randomBytes(32).toString('base64url')}\n`

/** Writes a file atomically: a reader sees either the old content or the new one. */
export function replaceFile(file: string, content: string, mode = 0o600): void {
  renameSync(writeDraft(file, content, mode), file)
}

/** Creates a file with `link`, which never overwrites: concurrent starts agree on one token. */
function createOnce(file: string, content: string, mode: number): void {
  if (statSync(file, { throwIfNoEntry: false }) !== undefined) return
  const draft = writeDraft(file, content, mode)
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
}

/** Writes the content to a temporary file in the same folder, to be moved into place. */
function writeDraft(file: string, content: string, mode: number): string {
  const draft = join(dirname(file), `.${randomBytes(12).toString('hex')}`)
  writeFileSync(draft, content, { flag: 'wx', mode, flush: true })
  return draft
}
