import type { Capability } from '@meup/protocol'
import type { Config, SpaceEntry } from '../config/config.js'
import type { ConfigFile } from '../config/load.js'
import { asWritten } from '../config/origin.js'
import type { Path, Source } from '../config/source.js'
import { table } from './table.js'

/** What a configuration would run. */
export interface Summary {
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
export const participantsPath = ({ several }: Config, { config }: SpaceEntry): Path =>
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

export const wordsOf = (capability: Capability): string =>
  typeof capability === 'string' ? capability : JSON.stringify(capability)
