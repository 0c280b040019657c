import { dirname, resolve } from 'node:path'
import { type Check, fail, pass } from '../config/check.js'
import { ConfigError } from '../config/config-error.js'
import { type ConfigFile, readConfig } from '../config/load.js'
import { checkStorage, logPath } from '../config/storage.js'
import { exitCodes } from '../failure/exit-codes.js'
import type { JsonOf } from '../json-outputs.js'
import type { ConnectionFlags } from '../lib/connection.js'
import { withListen } from '../lib/options.js'
import { formatTable, print, printJson } from '../lib/output.js'
import { findGateway, findGatewayProcess, readGatewayFile } from '../lib/running-gateway.js'
import {
  clockCheck,
  diskCheck,
  gatewayChecks,
  logCheck,
  modeChecks,
  nodeCheck,
  portCheck,
  programChecks,
  tokenChecks,
} from './checks.js'
import { type Address, listSettings, resolveAddress, type Setting, type Sourced } from './settings.js'

export interface DoctorFlags extends ConnectionFlags {
  /** Default: `space.yaml`. */
  readonly config?: string
  readonly listen?: string
}

/** `meup doctor`: prints the effective settings with their origins, then the checks with advice. */
export async function doctor(flags: DoctorFlags): Promise<void> {
  const path = flags.config ?? 'space.yaml'
  const directory = dirname(resolve(path))
  const file = read(path, flags.listen)
  const address = resolveAddress(flags, process.env, readGatewayFile(directory), directory)
  const settings = [
    say('config', resolve(path), flags.config === undefined ? 'default' : 'flag --config'),
    ...('source' in file ? configSettings(file, flags.listen) : []),
    ...addressSettings(address),
  ]
  const checks = await examine(file, address, directory)
  const ok = checks.every((check) => check.ok)
  if (flags.json) printJson<JsonOf<'doctor'>>({ ok, settings, checks })
  else for (const line of [...settingLines(settings), '', ...checkLines(checks)]) print(line)
  if (!ok) process.exitCode = exitCodes.error
}

/** Reads the configuration; returns its mistakes instead if it has any. */
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
  const [running, live] = [await findGateway(directory), findGatewayProcess(directory)]
  const { checks, time: present } = await gatewayChecks(address, readGatewayFile(directory), live)
  const node = nodeCheck(process.versions.node)
  if (file instanceof ConfigError) {
    const mistakes = file.message.split('\n').map((line) => fail('config', line, 'correct the file'))
    const clock = clockCheck(Date.now(), { present, past: undefined })
    return [node, ...mistakes, ...modeChecks(directory, undefined), ...checks, clock]
  }
  const { config } = file
  const log = logCheck(config, live)
  const logFile = logPath(config.storage)
  const spaces = config.spaces.map((space) => space.config.name)
  return [
    node,
    pass('config', 'has no mistakes'),
    ...modeChecks(directory, logFile),
    await portCheck(config, running, live),
    log.check,
    ...(logFile === undefined ? [] : [diskCheck(logFile)]),
    ...(await checkStorage(config.storage, spaces)),
    ...programChecks(config),
    ...tokenChecks(config, running !== undefined),
    ...checks,
    clockCheck(Date.now(), { present, past: log.newest }),
  ]
}

function configSettings(file: ConfigFile, listen: string | undefined): Setting[] {
  return listSettings(file, process.env).map((setting) =>
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
    say('commands act as', participant.value ?? 'the owner of the token', participant.from),
    say('with the token', token.value === undefined ? 'none' : '(hidden)', token.from),
  ]
}

const say = (name: string, value: string, from: string): Setting => ({ name, value, from })

const settingLines = (settings: readonly Setting[]): string[] =>
  formatTable(settings.map(({ name, value, from }) => [name, value, from]))

const checkLines = (checks: readonly Check[]): string[] =>
  checks.flatMap(({ name, ok, detail, advice }) => [
    `${ok ? '✓' : '✗'} ${name}: ${detail}`,
    ...(advice === undefined ? [] : [`  → ${advice}`]),
  ])
