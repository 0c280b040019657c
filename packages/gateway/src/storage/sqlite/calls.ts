import { type MessagePort, parentPort } from 'node:worker_threads'
import type { LogError } from '../../log/error.js'
import type { Checkpoint, Snapshot } from '../../ports/envelope-log.js'
import type { Durability, FileRole } from './files.js'
import type { Packed, PackedBatch } from './pack.js'
import type { Range } from './rows.js'
import { asLogError } from './sqlite-error.js'

export interface WriterOptions {
  readonly path: string
  readonly durability: Durability
  /** Default `writer`. */
  readonly role?: FileRole
}

export interface OpenedSpace {
  /** The number of the space in the file. */
  readonly space: number
  readonly epoch: string
  readonly head: number
  readonly snapshot: Snapshot | undefined
}

/** Calls from the main thread to the writer thread. */
export type WriterCalls = {
  open(name: string): OpenedSpace
  append(space: number, batch: PackedBatch): void
  /** Replaces the rows up to `through` with the snapshot. Returns the hash of the row `through`. */
  prune(space: number, through: number, snapshot: Uint8Array): Uint8Array
  /** Returns whether anything was erased; the erased bytes then are still in the write-ahead log. */
  erase(space: number, seqs: readonly number[]): boolean
  /** Returns whether the write-ahead log was emptied; readers can prevent that. */
  emptyWal(): boolean
  keep(space: number, checkpoint: Checkpoint): void
  /** Checkpoints the write-ahead log into the file, as far as readers permit. Returns whether it did so completely. */
  fold(): boolean
  /** Like `open`, but reads from the disk, and fails if that cannot be written. */
  recover(name: string): OpenedSpace
  /** Reads in place of the reader thread while that is starting. */
  read(range: Range): Packed
  checkpoint(space: number): Checkpoint | 'damaged' | undefined
  close(): void
}

/** Calls from the main thread to the reader thread. */
export type ReaderCalls = Pick<WriterCalls, 'read' | 'checkpoint' | 'close'>

export type Callable = Record<string, (...args: never[]) => unknown> & { close(): void }

export type ThreadCall<Calls extends Callable> = {
  [Name in keyof Calls]: { readonly id: number; readonly name: Name; readonly args: Parameters<Calls[Name]> }
}[keyof Calls]

/** The result of a call. A thread's first reply, with the id 0, reports whether it could start. */
export interface Reply {
  readonly id: number
  readonly result?: unknown
  readonly failure?: Pick<LogError, 'code' | 'details' | 'message'>
}

/** The worker's end of its channel. */
export function portOfThread(): MessagePort {
  if (parentPort === null) throw new Error('This file is the script of a worker: start it as one.')
  return parentPort
}

export function reply(id: number, perform: () => unknown): Reply {
  try {
    return { id, result: perform() }
  } catch (error) {
    return refusal(id, asLogError(error))
  }
}

/** Errors lose their class between threads, so their fields are sent. */
export function refusal(id: number, { code, details, message }: LogError): Reply {
  return { id, failure: { code, details, message } }
}
