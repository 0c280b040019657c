import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { LogError, type Logger } from '@meup/gateway'
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { type KV, Kvm } from '@nats-io/kv'
import {
  connect,
  credsAuthenticator,
  type NatsConnection,
  type NodeConnectionOptions,
} from '@nats-io/transport-node'

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

/** Rejects with `server` or `unavailable`. */
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
      // Else each question makes two errors in advance, for their stacks.
      noAsyncTraces: true,
    })
    tellDurability(checkVersion(connection), logger)
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
    void report(connection, contact, logger)
    return { connection, js, manager, prompt, owners, replicas, contact }
  } catch (error) {
    await connection?.close()
    throw asNatsError(error, doing)
  }
}

/** Rejects as the client of NATS does. */
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

const advice = 'It is tried again; see that the NATS servers run and that most of them reach each other.'
/** What JetStream says where an account may not use it. */
const notEnabled = [10039, 10076]
const refusals = ['AuthorizationError', 'UserAuthenticationExpiredError', 'PermissionViolationError']

/** Whatever the client of NATS threw, as an error that says what to do. */
export function asNatsError(error: unknown, doing: string): LogError {
  if (error instanceof LogError) return error
  const said = error instanceof Error ? `${error.message}${causeOf(error)}` : String(error)
  if (error instanceof Error && refusals.includes(error.name)) {
    const what = 'Give it credentials that are valid, and that may use JetStream'
    return new LogError('server', `The NATS server refuses this gateway, ${doing}: ${said}. ${what}.`, {
      cause: error,
    })
  }
  if ([error, Object(error).cause].some((each) => notEnabled.includes(apiCodeOf(each)))) {
    const what = 'Enable JetStream for it (`jetstream: enabled` of an account, or nsc edit account)'
    return new LogError(
      'server',
      `The account of this gateway may not use JetStream, ${doing}: ${said}. ${what}.`,
      {
        cause: error,
      },
    )
  }
  return new LogError('unavailable', `NATS failed ${doing}: ${said}. ${advice}`, { cause: error })
}

const causeOf = ({ cause, message }: Error): string =>
  cause instanceof Error && cause.message !== message ? ` (${cause.message})` : ''

/** Whether a question had no one to answer it, which the server says at once. */
export function isNobodyThere(error: unknown): boolean {
  const { isNoResponders } = Object(error) as { isNoResponders?: () => boolean }
  return isNoResponders?.call(error) === true
}

/** What JetStream calls a refusal; 0 = it is none of its own. */
export function apiCodeOf(error: unknown): number {
  const { code } = Object(error) as { code?: unknown }
  return typeof code === 'number' ? code : 0
}

/** As long as servers that were reached may take to answer: to choose among themselves who leads takes them seconds. */
const patienceMs = 30_000
const againMs = 250
/** What JetStream says while nobody leads. */
const leaderless = 10008

/**
 * Asks servers that were reached until they answer; the operator is told once that they do not yet. Rejects with what they refuse
 * at once, and with `unavailable` where they have not answered for thirty seconds.
 */
export async function retryUntilLeader<Answer>(
  doing: string,
  logger: Logger,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const end = performance.now() + patienceMs
  for (let isTold = false; ; isTold = true) {
    try {
      return await ask()
    } catch (error) {
      const err = asNatsError(error, doing)
      if (err.code !== 'unavailable' || isRefusal(error) || performance.now() >= end) throw err
      if (!isTold) logger.warn({ err, doing }, 'the NATS servers do not answer yet; they are asked again')
      await delay(againMs)
    }
  }
}

const isRefusal = (error: unknown): boolean =>
  [error, Object(error).cause].map(apiCodeOf).some((code) => code !== 0 && code !== leaderless)
