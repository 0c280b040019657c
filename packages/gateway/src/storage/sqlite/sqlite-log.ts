import { closedError, LogError } from '../../log/error.js'
import type { Draft, EnvelopeLog, Heading } from '../../ports/envelope-log.js'
import type { Range, ReaderCalls, WriterCalls } from './calls.js'
import type { Channel } from './channel.js'
import type { InlineWriter } from './inline-writer.js'
import type { Lookup } from './lookup.js'
import { type Packed, unpackPage } from './pack.js'
import { packBatch } from './pack-batch.js'

export interface Threads {
  readonly writer: Channel<WriterCalls>
  readonly reader: Channel<ReaderCalls>
  /** On this thread. Absent = each commit waits for the disk. */
  readonly inlineWriter: InlineWriter | undefined
  /** On this thread: admission cannot wait for an answer. */
  readonly lookup: Lookup
}

/** So few rows are read on this thread: to ask another takes longer. */
const few = { rows: 256, bytes: 1024 * 1024 }

/** Their seqs, where they are known without looking; `undefined` = they are not, or may be many. */
function fewSeqs({
  after,
  before,
  limit,
  maxBytes,
  filter,
}: Pick<Range, 'after' | 'before' | 'limit' | 'maxBytes' | 'filter'>): readonly number[] | undefined {
  if (maxBytes > few.bytes && limit > 1) return undefined
  const { seqs, ...others } = filter
  if (Object.keys(others).length > 0) return undefined
  if (seqs !== undefined) {
    if (seqs.length > few.rows) return undefined
    return seqs.filter((seq) => seq > after && seq < before).slice(0, limit)
  }
  const count = Math.min(limit, before - after - 1)
  return count > few.rows ? undefined : Array.from({ length: Math.max(0, count) }, (_, at) => after + 1 + at)
}

/** Opens the log of one space. What is shown of the file is what this thread knows to be committed, and not pruned. */
export async function openSqliteLog(
  { writer, inlineWriter, reader, lookup }: Threads,
  name: string,
  onClose: () => void,
): Promise<EnvelopeLog> {
  const { space, epoch, ...found } = await writer.call('open', [name])
  let { head, snapshot } = found
  let closed = false
  let lastWrite: Promise<unknown> = Promise.resolve()
  const refuseIfClosed = () => {
    if (closed) throw closedError('log')
  }
  const pruned = () => snapshot?.through ?? 0
  const ifShown = <Found extends Heading>(found: Found | undefined): Found | undefined =>
    found && found.seq > pruned() && found.seq <= head ? found : undefined

  let isUnwritten = true
  /** Opening a log reads it first, without waiting for another thread to start. */
  const isReadByWriter = (): boolean => isUnwritten && reader.isStarting
  const readPage = (range: Range): Promise<Packed> =>
    isReadByWriter() ? writer.call('read', [range]) : reader.call('read', [range])

  const hand = (batch: readonly Draft[]): Promise<unknown> => {
    const packed = packBatch(batch)
    return writer.call('append', [space, packed], [packed.bytes.buffer, packed.cuts.buffer])
  }

  return {
    epoch,
    get head() {
      return head
    },
    get oldest() {
      return pruned() + 1
    },
    get snapshot() {
      return snapshot
    },
    async append(batch) {
      refuseIfClosed()
      const last = batch.at(-1)
      if (last === undefined) return
      isUnwritten = false
      const rest = inlineWriter?.rest()
      if (rest !== undefined) {
        lastWrite = rest
        await rest
      }
      // What was asked of the writer before is done before.
      const isDone = writer.isIdle && inlineWriter?.append(space, batch)
      lastWrite = isDone ? Promise.resolve() : hand(batch)
      await lastWrite
      head = last.seq
      lookup.refresh()
    },
    async read({
      after = 0,
      before = Infinity,
      limit,
      maxBytes = Infinity,
      order = 'asc',
      filter = {},
      only,
    }) {
      refuseIfClosed()
      const ends = { after: Math.max(after, pruned()), before: Math.min(before, head + 1) }
      if (order === 'asc' && only === undefined) {
        const seqs = fewSeqs({ ...ends, limit, maxBytes, filter })
        if (seqs !== undefined) return lookup.rows(space, seqs, maxBytes)
      }
      return unpackPage(
        await readPage({ space, ...ends, limit, maxBytes, order, filter, ...(only && { only }) }),
      )
    },
    find(id) {
      refuseIfClosed()
      return ifShown(lookup.find(space, id))
    },
    heading(id) {
      refuseIfClosed()
      return ifShown(lookup.heading(space, id))
    },
    hasContext(root) {
      refuseIfClosed()
      return lookup.hasContext(space, root)
    },
    async prune(through, bytes) {
      refuseIfClosed()
      const kept = new Uint8Array(bytes)
      const pruning = writer.call('prune', [space, through, kept])
      lastWrite = pruning
      snapshot = { through, hash: await pruning, bytes: kept }
    },
    async keep(checkpoint) {
      refuseIfClosed()
      const bytes = new Uint8Array(checkpoint.bytes)
      lastWrite = writer.call('keep', [space, { ...checkpoint, bytes }], [bytes.buffer])
      await lastWrite
    },
    async checkpoint() {
      refuseIfClosed()
      return isReadByWriter() ? writer.call('checkpoint', [space]) : reader.call('checkpoint', [space])
    },
    async recover() {
      refuseIfClosed()
      inlineWriter?.close()
      const again = await writer.call('recover', [name])
      if (again.epoch !== epoch) {
        throw new LogError('corrupt', 'The log file has been replaced by another. Start the gateway again.')
      }
      head = again.head
      snapshot = again.snapshot
      lookup.refresh()
    },
    async close() {
      if (!closed) onClose()
      closed = true
      // Whoever wrote hears of a failure; writes are answered in their order, so the last one stands for all.
      await Promise.allSettled([lastWrite])
    },
  }
}
