import { resolve } from 'node:path'
import type { LogStore } from '../../ports/envelope-log.js'
import { logStore } from '../log-store.js'
import type { ReaderCalls, WriterCalls, WriterOptions } from './calls.js'
import { Channel } from './channel.js'
import type { Durability } from './files.js'
import { type Lookup, lookupIn } from './rows.js'
import { asLogError } from './sqlite-error.js'
import { InlineWriter, openSqliteLog, type Threads } from './sqlite-log.js'

interface SqliteStoreOptions {
  /** The file of the logs of all spaces, created if missing. */
  readonly path: string
  /** Default `process`. */
  readonly durability?: Durability
}

/**
 * Logs in one SQLite file. One worker writes and one reads, so that neither the disk nor long reads block the event loop. With
 * durability `process`, where commits do not wait for the disk, this thread commits itself, and the worker prunes and
 * checkpoints. Rejects with a `LogError`: `locked`, `format`, `corrupt`, `driver` or `io`.
 */
export async function sqliteStore({ path, durability = 'process' }: SqliteStoreOptions): Promise<LogStore> {
  const file = resolve(path)
  const threads = await startThreads(file, durability)
  const open = (name: string, onClose: () => void) => openSqliteLog(threads, name, onClose)
  return logStore({ path: file, open, stop: threads.stop })
}

async function startThreads(
  path: string,
  durability: Durability,
): Promise<Threads & { stop(): Promise<void> }> {
  const writing: WriterOptions = { path, durability }
  const writer = await Channel.open<WriterCalls>(new URL('./writer-worker.js', import.meta.url), writing)
  let lookup: Lookup | undefined
  let inlineWriter: InlineWriter | undefined
  try {
    inlineWriter =
      durability === 'process' ? new InlineWriter(path, () => writer.callAside('fold', [])) : undefined
    lookup = inlineWriter?.lookup ?? lookupIn(path)
    const reader = Channel.start<ReaderCalls>(new URL('./reader-worker.js', import.meta.url), { path })
    const threads = { writer, inlineWriter, reader, lookup }
    return { ...threads, stop: () => stopThreads(threads) }
  } catch (error) {
    lookup?.close()
    await writer.close()
    throw asLogError(error)
  }
}

/** Stops the writer last: the last connection checkpoints the write-ahead log, which should not happen on this thread. */
async function stopThreads({ writer, reader, lookup }: Threads): Promise<void> {
  try {
    await reader.close()
    lookup.close()
  } finally {
    await writer.close()
  }
}
