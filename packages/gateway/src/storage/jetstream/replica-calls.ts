import type { Checkpoint, Snapshot } from '../../ports/envelope-log.js'
import type { Packed } from '../sqlite/pack.js'

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
  /** `undefined` = the replica has nothing of this space. */
  look(name: string): ReplicaSpace | undefined
  /** As `look`, after a write that shows whether the file can be written; makes the space where it is missing. */
  open(name: string, epoch: string): ReplicaSpace
  /** Stores rows as they are, after it has checked their chain; with a snapshot that stands for all before them. */
  take(space: number, rows: Packed, snapshot?: Snapshot): void
  /** Gives the hash of the row `through`. */
  prune(space: number, through: number, snapshot: Uint8Array): Uint8Array
  keep(space: number, checkpoint: Checkpoint): void
  close(): void
}
