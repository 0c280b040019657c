import type { Checkpoint, Row, Snapshot } from '../../ports/envelope-log.js'
import type { Range, ReaderCalls, ReaderOptions } from './calls.js'
import { Channel } from './channel.js'
import { asLogError } from './failure.js'
import { type Lookup, lookupIn } from './lookup.js'
import { type Packed, packPage, unpackPage } from './pack.js'

export interface ReplicaOptions {
  readonly path: string
}

/** A space as the replica has it. */
export interface ReplicaSpace {
  /** By which the file knows the space. */
  readonly space: number
  readonly epoch: string
  readonly head: number
  /** Of the row `head`; of an empty log, what its first row will link to. */
  readonly hash: Uint8Array
  readonly snapshot: Snapshot | undefined
}

/** What the main thread asks of the thread that writes the replica. */
export type ReplicaCalls = {
  look(name: string): ReplicaSpace | undefined
  open(name: string, epoch: string): ReplicaSpace
  take(space: number, rows: Packed, snapshot?: Snapshot): void
  prune(space: number, through: number, snapshot: Uint8Array): Uint8Array
  keep(space: number, checkpoint: Checkpoint): void
  close(): void
}

/** Copies of logs that are kept elsewhere, and read here. Whoever writes one waits for each write before the next. */
export interface ReplicaFile extends Pick<Lookup, 'find' | 'heading' | 'hasContext'> {
  /** `undefined` = the replica has nothing of this space. */
  look(name: string): Promise<ReplicaSpace | undefined>
  /** As `look`, after a write that shows whether the file can be written; makes the space where it is missing. */
  open(name: string, epoch: string): Promise<ReplicaSpace>
  /** Stores rows as they are, after it has checked their chain; with a snapshot that stands for all before them. */
  take(space: number, rows: readonly Row[], snapshot?: Snapshot): Promise<void>
  /** Gives the hash of the row `through`. */
  prune(space: number, through: number, snapshot: Uint8Array): Promise<Uint8Array>
  keep(space: number, checkpoint: Checkpoint): Promise<void>
  checkpoint(space: number): Promise<Checkpoint | 'damaged' | undefined>
  read(range: Range): Promise<Row[]>
  close(): Promise<void>
}

/** Makes the file where it is missing; rejects with a `LogError` as `sqliteStore` does. */
export async function openReplicaFile(path: string): Promise<ReplicaFile> {
  const options: ReplicaOptions & ReaderOptions = { path }
  const writer = await Channel.open<ReplicaCalls>(new URL('./replica-worker.js', import.meta.url), options)
  let lookup: Lookup | undefined
  try {
    lookup = lookupIn(path)
    const readerScript = new URL('./reader-worker.js', import.meta.url)
    return replicaFile(writer, await Channel.open<ReaderCalls>(readerScript, options), lookup)
  } catch (error) {
    lookup?.close()
    await writer.close()
    throw asLogError(error)
  }
}

function replicaFile(
  writer: Channel<ReplicaCalls>,
  reader: Channel<ReaderCalls>,
  lookup: Lookup,
): ReplicaFile {
  return {
    find: lookup.find,
    heading: lookup.heading,
    hasContext: lookup.hasContext,
    look: (name) => writer.call('look', [name]),
    async open(name, epoch) {
      const opened = await writer.call('open', [name, epoch])
      lookup.refresh()
      return opened
    },
    async take(space, rows, snapshot) {
      const packed = packPage(rows)
      await writer.call('take', [space, packed, snapshot], [packed.bytes.buffer])
      lookup.refresh()
    },
    prune: (space, through, snapshot) => writer.call('prune', [space, through, snapshot]),
    keep: (space, checkpoint) => writer.call('keep', [space, checkpoint]),
    checkpoint: (space) => reader.call('checkpoint', [space]),
    read: async (range) => unpackPage(await reader.call('read', [range])),
    async close() {
      await reader.close()
      lookup.close()
      await writer.close()
    },
  }
}
