import { type EnvelopeLog, type LogStore, memoryStore, type Query } from '@meup/gateway'

/** Whether the indexer of turns makes this read; its limit of bytes identifies it. */
export const isIndexingTurns = ({ filter, maxBytes }: Query): boolean =>
  filter === undefined && maxBytes === 512 * 1024

/** Whether an indexer, of turns or of words, makes this read. */
export const isIndexing = (query: Query): boolean =>
  isIndexingTurns(query) || (query.filter === undefined && query.maxBytes === 128 * 1024)

/** Whether this read gets the envelopes of turns to fold them. */
const isFolding = ({ limit, maxBytes }: Query): boolean => limit === 256 && maxBytes === 1024 * 1024

/** A store that can stall or fail the reads of the indexer, and records all other reads, except those that fold turns. */
export function heldStore(inner: LogStore = memoryStore()) {
  let gate: Promise<void> = Promise.resolve()
  let open = (): void => {}
  let failure: Error | undefined
  const reads: Query[] = []
  const indexed: Query[] = []
  const store: LogStore = {
    ...(inner.path !== undefined && { path: inner.path }),
    async open(space) {
      const log = await inner.open(space)
      const read: EnvelopeLog['read'] = async (query) => {
        if (!isIndexing(query)) {
          if (!isFolding(query)) reads.push(query)
          return log.read(query)
        }
        indexed.push(query)
        await gate
        if (failure !== undefined) throw failure
        return log.read(query)
      }
      return Object.assign(Object.create(log) as EnvelopeLog, { read })
    },
    close: () => inner.close(),
  }
  return {
    store,
    reads,
    indexed,
    hold: () => {
      gate = new Promise((resolve) => {
        open = resolve
      })
    },
    release: () => open(),
    fail: (error: Error | undefined) => {
      failure = error
    },
  }
}
