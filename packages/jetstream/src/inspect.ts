import type { LogError } from '@meup/gateway'
import { jetstreamManager, type StreamInfo } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { checkVersion, dial, type NatsOptions, requestMs } from './connect.js'
import { asNatsError } from './nats-error.js'
import { assertStreamConfig, findStream, getStreamNames } from './streams.js'

interface NatsServerReport {
  readonly server: string
  /** The version of the server, or why the server is unusable. */
  readonly found: string | LogError
}

interface StreamReport {
  readonly stream: string
  readonly spaces: readonly string[]
  /** `undefined` = the stream does not exist yet: the first start creates it. */
  readonly found: StreamHealth | LogError | undefined
}

interface StreamHealth {
  /** Names of servers: the leader, followers that are up to date, and other followers. */
  readonly leader: string
  readonly current: readonly string[]
  readonly behind: readonly string[]
}

export interface JetStreamReport {
  readonly servers: readonly NatsServerReport[]
  /** Empty if no server can be used. */
  readonly streams: readonly StreamReport[]
}

/** Checks the servers and streams that these spaces need. Changes nothing; problems are reported, not thrown. */
export async function inspectJetStream(
  options: NatsOptions,
  spaces: readonly string[],
): Promise<JetStreamReport> {
  const looks = await Promise.all(options.servers.map((server) => look(server, options)))
  try {
    const usable = looks.find(
      ({ connection, found }) => connection !== undefined && typeof found === 'string',
    )
    const streams = usable?.connection ? await lookAtStreams(usable.connection, options.replicas, spaces) : []
    return { servers: looks.map(({ server, found }) => ({ server, found })), streams }
  } finally {
    await Promise.all(looks.map(({ connection }) => connection?.close()))
  }
}

async function look(
  server: string,
  options: NatsOptions,
): Promise<NatsServerReport & { connection?: NatsConnection }> {
  let connection: NatsConnection | undefined
  try {
    const alone = { name: 'meup doctor', reconnect: false, ignoreClusterUpdates: true, timeout: requestMs }
    connection = await dial({ ...options, servers: [server] }, alone)
    return { server, found: checkVersion(connection), connection }
  } catch (error) {
    await connection?.close()
    return { server, found: asNatsError(error, `connecting to ${server}`) }
  }
}

async function lookAtStreams(
  connection: NatsConnection,
  replicas: number,
  spaces: readonly string[],
): Promise<StreamReport[]> {
  const streams = new Set(spaces.map((space) => getStreamNames(space).stream))
  const reports: StreamReport[] = []
  for (const stream of streams) {
    const kept = spaces.filter((space) => getStreamNames(space).stream === stream)
    try {
      const manager = await jetstreamManager(connection, { timeout: requestMs })
      const info = await findStream(manager, stream)
      if (info !== undefined) assertStreamConfig(info.config, replicas)
      reports.push({ stream, spaces: kept, found: info && describeHealth(info) })
    } catch (error) {
      const found = asNatsError(error, `asking for the stream ${stream}`)
      reports.push({ stream, spaces: kept, found })
    }
  }
  return reports
}

/** A single server reports no cluster: no followers are missing or behind. */
function describeHealth({ cluster }: StreamInfo): StreamHealth {
  const { leader = '', replicas = [] } = cluster ?? {}
  const names = (isCurrent: boolean): string[] =>
    replicas.filter(({ current, offline }) => (current && !offline) === isCurrent).map(({ name }) => name)
  return { leader, current: names(true), behind: names(false) }
}
