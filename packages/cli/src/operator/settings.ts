import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { formatCapability } from '@meup/folds'
import type { Capability, Rate } from '@meup/protocol'
import type { Config, SpaceEntry } from '../config/config.js'
import type { ConfigFile } from '../config/load.js'
import { readSecrets } from '../config/secrets.js'
import { formatStorage } from '../config/storage.js'
import { findYamlOrigin, readWrittenText, type YamlPath, type YamlSource } from '../config/yaml-source.js'
import type { ConnectionFlags } from '../lib/connection.js'
import { formatTable } from '../lib/output.js'
import { formatAddress } from '../lib/ports.js'
import type { GatewayFile } from '../lib/running-gateway.js'

/** An effective setting and its origin. */
export interface Setting {
  readonly name: string
  readonly value: string
  readonly from: string
}

/** Lists all settings of a configuration, including defaults; omits secrets. */
export function listSettings(file: ConfigFile, env: NodeJS.ProcessEnv): Setting[] {
  const { config } = file
  const { gateway, storage, auth } = config
  const say = (path: YamlPath, value: unknown, from = formatOrigin(file, path, env)): Setting => {
    return { name: path.join('.'), value: String(value), from }
  }
  return [
    say(['gateway', 'listen'], formatListen(config)),
    say(['gateway', 'origins'], gateway.origins.join(' ') || 'none'),
    say(['gateway', 'hosts'], gateway.hosts.join(' ') || 'none'),
    say(['gateway', 'trustProxy'], gateway.trustProxy),
    say(['storage', 'kind'], storage.kind),
    ...Object.entries(storage).flatMap(([key, value]) =>
      key === 'kind' ? [] : [say(['storage', key], [value].flat().join(' '))],
    ),
    ...(auth.jwt === undefined
      ? [say(['auth'], 'tokens in files alone')]
      : Object.entries(auth.jwt).map(([key, value]) => say(['auth', 'jwt', key], value))),
    ...config.spaces.flatMap((entry) => spaceSettings(file, entry, say)),
  ]
}

type Say = (path: YamlPath, value: unknown, from?: string) => Setting

function spaceSettings(file: ConfigFile, entry: SpaceEntry, say: Say): Setting[] {
  const { name, limits, reasoning, safety, mcp, retention, guest } = entry.config
  const { rates, ...sizes } = limits
  const root = file.config.several ? ['spaces', name] : []
  return [
    file.config.several ? say(root, name) : say(['space'], name),
    say([...root, 'retention', 'days'], retention.days || 'kept'),
    ...Object.entries(sizes).map(([key, value]) => say([...root, 'limits', key], value)),
    ...rateSettings([...root, 'limits', 'rates'], rates, say),
    say([...root, 'reasoning', 'collaborative'], reasoning.collaborative),
    say([...root, 'reasoning', 'abandonAfter'], `${reasoning.abandonAfterMs / 1000}s`),
    say([...root, 'safety', 'onLeak'], safety.onLeak),
    say([...root, 'safety', 'maxLength'], safety.maxLength),
    say([...root, 'safety', 'policy'], getNames(safety.policy)),
    say([...root, 'safety', 'rules'], getNames(safety.rules)),
    say([...root, 'mcp', 'visibility'], mcp.visibility),
    say([...root, 'guest'], guest === undefined ? 'none' : formatCapabilityList(guest.capabilities)),
    ...Object.keys(entry.config.participants).flatMap((id) => participantSettings(file, entry, id, say)),
  ]
}

function participantSettings(file: ConfigFile, entry: SpaceEntry, id: string, say: Say): Setting[] {
  const { source, config } = file
  const { kind, capabilities, rates } = entry.config.participants[id] ?? { kind: '', capabilities: [] }
  const program = entry.programs[id]
  const path = [...participantsPath(config, entry), id]
  const usual = [...participantsPath(config, entry).slice(0, -1), 'defaults', 'capabilities']
  const isUsual =
    findYamlOrigin(source, [...path, 'capabilities']) === undefined && kind !== 'mcp' && kind !== 'acp'
  const written = (key: string): Setting[] =>
    findYamlOrigin(source, [...path, key]) === undefined
      ? []
      : [say([...path, key], readWrittenText(source, [...path, key]))]
  return [
    say([...path, 'kind'], kind),
    {
      ...say(isUsual ? usual : [...path, 'capabilities'], formatCapabilityList(capabilities)),
      name: [...path, 'capabilities'].join('.'),
    },
    ...(rates ? rateSettings([...path, 'limits', 'rates'], rates, say) : []),
    ...(program?.kind === 'mcp' && program.callMs !== undefined
      ? [say([...path, 'limits', 'callMs'], String(program.callMs))]
      : []),
    ...['agent', 'command', 'args', 'url', 'cwd', 'mode', 'sessions', 'unasked'].flatMap(written),
    ...(program !== undefined && 'env' in program && Object.keys(program.env).length > 0
      ? [say([...path, 'env'], Object.keys(program.env).join(' '))]
      : []),
    ...(program?.kind === 'process' ? [say([...path, 'restart'], program.restart)] : []),
  ]
}

