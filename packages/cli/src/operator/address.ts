import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ConnectionFlags } from '../connection.js'
import type { GatewayFile } from '../run/gateway-file.js'

/** A value, and where it comes from. */
export interface Sourced {
  /** Absent = nothing says it. */
  readonly value?: string
  readonly from: string
}

/** Where a command would go, and as whom. */
export interface Address {
  readonly url: Sourced
  readonly space: Sourced
  /** Absent = whoever the token is of. */
  readonly participant: Sourced
  readonly token: Sourced
}

/** Follows the flags, the environment and the running gateway in the order in which every command does. */
export function addressOf(
  flags: ConnectionFlags,
  env: NodeJS.ProcessEnv,
  running: GatewayFile | undefined,
  directory: string,
): Address {
  const here = '.meup/gateway.json'
  const url = first([
    [flags.url, 'flag --url'],
    [env.MEUP_URL, 'environment MEUP_URL'],
    [running?.url, here],
  ])
  const space = first([
    [flags.space, 'flag --space'],
    [env.MEUP_SPACE, 'environment MEUP_SPACE'],
    [running?.spaces[0], here],
  ])
  const given = flags.tokenFile !== undefined || env.MEUP_TOKEN !== undefined
  const participant = first([
    [flags.as, 'flag --as'],
    [env.MEUP_PARTICIPANT, 'environment MEUP_PARTICIPANT'],
    [given ? undefined : running?.people[space.value ?? '']?.[0], `${here}: the first person`],
  ])
  const file = tokenFileOf(directory, space.value, participant.value)
  const token = first([
    [readIfThere(flags.tokenFile), `flag --token-file ${flags.tokenFile ?? ''}`],
    [flags.as === undefined ? env.MEUP_TOKEN : undefined, 'environment MEUP_TOKEN'],
    [readIfThere(file), file ?? ''],
  ])
  return { url, space, participant, token }
}

function first(candidates: readonly (readonly [value: string | undefined, from: string])[]): Sourced {
  const [value, from = 'nothing says it'] = candidates.find(([candidate]) => candidate !== undefined) ?? []
  return value === undefined ? { from } : { value, from }
}

/** Tokens of several spaces lie in a folder each. */
function tokenFileOf(directory: string, space = '', participant?: string): string | undefined {
  if (participant === undefined) return undefined
  const tokens = join(directory, '.meup', 'tokens')
  const own = statSync(join(tokens, space), { throwIfNoEntry: false })?.isDirectory()
  return own ? join(tokens, space, participant) : join(tokens, participant)
}

const readIfThere = (file: string | undefined): string | undefined =>
  file !== undefined && existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
