import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type EnvelopeLog,
  genesis,
  LogError,
  type Logger,
  type LogStore,
  logStore,
  openReplicaFile,
  type ReplicaFile,
  type ReplicaSpace,
  silent,
} from '@meup/gateway'
import { nanoid } from 'nanoid'
import { encodeBatch } from './batch.js'
import { connectNats, type Nats, type NatsOptions } from './connect.js'
import { streamTexts } from './errors.js'
import { Follower } from './follower.js'
import { JetStreamLog } from './jetstream-log.js'
import { Mailbox } from './mailbox.js'
import { asNatsError } from './nats-error.js'
import { Owners } from './owners.js'
import { Prunings } from './prunings.js'
import { Replica } from './replica.js'
import { retryUntilLeader } from './retry-until-leader.js'
import { Rewrites } from './rewrites.js'
import { Sharing } from './sharing.js'
import { establishStream, getStreamNames } from './streams.js'
import { type StoredBatch, SubjectLog } from './subject-log.js'

/** Milliseconds for which `close` waits until queued messages are sent. */
const flushTimeoutMs = 500

export interface JetStreamStoreOptions extends NatsOptions {
  /** The SQLite file of this gateway's replica, created if missing. */
  readonly path: string
  readonly logger?: Logger
}

/**
 * Logs in JetStream, shared by several gateways, with a replica in a SQLite file. Each space is written by one gateway at a
 * time and followed by the others. Rejects with a `LogError`: `server`, `unavailable`, or one of `sqliteStore`.
 */
export async function jetstreamStore(options: JetStreamStoreOptions): Promise<LogStore> {
  const { path, logger = silent, ...natsOptions } = options
  const file = resolve(path)
  const replicaFile = await openReplicaFile(file)
  let nats: Nats
  try {
    nats = await connectNats(natsOptions, logger)
  } catch (error) {
    await replicaFile.close()
    throw error
  }
  const mailbox = new Mailbox(nats)
  const owners = new Owners(nats, mailbox)
  return logStore({
    path: file,
    async open(space, onClose) {
      try {
        return await open(space, { nats, replicaFile, mailbox, owners, logger }, onClose)
      } catch (error) {
        await owners.release(space)
        throw asNatsError(error, `opening the space ${space}`)
      }
    },
    async stop() {
      await Promise.race([
        nats.connection.flush().catch(() => undefined),
        delay(flushTimeoutMs, undefined, { ref: false }),
      ])
      await nats.connection.close()
      await replicaFile.close()
    },
  })
}

interface StoreParts {
  readonly nats: Nats
  readonly replicaFile: ReplicaFile
  readonly mailbox: Mailbox
  readonly owners: Owners
  readonly logger: Logger
}

async function open(
  space: string,
  { nats, replicaFile, mailbox, owners, logger }: StoreParts,
  onClose: () => void,
): Promise<EnvelopeLog> {
  const doing = `opening the space ${space}`
  const place = getStreamNames(space)
  const subject = new SubjectLog(nats, place)
  const prunings = new Prunings(nats, place)
  const rewrites = new Rewrites(nats, place, (at, data) => subject.stored(at, data))
  const opened = await retryUntilLeader(doing, logger, async () => {
    await establishStream(nats.manager, place.stream, nats.replicas)
    return match(space, subject, prunings, replicaFile)
  })
  const replica = new Replica(replicaFile, space, opened)
  const follower = new Follower({ subject, replica, prunings, rewrites })
  const sharing = new Sharing({ space, nats, mailbox, owners, subject, replica, follower, prunings })
  await retryUntilLeader(`claiming and reading the space ${space}`, logger, async () => {
    await sharing.settle()
    await follower.catchUp()
  })
  return new JetStreamLog({ space, subject, replica, prunings, rewrites, follower, sharing, logger, onClose })
}

/**
 * Opens the space in the replica. Rejects if the replica contains another log than the stream. Begins a log if the stream has
 * none.
 */
async function match(
  space: string,
  subject: SubjectLog,
  prunings: Prunings,
  replicaFile: ReplicaFile,
): Promise<ReplicaSpace> {
  const known = await replicaFile.findSpace(space)
  const tip = (await subject.tip()) ?? (await begin(subject, prunings, known))
  const { epoch } = tip.head
  const { stream, subject: at } = subject.place
  if (known !== undefined && known.epoch !== epoch)
    throw new LogError('corrupt', streamTexts.otherLog, { stream, subject: at, epoch })
  return replicaFile.openSpace(space, epoch)
}

/**
 * Writes the first message of a space, with the epoch of its log. Rejects if the replica shows that the stream has lost rows.
 */
async function begin(
  subject: SubjectLog,
  prunings: Prunings,
  known: { readonly epoch: string; readonly head: number } | undefined,
): Promise<StoredBatch> {
  const pruned = await prunings.last()
  const had = Math.max(known?.head ?? 0, pruned?.through ?? 0)
  const { stream, subject: name } = subject.place
  if (had > 0) throw new LogError('corrupt', streamTexts.emptyStream, { stream, subject: name, known: had })
  const [epoch, nonce] = [known?.epoch ?? nanoid(), nanoid()]
  const data = encodeBatch({ epoch, nonce, first: 1 }, [], genesis(epoch))
  try {
    await subject.write({ data, nonce, expected: 0 })
  } catch (error) {
    // `fenced`: another gateway has written the first message in the meantime, and that message defines the log.
    if (!(error instanceof LogError) || error.code !== 'fenced') throw error
  }
  const tip = await subject.tip()
  if (tip === undefined) throw new Error(`the first message of ${subject.place.subject} is gone`)
  return tip
}
