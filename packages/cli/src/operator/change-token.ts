import type { Config } from '../config/config.js'
import {
  createToken,
  makeTokenFolder,
  readTokenFile,
  replaceToken,
  revokeToken,
} from '../config/token-file.js'
import { UsageError } from '../exit.js'
import { type Selection, type TokenEntry, tokenEntries, tokenEntry } from './token-entries.js'

export type TokenVerb = 'create' | 'rotate' | 'revoke'

/** What was done to one token, with the tokens themselves. */
export interface ChangedToken {
  readonly entry: TokenEntry
  readonly before: string | undefined
  readonly after: string | undefined
}

/**
 * Changes tokens on the disk. `create` without a participant is for all who never had one. Throws `UsageError` where
 * the state of a token does not fit.
 */
export function changeTokens(config: Config, verb: TokenVerb, selection: Selection): ChangedToken[] {
  const { participant } = selection
  if (participant !== undefined) {
    return [change(config, verb, tokenEntry(config, { ...selection, participant }))]
  }
  if (verb !== 'create') throw new UsageError(`name the participant: meup token ${verb} <participant>`)
  const missing = tokenEntries(config, selection).filter(({ state }) => state === 'missing')
  return missing.map((entry) => change(config, verb, entry))
}

function change(config: Config, verb: TokenVerb, entry: TokenEntry): ChangedToken {
  const { file, space } = entry
  const before = contentOf(file)
  const misfit = misfits[verb](entry)
  if (misfit !== undefined) throw new UsageError(misfit)
  makeTokenFolder(config.directory, config.several ? space : '')
  if (verb === 'revoke') revokeToken(file)
  else if (entry.state === 'missing') createToken(file)
  else replaceToken(file)
  const [now = entry] = tokenEntries(config, { space, participant: entry.participant })
  return { entry: now, before, after: contentOf(file) }
}

/** Why a token cannot be changed so. */
const misfits: Record<TokenVerb, (entry: TokenEntry) => string | undefined> = {
  create: ({ participant, state, file }) =>
    state === 'valid' || state === 'unusable'
      ? `${participant} has a token in ${file}; meup token rotate ${participant} replaces it`
      : undefined,
  rotate: ({ participant, state }) =>
    state === 'missing' || state === 'revoked'
      ? `${participant} has no token to be replaced (${state}); meup token create ${participant} makes one`
      : undefined,
  revoke: ({ participant, state }) =>
    state === 'revoked' ? `the token of ${participant} is revoked already` : undefined,
}

function contentOf(file: string): string | undefined {
  const read = readTokenFile(file)
  return read.state === 'valid' ? read.token : undefined
}
