import { readFileSync } from 'node:fs'
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import type { KV } from '@nats-io/kv'
import type { NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node'
import { LogError } from '../../log/error.js'
import type { Logger } from '../../ports/logger.js'
import { asNatsError } from './failure.js'
import { retryUntilLeader } from './retry-until-leader.js'

export interface NatsOptions {
  /** Such as `nats://127.0.0.1:4222`; any of them leads to the cluster. */
  readonly servers: readonly string[]
  /** Path of a credentials file, which is read again at each connection; absent = none are asked for. */
  readonly credentials?: string
  /** On how many servers everything is stored: 1, 3 or 5. */
  readonly replicas: number
}

/** The connection and what is done over it. */
export interface Nats {
  readonly connection: NatsConnection
  readonly js: JetStreamClient
  readonly manager: JetStreamManager
  /** The same, for questions that are answered at once or asked again: `promptMs`. */
  readonly prompt: JetStreamManager
  /** Who sequences which space. */
  readonly owners: KV
  readonly replicas: number
  readonly contact: Contact
}

/** Whether a server is there. */
interface Contact {
  /** Since when there has been none: milliseconds of `performance.now()`. */
  awaySince: number | undefined
}

/** For one answer of a server, in milliseconds. */
export const requestMs = 2000
/** As long as a server may take that has nothing to wait for. A leader that was killed never answers. */
export const promptMs = 700
const reconnectMs = 250
/** What a file of credentials has. */
const parts = ['BEGIN NATS USER JWT', 'BEGIN USER NKEY SEED']
/** The oldest that can read a stream directly, by subject. */
const oldest = [2, 9] as const
/** From here on a server can write through to its disk before it acknowledges. */
const writesThrough = [2, 10] as const

/** The client is loaded here: who keeps logs elsewhere does not pay for it. Rejects with `server` or `unavailable`. */
export async function connectNats(options: NatsOptions, logger: Logger): Promise<Nats> {
  const [{ default: jetstream }, { default: kv }] = await Promise.all([
    import('@nats-io/jetstream'),
    import('@nats-io/kv'),
  ])
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
      // Else each question makes two errors in advance, for their stacks.
      noAsyncTraces: true,
    })
    tellDurability(checkVersion(connection), logger)
    const js = jetstream.jetstream(connection, { timeout: requestMs })
    const manager = await jetstream.jetstreamManager(connection, { timeout: requestMs, checkAPI: false })
    const [prompt, promptJs] = [
      await jetstream.jetstreamManager(connection, { timeout: promptMs, checkAPI: false }),
      jetstream.jetstream(connection, { timeout: promptMs }),
    ]
    const owners = await retryUntilLeader(doing, logger, async () => {
      await manager.getAccountInfo()
      await new kv.Kvm(js).create('meup_owners', { replicas, history: 1 })
      return new kv.Kvm(promptJs).open('meup_owners')
    })
    const contact: Contact = { awaySince: undefined }
    void report(connection, contact, logger)
    return { connection, js, manager, prompt, owners, replicas, contact }
  } catch (error) {
    await connection?.close()
    throw asNatsError(error, doing)
  }
}

/** Rejects as the client of NATS does. */
export async function dial(
  { servers, credentials }: Pick<NatsOptions, 'servers' | 'credentials'>,
  more: NodeConnectionOptions,
): Promise<NatsConnection> {
  const { default: transport } = await import('@nats-io/transport-node')
  return transport.connect({
    servers: [...servers],
    ...more,
    ...(credentials !== undefined && {
      authenticator: transport.credsAuthenticator(() => readCredentials(credentials)),
    }),
  })
}

function readCredentials(path: string): Uint8Array {
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (cause) {
    const message = `The credentials ${path} cannot be read: ${String(cause)}. Check storage.credentials.`
    throw new LogError('server', message, { cause })
  }
  if (parts.every((part) => bytes.includes(part))) return bytes
  const message = `${path} has no credentials: a user's JWT and the seed of its key, as nsc makes them.`
  throw new LogError('server', `${message} Check storage.credentials.`)
}

/** Gives the version of the server. Throws where it is too old, or has no JetStream. */
export function checkVersion({ info }: NatsConnection): string {
  const version = info?.version ?? 'unknown'
  if (isOlder(version, oldest)) {
    const need = `this gateway needs ${oldest.join('.')} or newer`
    throw new LogError('server', `The NATS server is version ${version}; ${need}. Update the servers.`)
  }
  if (info?.jetstream !== true) {
    const message = 'The NATS server has no JetStream. Start it with -js, or `jetstream {}` in its file.'
    throw new LogError('server', message)
  }
  return version
}

function tellDurability(version: string, logger: Logger): void {
  const missing = isOlder(version, writesThrough)
    ? 'this version cannot write through to the disk (sync_interval: always needs 2.10)'
    : 'unless the servers have sync_interval: always, which a client cannot see, they write to the disk later'
  logger.info(
    { version, durability: 'process' },
    `connected to NATS; what is acknowledged survives the end of processes, but not of the power of most servers: ${missing}`,
  )
}

function isOlder(version: string, [major, minor]: readonly [number, number]): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  return ownMajor < major || (ownMajor === major && ownMinor < minor)
}

/** Tells the operator of what the client does by itself. */
async function report(connection: NatsConnection, contact: Contact, logger: Logger): Promise<void> {
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
