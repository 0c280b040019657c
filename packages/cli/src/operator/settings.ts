import { basename } from 'node:path'
import type { Capability, Rate } from '@meup/protocol'
import type { Config, SpaceEntry } from '../config/config.js'
import type { ConfigFile } from '../config/load.js'
import { asWritten, originOf, type Path, type Source } from '../config/yaml-source.js'
import { wordsOf } from '../lib/capabilities.js'
import { table } from '../lib/output.js'

/** A setting as it counts, and where it comes from. */
export interface Setting {
  readonly name: string
  readonly value: string
  readonly from: string
}

/** Every setting of a configuration, those that the file leaves out as well. No secret is among the values. */
export function settingsOf(file: ConfigFile, env: NodeJS.ProcessEnv): Setting[] {
  const { config } = file
  const { gateway, storage, auth } = config
  const say = (path: Path, value: unknown, from = placeOf(file, path, env)): Setting => {
    return { name: path.join('.'), value: String(value), from }
  }
  return [
    say(['gateway', 'listen'], listenOf(config)),
    say(['gateway', 'origins'], gateway.origins.join(' ') || 'none'),
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

type Say = (path: Path, value: unknown, from?: string) => Setting

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
    say([...root, 'safety', 'policy'], namesOf(safety.policy)),
    say([...root, 'safety', 'rules'], namesOf(safety.rules)),
    say([...root, 'mcp', 'visibility'], mcp.visibility),
    say([...root, 'guest'], guest === undefined ? 'none' : listOf(guest.capabilities)),
    ...Object.keys(entry.config.participants).flatMap((id) => participantSettings(file, entry, id, say)),
  ]
}

function participantSettings(file: ConfigFile, entry: SpaceEntry, id: string, say: Say): Setting[] {
  const { source, config } = file
  const { kind, capabilities, rates } = entry.config.participants[id] ?? { kind: '', capabilities: [] }
  const program = entry.programs[id]
  const path = [...participantsPath(config, entry), id]
  const usual = [...participantsPath(config, entry).slice(0, -1), 'defaults', 'capabilities']
  const isUsual = originOf(source, [...path, 'capabilities']) === undefined && kind !== 'mcp'
  const written = (key: string): Setting[] =>
    originOf(source, [...path, key]) === undefined
      ? []
      : [say([...path, key], asWritten(source, [...path, key]))]
  return [
    say([...path, 'kind'], kind),
    {
      ...say(isUsual ? usual : [...path, 'capabilities'], listOf(capabilities)),
      name: [...path, 'capabilities'].join('.'),
    },
    ...(rates ? rateSettings([...path, 'limits', 'rates'], rates, say) : []),
    ...['command', 'args', 'url'].flatMap(written),
    ...(program !== undefined && 'env' in program && Object.keys(program.env).length > 0
      ? [say([...path, 'env'], Object.keys(program.env).join(' '))]
      : []),
    ...(program?.kind === 'process' ? [say([...path, 'restart'], program.restart)] : []),
  ]
}

const rateSettings = (path: Path, rates: Readonly<Record<string, Rate>>, say: Say): Setting[] =>
  Object.entries(rates).map(([rateClass, { perSecond, burst }]) =>
    say([...path, rateClass], `${perSecond} per second, burst ${burst}`),
  )

const namesOf = (rules: readonly { readonly name: string }[]) =>
  rules.map(({ name }) => name).join(' ') || 'none'

const listOf = (capabilities: Parameters<typeof wordsOf>[0][] | readonly Parameters<typeof wordsOf>[0][]) =>
  capabilities.map(wordsOf).join(' ') || 'none'

function placeOf({ config, source }: ConfigFile, path: Path, env: NodeJS.ProcessEnv): string {
  const origin = originOf(source, path)
  if (origin === undefined) return 'default'
  const variables = origin.variables.map((name) =>
    env[name] === undefined ? `${name} is not set` : `environment ${name}`,
  )
  return [`${basename(config.file)}:${origin.line}`, ...variables].join(', ')
}

/** What a configuration would run. */
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
  /** The command line or the address as the file has it; absent = nothing is run. */
  readonly runs?: string
}

export function summaryOf({ config, source }: ConfigFile): Summary {
  return {
    listen: listenOf(config),
    storage: storageOf(config),
    spaces: config.spaces.map((entry) => ({
      name: entry.config.name,
      participants: participantsOf(entry, source, participantsPath(config, entry)),
    })),
  }
}

function participantsOf({ config, programs }: SpaceEntry, source: Source, path: Path): ParticipantSummary[] {
  return Object.entries(config.participants).map(([id, { kind, capabilities }]) => {
    const words = ['command', 'args', 'url'].map((key) => asWritten(source, [...path, id, key]))
    return { id, kind, capabilities, ...(programs[id] && { runs: words.join(' ').trim() }) }
  })
}

export function summaryLines(path: string, { listen, storage, spaces }: Summary): string[] {
  const participants = spaces.flatMap((space) => {
    const rows = space.participants.map(({ id, kind, capabilities, runs }) => {
      return [`  ${id}`, kind, capabilities.map(wordsOf).join(' '), runs === undefined ? '' : `runs ${runs}`]
    })
    return [`space ${space.name}`, ...table(rows)]
  })
  return [`✓ ${path} has no mistakes`, `listens on ${listen}`, `log in ${storage}`, ...participants]
}

/** Where the file has the participants of a space. */
const participantsPath = ({ several }: Config, { config }: SpaceEntry): Path =>
  several ? ['spaces', config.name, 'participants'] : ['participants']

export const listenOf = ({ gateway: { host, port } }: Config): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`

function storageOf({ storage }: Config): string {
  switch (storage.kind) {
    case 'memory':
      return storage.kind
    case 'sqlite':
      return `${storage.path} (sqlite, ${storage.durability})`
    case 'jetstream': {
      const { servers, replicas, path } = storage
      return `JetStream at ${servers.join(', ')} (replicas: ${replicas}), read from ${path}`
    }
  }
}
