import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ConfigError } from '../config/config-error.js'
import { type ConfigFile, readConfig } from '../config/load.js'
import type { ConnectionFlags } from '../lib/connection.js'
import { exitCodes } from '../lib/exit.js'
import { withListen } from '../lib/options.js'
import { print, table } from '../lib/output.js'
import { findGateway, type GatewayFile, readGatewayFile } from '../lib/running-gateway.js'
import {
  type Check,
  clockCheck,
  fail,
  gatewayChecks,
  logCheck,
  modeChecks,
  natsChecks,
  nodeCheck,
  pass,
  portCheck,
  programChecks,
  tokenChecks,
} from './checks.js'
import { type Setting, settingsOf } from './settings.js'

export interface DoctorFlags extends ConnectionFlags {
  /** Absent = the default. */
  readonly config?: string
  readonly listen?: string
}

/** `meup doctor`: what counts and why, then what is wrong and what to do. */
export async function doctor(flags: DoctorFlags): Promise<void> {
  const path = flags.config ?? 'space.yaml'
  const directory = dirname(resolve(path))
  const file = read(path, flags.listen)
  const address = addressOf(flags, process.env, readGatewayFile(directory), directory)
  const settings = [
    say('config', resolve(path), flags.config === undefined ? 'default' : 'flag --config'),
    ...('source' in file ? configSettings(file, flags.listen) : []),
    ...addressSettings(address),
  ]
  const checks = await examine(file, address, directory)
  const ok = checks.every((check) => check.ok)
  if (flags.json) print(JSON.stringify({ ok, settings, checks }))
  else for (const line of [...settingLines(settings), '', ...checkLines(checks)]) print(line)
  if (!ok) process.exitCode = exitCodes.error
}

/** The configuration, or the mistakes in it. */
function read(path: string, listen: string | undefined): ConfigFile | ConfigError {
  try {
    const file = readConfig(path)
    return { ...file, config: withListen(file.config, listen) }
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
}

async function examine(
  file: ConfigFile | ConfigError,
  address: Address,
  directory: string,
): Promise<Check[]> {
  const running = await findGateway(directory)
  const { checks, time: present } = await gatewayChecks(address, readGatewayFile(directory))
  const node = nodeCheck(process.versions.node)
  if (file instanceof ConfigError) {
    const mistakes = file.message.split('\n').map((line) => fail('config', line, 'correct the file'))
    const clock = clockCheck(Date.now(), { present, past: undefined })
    return [node, ...mistakes, ...modeChecks(directory, undefined), ...checks, clock]
  }
  const { config } = file
  const log = logCheck(config, running)
  const logFile = config.storage.kind === 'memory' ? undefined : config.storage.path
  return [
    node,
    pass('config', 'has no mistakes'),
    ...modeChecks(directory, logFile),
    await portCheck(config, running),
    log.check,
    ...(await natsChecks(config)),
    ...programChecks(config),
    ...tokenChecks(config, running !== undefined),
    ...checks,
    clockCheck(Date.now(), { present, past: log.newest }),
  ]
}

function configSettings(file: ConfigFile, listen: string | undefined): Setting[] {
  return settingsOf(file, process.env).map((setting) =>
    listen !== undefined && setting.name === 'gateway.listen'
      ? { ...setting, from: 'flag --listen' }
      : setting,
  )
}

function addressSettings({ url, space, participant, token }: Address): Setting[] {
  const shown = ({ value }: Sourced): string => value ?? 'none'
  return [
    say('commands go to', shown(url), url.from),
    say('commands enter', shown(space), space.from),
    say('commands act as', participant.value ?? 'whoever has the token', participant.from),
    say('with the token', token.value === undefined ? 'none' : '(hidden)', token.from),
  ]
}

const say = (name: string, value: string, from: string): Setting => ({ name, value, from })

const settingLines = (settings: readonly Setting[]): string[] =>
  table(settings.map(({ name, value, from }) => [name, value, from]))

const checkLines = (checks: readonly Check[]): string[] =>
  checks.flatMap(({ name, ok, detail, advice }) => [
    `${ok ? '✓' : '✗'} ${name}: ${detail}`,
    ...(advice === undefined ? [] : [`  → ${advice}`]),
  ])

/** A value, and where it comes from. */
interface Sourced {
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
