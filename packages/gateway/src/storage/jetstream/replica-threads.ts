import type { ReaderCalls } from '../sqlite/calls.js'
import { Channel } from '../sqlite/channel.js'
import { asLogError } from '../sqlite/failure.js'
import { type Lookup, lookupIn } from '../sqlite/lookup.js'
import type { ReplicaThreads } from './replica.js'
import type { ReplicaCalls, ReplicaOptions } from './replica-calls.js'

const scripts = {
  writer: new URL('./replica-worker.js', import.meta.url),
  reader: new URL('../sqlite/reader-worker.js', import.meta.url),
}

/** Opens the file of the replicas; rejects with a `LogError` as `sqliteStore` does. */
export async function startReplicaThreads(path: string): Promise<ReplicaThreads & { stop(): Promise<void> }> {
  const options: ReplicaOptions = { path }
  const writer = await Channel.open<ReplicaCalls>(scripts.writer, options)
  let lookup: Lookup | undefined
  try {
    lookup = lookupIn(path)
    const opened = lookup
    const reader = await Channel.open<ReaderCalls>(scripts.reader, options)
    return {
      writer,
      reader,
      lookup,
      async stop() {
        await reader.close()
        opened.close()
        await writer.close()
      },
    }
  } catch (error) {
    lookup?.close()
    await writer.close()
    throw asLogError(error)
  }
}
