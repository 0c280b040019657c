// Names and configuration of the streams. Gateways refuse existing streams whose configuration differs.

import { createHash } from 'node:crypto'
import { LogError } from '@meup/gateway'
import type { JetStreamManager, StreamConfig, StreamInfo } from '@nats-io/jetstream'
import { streamTexts } from './errors.js'
import { getApiCode } from './nats-error.js'

/** Changing this number makes existing logs unreachable: it decides in which stream a space is. */
const shards = 8
const secondNs = 1_000_000_000
const [notFound, nameInUse] = [10059, 10058]

/** Stream and subjects of a space. The names are stable, because other gateways derive them as well. */
export interface StreamNames {
  readonly stream: string
  /** The subject of the batches of the log. */
  readonly subject: string
  /** The subject to which the server republishes batches. */
  readonly live: string
  /** The subject of the records of prunings. */
  readonly pruned: string
  readonly snapshots: string
  /** The beginning of the subjects of rewritten batches, which lack the bodies of erased rows. */
  readonly rewritten: string
}

export function getStreamNames(space: string): StreamNames {
  const shard = createHash('sha256').update(space).digest().readUInt8() % shards
  const at = `${shard}.${space}`
  return {
    stream: `MEUP_${shard}`,
    subject: `meup.space.${at}`,
    live: `meup.live.${at}`,
    pruned: `meup.pruned.${at}`,
    snapshots: `meup.snapshot.${at}`,
    rewritten: `meup.rewritten.${at}`,
  }
}

type WantedConfig = Pick<StreamConfig, 'name' | 'subjects' | 'num_replicas'> & Partial<StreamConfig>

function createStreamConfig(stream: string, replicas: number): WantedConfig {
  const shard = stream.slice('MEUP_'.length)
  const subjects = ['space', 'pruned', 'snapshot', 'rewritten'].map((what) => `meup.${what}.${shard}.>`)
  return {
    name: stream,
    subjects,
    num_replicas: replicas,
    retention: 'limits',
    storage: 'file',
    discard: 'new',
    deny_delete: false, // Erasing removes messages.
    allow_direct: true,
    duplicate_window: 30 * secondNs,
    republish: { src: `meup.space.${shard}.>`, dest: `meup.live.${shard}.>` },
  }
}

/**
 * Creates the stream if missing. Rejects with a `LogError` with code `server` if its configuration differs and would not keep
 * acknowledged messages.
 */
export async function establishStream(
  manager: JetStreamManager,
  stream: string,
  replicas: number,
): Promise<void> {
  const found = await findStream(manager, stream)
  if (found !== undefined) return assertStreamConfig(found.config, replicas)
  try {
    await manager.streams.add(createStreamConfig(stream, replicas))
  } catch (error) {
    if (getApiCode(error) !== nameInUse) throw error
    const made = await findStream(manager, stream)
    if (made !== undefined) assertStreamConfig(made.config, replicas)
  }
}

/** Returns the state of a stream; `undefined` if it does not exist. Rejects if the server does not answer. */
export async function findStream(manager: JetStreamManager, stream: string): Promise<StreamInfo | undefined> {
  try {
    return await manager.streams.info(stream)
  } catch (error) {
    if (getApiCode(error) === notFound) return undefined
    throw error
  }
}

/** Checks that no limit removes messages, and that the number of copies is right. Throws like `establishStream`. */
export function assertStreamConfig(found: StreamConfig, replicas: number): void {
  const config = createStreamConfig(found.name, replicas)
  const keys = [
    'num_replicas',
    'retention',
    'storage',
    'discard',
    'deny_delete',
    'allow_direct',
    'republish',
    'subjects',
  ] as const
  const other: string[] = keys.filter((key) => JSON.stringify(found[key]) !== JSON.stringify(config[key]))
  const limits = ['max_msgs', 'max_bytes', 'max_age', 'max_msgs_per_subject'] as const
  other.push(...limits.filter((key) => found[key] > 0))
  if (other.length === 0) return
  const differences = other.map((key) => `${key} is ${JSON.stringify(found[key as keyof StreamConfig])}`)
  const details = { stream: found.name, differences, replicas }
  throw new LogError('server', streamTexts.streamConfig, details)
}
