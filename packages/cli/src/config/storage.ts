import { resolve } from 'node:path'
import type { Logger, LogStore } from '@meup/gateway'
import type { JetStreamReport } from '@meup/jetstream'
import { type Static, type TObject, Type } from '@sinclair/typebox'
import { type Check, fail, pass } from './check.js'
import { byKind, map, oneOf, word } from './shapes.js'

/** A storage backend: its settings in `space.yaml`, and functions that load the implementation on demand. */
interface Backend<Schema extends TObject, Settings> {
  readonly schema: Schema
  /** Fills in the defaults; paths become absolute. */
  settings(file: Static<Schema>, directory: string): Settings
  /** Describes the settings, for `meup space validate` and `meup doctor`. */
  format(settings: Settings): string
  load(settings: Settings, logger: Logger): Promise<() => Promise<LogStore>>
  /** Checks of `meup doctor`, in addition to those of the file at `path`. */
  check?(settings: Settings, spaces: readonly string[]): Promise<Check[]>
}

const backend = <Schema extends TObject, Settings>(parts: Backend<Schema, Settings>) => parts

const memory = backend({
  schema: map({ kind: oneOf('memory') }),
  settings: ({ kind }) => ({ kind }),
  format: ({ kind }) => kind,
  async load() {
    const { memoryStore } = await import('@meup/gateway/server')
    return async () => memoryStore()
  },
})

const sqlite = backend({
  schema: map({
    kind: oneOf('sqlite'),
    path: Type.Optional(word),
    durability: Type.Optional(oneOf('process', 'power')),
  }),
  settings: ({ kind, path = '.meup/space.db', durability = 'process' }, directory) => ({
    kind,
    path: resolve(directory, path),
    durability,
  }),
  format: ({ path, durability }) => `${path} (sqlite, ${durability})`,
  async load(settings) {
    const { sqliteStore } = await import('@meup/gateway/sqlite')
    return () => sqliteStore(settings)
  },
})

const server = Type.String({
  pattern: '^(nats|tls)://[^/\\s@]+$',
  description: 'an address such as nats://127.0.0.1:4222; credentials belong in a file',
})

/** A replicated log on NATS JetStream; `path` is the file of the local replica. */
const jetstream = backend({
  schema: map({
    kind: oneOf('jetstream'),
    servers: Type.Array(server, { minItems: 1, description: 'a list of one address or more' }),
    replicas: Type.Optional(
      Type.Union([Type.Literal(1), Type.Literal(3), Type.Literal(5)], { description: '1, 3 or 5' }),
    ),
    credentials: Type.Optional(word),
    path: Type.Optional(word),
  }),
  settings: ({ kind, servers, replicas = 1, credentials, path = '.meup/replica.db' }, directory) => ({
    kind,
    servers,
    replicas,
    ...(credentials !== undefined && { credentials: resolve(directory, credentials) }),
    path: resolve(directory, path),
  }),
  format: ({ servers, replicas, path }) =>
    `JetStream at ${servers.join(', ')} (replicas: ${replicas}), read from ${path}`,
  async load(settings, logger) {
    const { jetstreamStore } = await import('@meup/jetstream')
    return () => jetstreamStore({ ...settings, logger })
  },
  async check(settings, spaces) {
    const { inspectJetStream } = await import('@meup/jetstream')
    const { servers, streams } = await inspectJetStream(settings, spaces)
    return [...servers.map(checkServer), ...streams.map((stream) => checkStream(stream, settings.replicas))]
  },
})

function checkServer({ server, found }: JetStreamReport['servers'][number]): Check {
  if (typeof found === 'string') return pass('nats', `${server} answers (version ${found}, with JetStream)`)
  // Messages of errors other than `unavailable` contain their remedy.
  const advice =
    found.code === 'unavailable' ? 'is it running, and is this its address? (storage.servers)' : 'see above'
  return fail('nats', found.message, advice)
}

function checkStream({ stream, spaces, found }: JetStreamReport['streams'][number], replicas: number): Check {
  const kept = `${stream} (${spaces.join(', ')})`
  if (found === undefined) return pass('stream', `${kept} is made at the first start`)
  if (found instanceof Error) return fail('stream', found.message, 'see above')
  const { leader, current, behind } = found
  if (replicas === 1) return pass('stream', `${kept} is there`)
  const whole = 1 + current.length
  if (leader === '') {
    return fail('stream', `${kept} has no leader`, 'see that most of its servers run and reach each other')
  }
  const detail = `${kept} is led by ${leader}; ${whole} of ${replicas} servers have everything`
  if (whole >= replicas) return pass('stream', detail)
  return fail(
    'stream',
    `${detail}, but not ${behind.join(', ')}`,
    'see that these servers run, and reach the others',
  )
}

/** All backends, by `storage.kind`. */
const backends = { memory, sqlite, jetstream }
type Backends = typeof backends
type StorageKind = keyof Backends

export type StorageSettings = { [Kind in StorageKind]: ReturnType<Backends[Kind]['settings']> }[StorageKind]
type FileStorage = { [Kind in StorageKind]: Static<Backends[Kind]['schema']> }[StorageKind]

const kinds = Object.keys(backends)
export const storage = byKind(
  `${kinds.slice(0, -1).join(', ')} or ${kinds.at(-1)}`,
  Object.values(backends).map(({ schema }) => schema) as [Backends[StorageKind]['schema']],
)

/** Type assertion: settings are only passed to the backend of their own kind. */
const backendOf = ({ kind }: { kind: StorageKind }) =>
  backends[kind] as unknown as Omit<Backend<TObject, StorageSettings>, 'settings'> & {
    settings(file: FileStorage, directory: string): StorageSettings
  }

export const toStorage = (file: FileStorage, directory: string): StorageSettings =>
  backendOf(file).settings(file, directory)

export const formatStorage = (settings: StorageSettings): string => backendOf(settings).format(settings)

/** Loads the backend; the returned function opens the store. */
export const loadBackend = (settings: StorageSettings, logger: Logger): Promise<() => Promise<LogStore>> =>
  backendOf(settings).load(settings, logger)

export const checkStorage = async (settings: StorageSettings, spaces: readonly string[]): Promise<Check[]> =>
  (await backendOf(settings).check?.(settings, spaces)) ?? []

/** Path of the log, or of its local replica; `undefined` if the log is in memory. */
export const logPath = (settings: StorageSettings): string | undefined =>
  'path' in settings ? settings.path : undefined
