import { resolve } from 'node:path'
import { closedError } from '../../log/error.js'
import type { EnvelopeLog, LogStore } from '../../ports/envelope-log.js'
import type { ReaderCalls, ReaderOptions, WriterCalls, WriterOptions } from './calls.js'
import { Channel } from './channel.js'
import { asLogError } from './failure.js'
import type { Durability } from './files.js'
import { type Lookup, lookupIn } from './lookup.js'
import { packBatch, unpackPage } from './pack.js'

export interface SqliteStoreOptions {
  /** The file for the logs of all spaces; made where it is missing. */
  readonly path: string
  /** Default `process`. */
  readonly durability?: Durability
}

interface Threads {
  readonly writer: Channel<WriterCalls>
  readonly reader: Channel<ReaderCalls>
  /** On this thread: admission cannot wait for an answer. */
  readonly lookup: Lookup
}

/**
 * Logs in one SQLite file. One worker writes and one reads, so that neither the disk nor the hashing stalls the event
 * loop. Rejects with a `LogError`: `locked`, `newer_schema`, `corrupt` or `io`.
 */
export async function sqliteStore({ path, durability = 'process' }: SqliteStoreOptions): Promise<LogStore> {
  const threads = await startThreads(resolve(path), durability)
  const logs = new Map<string, Promise<EnvelopeLog>>()
  let closing: Promise<void> | undefined

  const openLog = async (name: string): Promise<EnvelopeLog> => {
    try {
      return await openSqliteLog(threads, name, () => logs.delete(name))
    } catch (error) {
      logs.delete(name)
      throw error
    }
  }
  const close = async () => {
    const open = await Promise.allSettled(logs.values())
    await Promise.all(open.map((log) => log.status === 'fulfilled' && log.value.close()))
    await stopThreads(threads)
  }

  return {
    async open(name) {
      if (closing) throw closedError('store')
      const log = logs.get(name) ?? openLog(name)
      logs.set(name, log)
      return log
    },
    close() {
      closing ??= close()
      return closing
    },
  }
}

async function openSqliteLog(
  { writer, reader, lookup }: Threads,
  name: string,
  onClose: () => void,
): Promise<EnvelopeLog> {
  const opened = await writer.call('open', [name])
  const { space, epoch } = opened
  let head = opened.head
  let closed = false
  let lastAppend: Promise<void> = Promise.resolve()
  const refuseIfClosed = () => {
    if (closed) throw closedError('log')
  }

  return {
    epoch,
    get head() {
      return head
    },
    async append(batch) {
      refuseIfClosed()
      const last = batch.at(-1)
      if (last === undefined) return
      const packed = packBatch(batch)
      lastAppend = writer.call('append', [space, packed], [packed.bytes.buffer])
      await lastAppend
      head = last.seq
      lookup.refresh()
    },
    async read({ after = 0, before = Infinity, limit, order = 'asc' }) {
      refuseIfClosed()
      // What is committed but not yet acknowledged is not shown.
      const range = { space, after, before: Math.min(before, head + 1), limit, order }
      return unpackPage(await reader.call('read', [range]))
    },
    find(id) {
      refuseIfClosed()
      const row = lookup.find(space, id)
      return row && row.seq <= head ? row : undefined
    },
    async close() {
      if (!closed) onClose()
      closed = true
      // Whoever appended hears of a failure; appends are answered in their order, so the last one stands for all.
      await Promise.allSettled([lastAppend])
    },
  }
}

async function startThreads(path: string, durability: Durability): Promise<Threads> {
  const writing: WriterOptions = { path, durability }
  const reading: ReaderOptions = { path }
  const writer = await Channel.open<WriterCalls>(new URL('./writer-worker.js', import.meta.url), writing)
  let lookup: Lookup | undefined
  try {
    lookup = lookupIn(path)
    const reader = await Channel.open<ReaderCalls>(new URL('./reader-worker.js', import.meta.url), reading)
    return { writer, reader, lookup }
  } catch (error) {
    lookup?.close()
    await writer.close()
    throw asLogError(error)
  }
}

/** The writer last: the last connection folds the write-ahead log into the file, and it should do so off this thread. */
async function stopThreads({ writer, reader, lookup }: Threads): Promise<void> {
  try {
    await reader.close()
    lookup.close()
  } finally {
    await writer.close()
  }
}
