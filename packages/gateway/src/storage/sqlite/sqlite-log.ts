import { closedError, LogError } from '../../log/error.js'
import type { Draft, EnvelopeLog, Heading } from '../../ports/envelope-log.js'
import type { ReaderCalls, WriterCalls } from './calls.js'
import type { Channel } from './channel.js'
import { untilEmptied } from './erasing.js'
import { asLogError, isBusy } from './failure.js'
import { LogFile } from './log-file.js'
import { type Packed, packBatch, unpackPage } from './pack.js'
import { type Lookup, lookupThrough, type Range, storable } from './rows.js'

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

/** Their seqs, which ascend, where they are known without looking; `undefined` = they are not, or may be many. */
function fewSeqs({
  after,
  before,
  limit,
  maxBytes,
  order,
  filter,
  only,
}: Omit<Range, 'space'>): readonly number[] | undefined {
  const hasBodies = only === undefined || only === 'bodies'
  if (hasBodies && maxBytes > few.bytes && limit > 1) return undefined
  const { seqs, ...others } = filter
  if (Object.keys(others).length > 0) return undefined
  if (seqs !== undefined) {
    if (seqs.length > few.rows) return undefined
    const asked = seqs.filter((seq) => seq > after && seq < before)
    return order === 'asc' ? asked.slice(0, limit) : asked.slice(Math.max(0, asked.length - limit))
  }
  const count = Math.max(0, Math.min(limit, before - after - 1))
  const first = order === 'asc' ? after + 1 : before - count
  return count > few.rows ? undefined : Array.from({ length: count }, (_, at) => first + at)
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
      const range = { ...ends, limit, maxBytes, order, filter, ...(only && { only }) }
      const seqs = fewSeqs(range)
      return seqs === undefined
        ? unpackPage(await readPage({ space, ...range }))
        : lookup.rows(space, seqs, range)
    },
    find(id) {
      refuseIfClosed()
      return ifShown(lookup.find(space, id))
    },
    heading(id) {
      refuseIfClosed()
      return ifShown(lookup.heading(space, id))
    },
    headingsFrom(start, after, limit) {
      refuseIfClosed()
      return lookup.headingsFrom(space, start, after, limit).flatMap((each) => ifShown(each) ?? [])
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
    async erase(seqs) {
      refuseIfClosed()
      const erasing = writer.call('erase', [space, seqs])
      lastWrite = erasing
      const found = await erasing
      lookup.refresh()
      await untilEmptied(() => writer.call('emptyWal', []))
      return found
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

/** Estimated bytes of the write-ahead log: past the first it is folded into the file, past the second the next batch waits for that. */
const [foldBytes, maxWalBytes] = [16 * 1024 * 1024, 32 * 1024 * 1024]
/** Between two attempts to fold all of it: milliseconds at least, and times what the last one took. */
const foldPause = { ms: 20, times: 10 }
/** What a commit writes beside its rows: whole pages, of the tables and of each index. */
const bytesPerCommit = 16 * 1024
/** Rows in the write-ahead log, beside their bodies. */
const bytesPerRow = 512

/**
 * Commits on the calling thread: to wake another one, to be woken by it, and to read again what the other connection has
 * written takes longer than to write some hundred envelopes. It waits neither for the disk nor for another that writes.
 *
 * The thread that writes folds the write-ahead log into the file meanwhile. That log begins anew only where all of it was folded, which
 * needs a moment without a commit. If none comes for long, one batch waits.
 */
export class InlineWriter {
  /** Through the same connection, which need not read again what it has written itself. */
  readonly lookup: Lookup
  readonly #file: LogFile
  /** Resolves to whether the file has all that the write-ahead log had. */
  readonly #fold: () => Promise<boolean>
  #bytes = 0
  #commits = 0
  #folding: Promise<void> | undefined
  #resting: Promise<void> | undefined
  /** When the next attempt is due, by `performance.now()`. */
  #nextFoldAt = 0

  constructor(path: string, fold: () => Promise<boolean>) {
    this.#fold = fold
    const file = new LogFile({ path, durability: 'process', role: 'secondary' })
    this.#file = file
    this.lookup = lookupThrough(
      () => file.use(({ db }) => db),
      () => file.close(),
    )
  }

  /**
   * Whether the batch is committed; otherwise nothing of it is, and it is to take the long way. Throws a `LogError` as the
   * thread that writes would.
   */
  append(space: number, batch: readonly Draft[]): boolean {
    try {
      this.lookup.refresh()
      const submission = { space, drafts: batch.map(storable) }
      const [refusal] = this.#file.use(({ chainWriter }) => chainWriter.append([submission]))
      if (refusal !== undefined) throw refusal
      this.#count(batch)
      return true
    } catch (error) {
      if (isBusy(error)) return false
      throw asLogError(error)
    }
  }

  /** What the next batch is to wait for, of whichever space; mostly nothing. */
  rest(): Promise<void> | undefined {
    if (this.#bytes >= maxWalBytes) this.#resting ??= this.#foldRest()
    return this.#resting
  }

  #count(batch: readonly Draft[]): void {
    this.#commits++
    this.#bytes += bytesPerCommit
    for (const { body } of batch) this.#bytes += body.length + bytesPerRow
    if (this.#bytes < foldBytes || this.#folding !== undefined) return
    if (performance.now() >= this.#nextFoldAt) this.#folding = this.#foldSome()
  }

  async #foldSome(): Promise<void> {
    const start = performance.now()
    const { commits, isWhole } = await this.#foldOnce()
    if (isWhole && commits === this.#commits) this.#bytes = 0
    this.#folding = undefined
    const end = performance.now()
    this.#nextFoldAt = end + Math.max(foldPause.ms, foldPause.times * (end - start))
  }

  /** While nobody commits. Readers may be in the way; then it is tried again once as much has come. */
  async #foldRest(): Promise<void> {
    await this.#folding
    await this.#foldOnce()
    this.#bytes = 0
    this.#resting = undefined
  }

  /** Where it fails the write-ahead log grows, and whatever is wrong shows at the next write. */
  async #foldOnce(): Promise<{ readonly commits: number; readonly isWhole: boolean }> {
    const commits = this.#commits
    const isWhole = await this.#fold().catch(() => false)
    return { commits, isWhole }
  }

  /** Forgets what it remembers of the file, which may have been left in doubt. */
  close(): void {
    this.#file.close()
  }
}
