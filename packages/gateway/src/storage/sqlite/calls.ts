import { type MessagePort, parentPort } from 'node:worker_threads'
import type { LogError, LogErrorCode } from '../../log/error.js'
import type { Checkpoint, Snapshot } from '../../ports/envelope-log.js'
import { asLogError } from './failure.js'
import type { Durability, Role } from './files.js'
import type { Packed, PackedBatch } from './pack.js'
import type { Range } from './rows.js'

export interface WriterOptions {
  readonly path: string
  readonly durability: Durability
  /** Default `writer`. */
  readonly role?: Role
}

export interface OpenedSpace {
  /** By which the file knows the space. */
  readonly space: number
  readonly epoch: string
  readonly head: number
  readonly snapshot: Snapshot | undefined
}

/** What the main thread asks of the thread that writes. */
export type WriterCalls = {
  open(name: string): OpenedSpace
  append(space: number, batch: PackedBatch): void
  /** Gives the hash of the row `through`. */
  prune(space: number, through: number, snapshot: Uint8Array): Uint8Array
  /** Whether there was anything to erase; then the write-ahead log has it still. */
  erase(space: number, seqs: readonly number[]): boolean
  /** Whether nobody was in the way. */
  emptyWal(): boolean
  keep(space: number, checkpoint: Checkpoint): void
  /** Moves what the write-ahead log has into the file, as far as nobody is in the way. Whether that was all of it. */
  fold(): boolean
  /** As `open`, from the disk, and only if that can be written. */
  recover(name: string): OpenedSpace
  /** As the reader, while that is starting. */
  read(range: Range): Packed
  checkpoint(space: number): Checkpoint | 'damaged' | undefined
  close(): void
}

/** What the main thread asks of the thread that reads. */
export type ReaderCalls = Pick<WriterCalls, 'read' | 'checkpoint' | 'close'>

export type Callable = Record<string, (...args: never[]) => unknown> & { close(): void }

/** A call on its way to a thread. */
export type Call<Calls extends Callable> = {
  [Name in keyof Calls]: { readonly id: number; readonly name: Name; readonly args: Parameters<Calls[Name]> }
}[keyof Calls]

/** What a call gave. A thread's first reply, to call 0, says whether it could start. */
export interface Reply {
  readonly id: number
  readonly result?: unknown
  readonly failure?: { readonly code: LogErrorCode; readonly message: string }
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

/** The class of an error does not survive the way between threads: its code and message do. */
export function refusal(id: number, { code, message }: LogError): Reply {
  return { id, failure: { code, message } }
}
