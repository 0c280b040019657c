import { relative, resolve } from 'node:path'
import { omitUndefined } from '@meup/protocol'
import type { Config } from '../config/config.js'
import { loadConfig } from '../config/load.js'
import {
  createToken,
  getTokenPath,
  makeTokenFolder,
  readTokenFile,
  replaceToken,
  revokeToken,
  type TokenState,
  tokenWarnings,
} from '../config/tokens.js'
import type { JsonOf } from '../json-outputs.js'
import { UsageError } from '../lib/exit.js'
import { gatewayMessages, notifyGateway } from '../lib/notify-gateway.js'
import { formatTable, print, printJson, printNotice } from '../lib/output.js'
import { unknownNameError } from '../lib/unknown-name.js'

export interface TokenFlags {
  readonly config: string
  readonly space?: string
  readonly json?: boolean
  readonly show?: boolean
}

export function listTokens(participant: string | undefined, flags: TokenFlags): void {
  const entries = tokenEntries(loadConfig(resolve(flags.config)), toSelection(participant, flags))
  if (flags.json) return void printJson<JsonOf<'token list'>>({ tokens: entries })
  const several = new Set(entries.map(({ space }) => space)).size > 1
  const rows = entries.map(({ space, participant, kind, state, file }) => {
    return [...(several ? [space] : []), participant, kind, state, shortPath(file)]
  })
  for (const line of formatTable(rows)) print(line)
  for (const warning of entries.flatMap(({ warnings }) => warnings)) printNotice(`✗ ${warning}`)
}

/** `meup token create`, `rotate` and `revoke`: changes token files, then makes the running gateway reload. */
export async function runTokenChange(
  verb: TokenVerb,
  participant: string | undefined,
  flags: TokenFlags,
): Promise<void> {
  const config = loadConfig(resolve(flags.config))
  const changed = changeTokens(config, verb, toSelection(participant, flags))
  const gateway = await announce(config, changed)
  if (flags.json)
    printJson<JsonOf<'token create'>>({ tokens: changed.map((each) => toTokenJson(each, flags)), gateway })
  else {
    for (const each of changed) print(formatChange(each, verb, flags))
    printNotice(changed.length === 0 ? 'every participant has a token already' : gatewayMessages[gateway])
  }
  if (gateway === 'silent') process.exitCode = 1
}

async function announce(
  config: Config,
  changed: readonly ChangedToken[],
): Promise<keyof typeof gatewayMessages> {
  const spaces = [...new Set(changed.map(({ entry }) => entry.space))]
  const outcomes = await Promise.all(
    spaces.map((space) => {
      const ofSpace = changed.filter(({ entry }) => entry.space === space)
      const accepted = ofSpace.flatMap(({ after }) => after ?? [])
      const rejected = ofSpace.flatMap(({ before }) => before ?? [])
      return notifyGateway(config.directory, { space, accepted, rejected })
    }),
  )
  return outcomes.find((outcome) => outcome !== 'applied') ?? 'applied'
}

const toSelection = (participant: string | undefined, { space }: TokenFlags) =>
  omitUndefined({ participant, space })

const toTokenJson = (
  { entry, after }: ChangedToken,
  { show }: TokenFlags,
): TokenEntry & { token?: string } => ({
  ...entry,
  ...(show && after !== undefined && { token: after }),
})

const done: Record<TokenVerb, string> = { create: 'made', rotate: 'replaced', revoke: 'revoked' }

function formatChange({ entry, after }: ChangedToken, verb: TokenVerb, { show }: TokenFlags): string {
  if (show && after !== undefined) return after
  return `${entry.participant}: ${done[verb]} · ${shortPath(entry.file)}`
}

const shortPath = (file: string): string => {
  const path = relative(process.cwd(), file)
  return path.startsWith('..') ? file : path
}

export type TokenVerb = 'create' | 'rotate' | 'revoke'

/** A changed token file, with the tokens before and after. */
interface ChangedToken {
  readonly entry: TokenEntry
  readonly before: string | undefined
  readonly after: string | undefined
}

