import { readFileSync } from 'node:fs'
import { LogError, type Logger } from '@meup/gateway'
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import {
  connect,
  credsAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
} from '@nats-io/transport-node'
import { streamTexts } from './errors.js'
import { asNatsError } from './nats-error.js'
import { retryUntilLeader } from './retry-until-leader.js'

export interface NatsOptions {
  /** For example `nats://127.0.0.1:4222`; one reachable server suffices to join the cluster. */
  readonly servers: readonly string[]
  /** Path of a credentials file, read at each connection; absent = none required. */
  readonly credentials?: string
  /** Number of servers that store each stream: 1, 3 or 5. */
  readonly replicas: number
}

/** The connection to the NATS servers, and the clients that use it. */
export interface Nats {
  readonly connection: NatsConnection
  readonly js: JetStreamClient
  readonly manager: JetStreamManager
  /** Like `manager`, with a timeout of `promptMs`, for requests that are repeated if they fail. */
  readonly prompt: JetStreamManager
  /** The key-value bucket with the leader of each space, the gateway that writes its log. */
  readonly owners: KV
  readonly replicas: number
  readonly contact: Contact
  readonly logger: Logger
}

/** Reachability of the servers. */
interface Contact {
  /** Since when no server is reachable, by `performance.now()`; `undefined` = a server is reachable. */
  awaySince: number | undefined
}

/** Timeout of a request to a server. */
export const requestMs = 2000
/** Timeout of a request for which a server need not access its disk. Short, because a leader that was killed never answers. */
export const promptMs = 700
const reconnectMs = 250
/** Sections of a credentials file. */
const sections = ['BEGIN NATS USER JWT', 'BEGIN USER NKEY SEED']
/** The first version with direct reads by subject. */
const oldestVersion = [2, 9] as const
/** The first version with `sync_interval: always`: write to the disk, then acknowledge. */
const syncVersion = [2, 10] as const

/** Connects, and checks version and account. Rejects with a `LogError`: `server` or `unavailable`. */
export async function connectNats(options: NatsOptions, logger: Logger): Promise<Nats> {
  const { servers, replicas } = options
  const doing = `connecting to ${servers.join(', ')}`
  let connection: NatsConnection | undefined
  try {
    connection = await dial(options, {
      name: 'meup gateway',
      maxReconnectAttempts: -1,
      reconnectTimeWait: reconnectMs,
      reconnectJitter: reconnectMs,
      pingInterval: requestMs,
      ignoreAuthErrorAbort: true,
      // Avoids two errors per request, which the client would create only for their stack traces.
      noAsyncTraces: true,
    })
    logDurability(checkVersion(connection), logger)
    const js = jetstream(connection, { timeout: requestMs })
    const manager = await jetstreamManager(connection, { timeout: requestMs, checkAPI: false })
    const [prompt, promptJs] = [
      await jetstreamManager(connection, { timeout: promptMs, checkAPI: false }),
      jetstream(connection, { timeout: promptMs }),
    ]
    const owners = await retryUntilLeader(doing, logger, async () => {
      await manager.getAccountInfo()
      await new Kvm(js).create('meup_owners', { replicas, history: 1 })
      return new Kvm(promptJs).open('meup_owners')
    })
    const contact: Contact = { awaySince: undefined }
    logStatus(connection, contact, logger).catch((err: unknown) =>
      logger.error({ err }, 'the state of the NATS connection cannot be followed'),
    )
    return { connection, js, manager, prompt, owners, replicas, contact, logger }
  } catch (error) {
    await connection?.close()
    throw asNatsError(error, doing)
  }
}

/** Connects without any checks. Rejects with the errors of the NATS client. */
export function dial(
  { servers, credentials }: Pick<NatsOptions, 'servers' | 'credentials'>,
  more: NodeConnectionOptions,
): Promise<NatsConnection> {
  return connect({
    servers: [...servers],
    ...more,
    ...(credentials !== undefined && {
      authenticator: credsAuthenticator(() => readCredentials(credentials)),
    }),
  })
}

function readCredentials(path: string): Uint8Array {
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (cause) {
    throw new LogError('server', streamTexts.credentials, { path, reason: String(cause) }, { cause })
  }
  if (sections.every((section) => bytes.includes(section))) return bytes
  const reason = "it lacks a user's JWT or the seed of its key, as nsc makes them"
  throw new LogError('server', streamTexts.credentials, { path, reason })
}

/** Returns the version of the server. Throws if it is too old or has no JetStream. */
export function checkVersion({ info }: NatsConnection): string {
  const version = info?.version ?? 'unknown'
  if (isOlder(version, oldestVersion))
    throw new LogError('server', streamTexts.oldServer, { version, oldest: oldestVersion.join('.') })
  if (info?.jetstream !== true) throw new LogError('server', streamTexts.noJetStream, {})
  return version
}

function logDurability(version: string, logger: Logger): void {
  const missing = isOlder(version, syncVersion)
    ? 'this version cannot write through to the disk (sync_interval: always needs 2.10)'
    : 'unless the servers have sync_interval: always, which a client cannot see, they write to the disk later'
  logger.info(
    { version, durability: 'process' },
    `connected to NATS; acknowledged envelopes survive the end of processes, but not a power loss of most servers: ${missing}`,
  )
}

function isOlder(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  return ownMajor < major || (ownMajor === major && ownMinor < minor)
}

/** Logs when the connection is lost, restored or refused. */
async function logStatus(connection: NatsConnection, contact: Contact, logger: Logger): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === 'disconnect') {
      contact.awaySince ??= performance.now()
      logger.warn({ server: status.server }, 'the NATS server is away')
    }
    if (status.type === 'reconnect') {
      contact.awaySince = undefined
      logger.info({ server: status.server }, 'connected to NATS again')
      try {
        checkVersion(connection)
      } catch (err) {
        logger.error({ err }, err instanceof LogError ? err.message : 'the NATS server cannot be used')
      }
    }
    if (status.type === 'error') {
      const refusal = asNatsError(status.error, 'while it was connected')
      const what = refusal.code === 'server' ? refusal.message : 'the NATS server refused something'
      logger.error({ err: status.error }, what)
    }
  }
}
