import type { Checkpoint, Row, Snapshot } from '../../ports/envelope-log.js'
import type { ReaderCalls } from './calls.js'
import { Channel } from './channel.js'
import { untilEmptied } from './erasing.js'
import { type Packed, packPage, unpackPage } from './pack.js'
import { type Lookup, lookupIn, type Range } from './rows.js'
import { asLogError } from './sqlite-error.js'

export interface ReplicaOptions {
  readonly path: string
}

/** A space of which the file has a copy of the log. */
export interface ReplicaSpace {
  /** The number of the space in the file. */
  readonly space: number
  readonly epoch: string
  readonly head: number
  /** Hash of the row `head`; of an empty log, the hash that its first row links to. */
  readonly hash: Uint8Array
  readonly snapshot: Snapshot | undefined
}

/** Calls from the main thread to the writer thread. */
export type ReplicaCalls = {
  findSpace(name: string): ReplicaSpace | undefined
  openSpace(name: string, epoch: string): ReplicaSpace
  append(space: number, rows: Packed, snapshot?: Snapshot): void
  prune(space: number, through: number, snapshot: Uint8Array): Uint8Array
  erase(space: number, seqs: readonly number[]): boolean
  emptyWal(): boolean
  keep(space: number, checkpoint: Checkpoint): void
  close(): void
}

/** Copies of logs that other servers keep, in one SQLite file. One thread writes and one reads. */
export interface ReplicaFile extends Pick<Lookup, 'find' | 'heading' | 'headingsFrom' | 'hasContext'> {
  /** `undefined` = the file does not contain this space. */
  findSpace(name: string): Promise<ReplicaSpace | undefined>
  /** Creates the space if it is missing. Rejects if the file cannot be written. */
  openSpace(name: string, epoch: string): Promise<ReplicaSpace>
  /** Checks the chain of the rows and stores them as they are. The snapshot replaces all rows before them. */
  append(space: number, rows: readonly Row[], snapshot?: Snapshot): Promise<void>
  /** Replaces the rows up to `through` with the snapshot. Returns the hash of the row `through`. */
  prune(space: number, through: number, snapshot: Uint8Array): Promise<Uint8Array>
  /** Like `EnvelopeLog.erase`. */
  erase(space: number, seqs: readonly number[]): Promise<boolean>
  keep(space: number, checkpoint: Checkpoint): Promise<void>
  checkpoint(space: number): Promise<Checkpoint | 'damaged' | undefined>
  read(range: Range): Promise<Row[]>
  close(): Promise<void>
}

/** Creates the file if it is missing. Rejects with a `LogError` like `sqliteStore`. */
export async function openReplicaFile(path: string): Promise<ReplicaFile> {
  const options: ReplicaOptions = { path }
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
    headingsFrom: lookup.headingsFrom,
    hasContext: lookup.hasContext,
    findSpace: (name) => writer.call('findSpace', [name]),
    async openSpace(name, epoch) {
      const opened = await writer.call('openSpace', [name, epoch])
      lookup.refresh()
      return opened
    },
    async append(space, rows, snapshot) {
      const packed = packPage(rows)
      await writer.call('append', [space, packed, snapshot], [packed.bytes.buffer])
      lookup.refresh()
    },
    prune: (space, through, snapshot) => writer.call('prune', [space, through, snapshot]),
    async erase(space, seqs) {
      const found = await writer.call('erase', [space, seqs])
      lookup.refresh()
      await untilEmptied(() => writer.call('emptyWal', []))
      return found
    },
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