/**
 * Changes token files. `create` without a participant creates all missing ones. Throws `UsageError` if the state of a token
 * does not allow the change.
 */
export function changeTokens(config: Config, verb: TokenVerb, selection: Selection): ChangedToken[] {
  const { participant } = selection
  if (participant !== undefined) {
    return [change(config, verb, tokenEntry(config, { ...selection, participant }))]
  }
  if (verb !== 'create')
    throw new UsageError('missing_argument', { form: `meup token ${verb} <participant>` })
  const missing = tokenEntries(config, selection).filter(({ state }) => state === 'missing')
  return missing.map((entry) => change(config, verb, entry))
}

function change(config: Config, verb: TokenVerb, entry: TokenEntry): ChangedToken {
  const { file, space } = entry
  const before = readValidToken(file)
  mustAllow(verb, entry)
  makeTokenFolder(config.directory, config.several ? space : '')
  if (verb === 'revoke') revokeToken(file)
  else if (entry.state === 'missing') createToken(file)
  else replaceToken(file)
  const [now = entry] = tokenEntries(config, { space, participant: entry.participant })
  return { entry: now, before, after: readValidToken(file) }
}

/** Throws `UsageError` for a change that the state of the token does not allow. */
function mustAllow(verb: TokenVerb, { participant, state, file }: TokenEntry): void {
  const isThere = state === 'valid' || state === 'unusable'
  if (verb === 'create' && isThere) throw new UsageError('token_exists', { participant, file })
  if (verb !== 'create' && (state === 'revoked' || (verb === 'rotate' && state === 'missing')))
    throw new UsageError('token_missing', { participant, state })
}

function readValidToken(file: string): string | undefined {
  const read = readTokenFile(file)
  return read.state === 'valid' ? read.token : undefined
}

/** State of a participant's token file, without the token itself. */
export interface TokenEntry {
  readonly space: string
  readonly participant: string
  readonly kind: string
  /** Absolute path of the token file. */
  readonly file: string
  readonly state: TokenState['state']
  /** Warnings about a valid token, or the reason why it is unusable. */
  readonly warnings: readonly string[]
}

interface Selection {
  /** Absent = all spaces. */
  readonly space?: string
  /** Absent = all participants. */
  readonly participant?: string
}

/** Lists the tokens of a configuration. Throws `UsageError` if the selection matches nothing. */
export function tokenEntries(config: Config, { space, participant }: Selection): TokenEntry[] {
  const names = config.spaces.map((entry) => entry.config.name)
  if (space !== undefined && !names.includes(space)) throw unknownNameError('space', space, names)
  const entries = config.spaces
    .filter((entry) => space === undefined || entry.config.name === space)
    .flatMap(({ config: { name, participants } }) =>
      Object.entries(participants).map(([id, { kind }]) => {
        const file = getTokenPath(config.directory, id, config.several ? name : '')
        return { space: name, participant: id, kind, file, ...readTokenState(file) }
      }),
    )
  if (participant === undefined) return entries
  const chosen = entries.filter((entry) => entry.participant === participant)
  if (chosen.length > 0) return chosen
  const known = [...new Set(entries.map((entry) => entry.participant))]
  throw unknownNameError('participant', participant, known)
}

/** The selected token. Throws `UsageError` if several spaces have a participant of this name. */
function tokenEntry(config: Config, selection: Required<Pick<Selection, 'participant'>> & Selection) {
  const entries = tokenEntries(config, selection)
  const [entry] = entries
  if (entry === undefined || entries.length > 1) {
    const spaces = entries.map(({ space }) => space)
    throw new UsageError('ambiguous_space', { spaces })
  }
  return entry
}

function readTokenState(file: string): Pick<TokenEntry, 'state' | 'warnings'> {
  const read = readTokenFile(file)
  if (read.state === 'valid') return { state: 'valid', warnings: tokenWarnings(file, read.token) }
  return { state: read.state, warnings: read.state === 'unusable' ? [read.problem.message] : [] }
}
