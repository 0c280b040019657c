import { relative, resolve } from 'node:path'
import type { Config } from '../config/config.js'
import { loadConfig } from '../config/load.js'
import { print, tell } from '../output.js'
import { type ChangedToken, changeTokens, type TokenVerb } from './change-token.js'
import { table } from './table.js'
import { tellGateway } from './tell-gateway.js'
import { type TokenEntry, tokenEntries } from './token-entries.js'

export interface TokenFlags {
  readonly config: string
  readonly space?: string
  readonly json?: boolean
  readonly show?: boolean
}

/** `meup token list` */
export function listTokens(participant: string | undefined, flags: TokenFlags): void {
  const entries = tokenEntries(loadConfig(resolve(flags.config)), selectionOf(participant, flags))
  if (flags.json) return void print(JSON.stringify({ tokens: entries }))
  const several = new Set(entries.map(({ space }) => space)).size > 1
  const rows = entries.map(({ space, participant, kind, state, file }) => {
    return [...(several ? [space] : []), participant, kind, state, shortPath(file)]
  })
  for (const line of table(rows)) print(line)
  for (const warning of entries.flatMap(({ warnings }) => warnings)) tell(`✗ ${warning}`)
}

/** `meup token create`, `rotate` and `revoke`: changes the files, then has the gateway that runs here follow. */
export async function runTokenChange(
  verb: TokenVerb,
  participant: string | undefined,
  flags: TokenFlags,
): Promise<void> {
  const config = loadConfig(resolve(flags.config))
  const changed = changeTokens(config, verb, selectionOf(participant, flags))
  const gateway = await announce(config, changed)
  if (flags.json) print(JSON.stringify({ tokens: changed.map((each) => jsonOf(each, flags)), gateway }))
  else {
    for (const each of changed) print(lineOf(each, verb, flags))
    tell(changed.length === 0 ? 'everybody has a token already' : remarks[gateway])
  }
  if (gateway === 'silent') process.exitCode = 1
}

const remarks = {
  none: 'no gateway runs here; it counts from the next start',
  applied: 'the running gateway has taken it over',
  silent: 'the running gateway does not follow: look at what it says, or start it again',
}

async function announce(config: Config, changed: readonly ChangedToken[]): Promise<keyof typeof remarks> {
  const spaces = [...new Set(changed.map(({ entry }) => entry.space))]
  const outcomes = await Promise.all(
    spaces.map((space) => {
      const ofSpace = changed.filter(({ entry }) => entry.space === space)
      const opens = ofSpace.flatMap(({ after }) => after ?? [])
      const shuts = ofSpace.flatMap(({ before }) => before ?? [])
      return tellGateway(config.directory, { space, opens, shuts })
    }),
  )
  return outcomes.find((outcome) => outcome !== 'applied') ?? 'applied'
}

const selectionOf = (participant: string | undefined, { space }: TokenFlags) => ({
  ...(participant !== undefined && { participant }),
  ...(space !== undefined && { space }),
})

const jsonOf = ({ entry, after }: ChangedToken, { show }: TokenFlags): TokenEntry & { token?: string } => ({
  ...entry,
  ...(show && after !== undefined && { token: after }),
})

const done: Record<TokenVerb, string> = { create: 'made', rotate: 'replaced', revoke: 'revoked' }

function lineOf({ entry, after }: ChangedToken, verb: TokenVerb, { show }: TokenFlags): string {
  if (show && after !== undefined) return after
  return `${entry.participant}: ${done[verb]} · ${shortPath(entry.file)}`
}

const shortPath = (file: string): string => {
  const path = relative(process.cwd(), file)
  return path.startsWith('..') ? file : path
}