const rateSettings = (path: YamlPath, rates: Readonly<Record<string, Rate>>, say: Say): Setting[] =>
  Object.entries(rates).map(([rateClass, { perSecond, burst }]) =>
    say([...path, rateClass], `${perSecond} per second, burst ${burst}`),
  )

const getNames = (rules: readonly { readonly name: string }[]) =>
  rules.map(({ name }) => name).join(' ') || 'none'

const formatCapabilityList = (
  capabilities: Parameters<typeof formatCapability>[0][] | readonly Parameters<typeof formatCapability>[0][],
) => capabilities.map(formatCapability).join(' ') || 'none'

function formatOrigin({ config, source }: ConfigFile, path: YamlPath, env: NodeJS.ProcessEnv): string {
  const origin = findYamlOrigin(source, path)
  if (origin === undefined) return 'default'
  const secrets = readSecrets(config.directory)
  const variables = origin.variables.map((name) => {
    if (env[name] !== undefined) return `environment ${name}`
    return name in secrets ? `.meup/secrets/${name}` : `${name} is not set`
  })
  return [`${basename(config.file)}:${origin.line}`, ...variables].join(', ')
}

/** Summary of a configuration, for `meup space validate`. */
interface Summary {
  readonly listen: string
  readonly storage: string
  readonly spaces: readonly {
    readonly name: string
    readonly participants: readonly ParticipantSummary[]
  }[]
}

interface ParticipantSummary {
  readonly id: string
  readonly kind: string
  readonly capabilities: readonly Capability[]
  /** The command line or URL as written in the file; absent if the participant has no program. */
  readonly runs?: string
}

export function summarizeConfig({ config, source }: ConfigFile): Summary {
  return {
    listen: formatListen(config),
    storage: formatStorage(config.storage),
    spaces: config.spaces.map((entry) => ({
      name: entry.config.name,
      participants: summarizeParticipants(entry, source, participantsPath(config, entry)),
    })),
  }
}

function summarizeParticipants(
  { config, programs }: SpaceEntry,
  source: YamlSource,
  path: YamlPath,
): ParticipantSummary[] {
  return Object.entries(config.participants).map(([id, { kind, capabilities }]) => {
    const words = ['command', 'args', 'url'].map((key) => readWrittenText(source, [...path, id, key]))
    return { id, kind, capabilities, ...(programs[id] && { runs: words.join(' ').trim() }) }
  })
}

export function summaryLines(path: string, { listen, storage, spaces }: Summary, warnings: number): string[] {
  const participants = spaces.flatMap((space) => {
    const rows = space.participants.map(({ id, kind, capabilities, runs }) => {
      return [
        `  ${id}`,
        kind,
        capabilities.map(formatCapability).join(' '),
        runs === undefined ? '' : `runs ${runs}`,
      ]
    })
    return [`space ${space.name}`, ...formatTable(rows)]
  })
  const verdict =
    warnings === 0
      ? `✓ ${path} has no mistakes`
      : `! ${path} is valid, but has ${warnings === 1 ? '1 warning' : `${warnings} warnings`}; they follow`
  return [verdict, `listens on ${listen}`, `log in ${storage}`, ...participants]
}

/** Path of a space's participants in the file. */
const participantsPath = ({ several }: Config, { config }: SpaceEntry): YamlPath =>
  several ? ['spaces', config.name, 'participants'] : ['participants']

export const formatListen = ({ gateway }: Config): string => formatAddress(gateway)

/** A value and its origin. */
export interface Sourced {
  /** Absent if not set. */
  readonly value?: string
  readonly from: string
}

/** The gateway, space and participant that a command would use. */
export interface Address {
  readonly url: Sourced
  readonly space: Sourced
  /** The participant to act as; without a value, commands act as the owner of the token. */
  readonly participant: Sourced
  readonly token: Sourced
}

/** Resolves the address from flags, environment and running gateway, in this order, like every command. */
export function resolveAddress(
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
  const file = findTokenFile(directory, space.value, participant.value)
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

/** Path of the token file: in the folder of its space if that exists. */
function findTokenFile(directory: string, space = '', participant?: string): string | undefined {
  if (participant === undefined) return undefined
  const tokens = join(directory, '.meup', 'tokens')
  const own = statSync(join(tokens, space), { throwIfNoEntry: false })?.isDirectory()
  return own ? join(tokens, space, participant) : join(tokens, participant)
}

const readIfThere = (file: string | undefined): string | undefined =>
  file !== undefined && existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
