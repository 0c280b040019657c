import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What the file of a participant comes to. A revoked one stays in its place, so that nobody makes a new token for it. */
export type TokenState =
  | { readonly state: 'valid'; readonly token: string }
  | { readonly state: 'missing' | 'revoked' }
  | { readonly state: 'unusable'; readonly problem: string }

const shortest = 16
/** Stands in the file of a revoked token; too short for a token, so that it opens nothing anywhere. */
const revoked = 'revoked'
/** What an HTTP header takes, and what the name of a WebSocket subprotocol takes [MEUP-5.1]. */
const headerSafe = /^[\x21-\x7e]+$/
const subprotocolSafe = /^[\w!#$%&'*+.^`|~-]+$/

/** Where the token of a participant lies; where a file has several spaces, those of each lie in a folder of its name. */
export const tokenFile = (directory: string, participant: string, space = ''): string =>
  join(directory, '.meup', 'tokens', space, participant)

export function readTokenFile(file: string): TokenState {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return { state: 'missing' }
  const token = readFileSync(file, 'utf8').trim()
  if (token === revoked) return { state: 'revoked' }
  if (token.length < shortest) {
    const advice = 'write a longer one, or delete the file to have one made'
    return unusable(`the token in ${file} is shorter than ${shortest} characters: ${advice}`)
  }
  if (!headerSafe.test(token)) {
    return unusable(`the token in ${file} must be one word of ASCII letters, digits and signs: replace it`)
  }
  return { state: 'valid', token }
}

const unusable = (problem: string): TokenState => ({ state: 'unusable', problem })

/** What works but should not stay so. */
export function tokenWarnings(file: string, token: string): string[] {
  const warnings: string[] = []
  if (!subprotocolSafe.test(token)) {
    warnings.push(`browsers cannot send the token in ${file}: use letters, digits, - and _ alone`)
  }
  if (isOpenToOthers(file)) warnings.push(`others on this machine may read ${file}: chmod 600 it`)
  return warnings
}

/** Whether group or others have any right to it. Windows has no such bits and makes them up. */
export const isOpenToOthers = (file: string): boolean =>
  process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0

/** Makes the folder, for its owner's eyes only. */
export function makeTokenFolder(directory: string, space = ''): void {
  mkdirSync(join(directory, '.meup', 'tokens', space), { recursive: true, mode: 0o700 })
  createOnce(join(directory, '.meup', '.gitignore'), '*\n', 0o644)
}

/** Makes a token unless the file is there. */
export const createToken = (file: string): void => createOnce(file, freshToken(), 0o600)

/** Puts a new token in the place of the old one; whoever reads the file sees one of the two. */
export const replaceToken = (file: string): void => replace(file, freshToken())

/** Leaves a token that opens nothing. */
export const revokeToken = (file: string): void => replace(file, `${revoked}\n`)

const freshToken = (): string => `${randomBytes(32).toString('base64url')}\n`

function replace(file: string, content: string): void {
  renameSync(draftOf(file, content, 0o600), file)
}

/** Linking, unlike renaming, leaves alone what is there: of two that start at the same time, both read one token. */
function createOnce(file: string, content: string, mode: number): void {
  if (statSync(file, { throwIfNoEntry: false }) !== undefined) return
  const draft = draftOf(file, content, mode)
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
}

/** The content under another name beside the file, to be moved into place whole. */
function draftOf(file: string, content: string, mode: number): string {
  const draft = join(dirname(file), `.${randomBytes(12).toString('hex')}`)
  writeFileSync(draft, content, { flag: 'wx', mode, flush: true })
  return draft
}
