import { closedError, LogError, logTexts } from '../../log/error.js'
import type { DraftEntry, EnvelopeLog, Heading } from '../../ports/envelope-log.js'
import type { ReaderCalls, WriterCalls } from './calls.js'
import type { Channel } from './channel.js'
import { untilEmptied } from './erasing.js'
import { LogFile } from './log-file.js'
import { type Packed, packBatch, unpackPage } from './pack.js'
import { type Lookup, lookupThrough, type Range, storable } from './rows.js'
import { asLogError, isBusy } from './sqlite-error.js'

export interface Threads {
  readonly writer: Channel<WriterCalls>
  readonly reader: Channel<ReaderCalls>
  /** Commits on this thread. Absent = commits go through the writer thread, and each waits for the disk. */
  readonly inlineWriter: InlineWriter | undefined
  /** Looks up rows on this thread, because admission is synchronous. */
  readonly lookup: Lookup
}

/** Maximum size of a read on this thread: for so few rows, asking another thread takes longer. */
const few = { rows: 256, bytes: 1024 * 1024 }

/** The ascending seqs of a read, if known in advance; `undefined` = unknown, or possibly many. */
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

/** Opens the log of one space. Shows only rows that this thread knows to be committed and not pruned. */
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
  /**
   * Whether to read through the writer thread: opening a log starts with a read, which should not wait for the reader thread to
   * start.
   */
  const isReadByWriter = (): boolean => isUnwritten && reader.isStarting
  const readPage = (range: Range): Promise<Packed> =>
    isReadByWriter() ? writer.call('read', [range]) : reader.call('read', [range])

  const hand = (batch: readonly DraftEntry[]): Promise<unknown> => {
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
      // Commits here if the writer thread is idle, that is, has completed all earlier calls.
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
      if (again.epoch !== epoch) throw new LogError('corrupt', logTexts.replaced, { space: name })
      head = again.head
      snapshot = again.snapshot
      lookup.refresh()
    },
    async close() {
      if (!closed) onClose()
      closed = true
      // Ignores errors, which the callers of the writes get. The writer answers in order, so waiting for the last write is
      // enough.
      await Promise.allSettled([lastWrite])
    },
  }
}

/** Estimated bytes of the write-ahead log: above the first it is checkpointed, above the second the next batch waits for that. */
const [foldBytes, maxWalBytes] = [16 * 1024 * 1024, 32 * 1024 * 1024]
/** Pause between two checkpoints: minimum milliseconds, and a multiple of the last one's duration. */
const foldPause = { ms: 20, times: 10 }
/** Bytes that a commit writes besides its rows: whole pages of the tables and indexes. */
const bytesPerCommit = 16 * 1024
/** Bytes of a row in the write-ahead log besides its body. */
const bytesPerRow = 512

/**
 * Commits on the calling thread: waking the writer thread, being woken by it, and rereading what it wrote takes longer than
 * writing some hundred envelopes. Never waits for the disk or for another writer. The writer thread checkpoints the write-ahead
 * log. That log restarts only if all of it was checkpointed, which needs a moment without commits; if none comes for long, one
 * batch waits.
 */
export class InlineWriter {
  /** Looks up rows through the connection that writes, which need not reread its own writes. */
  readonly lookup: Lookup
  readonly #file: LogFile
  /** Moves the write-ahead log into the database file. Resolves to whether all of it was moved. */
  readonly #fold: () => Promise<boolean>
  #bytes = 0
  #commits = 0
  #folding: Promise<void> | undefined
  #resting: Promise<void> | undefined
  /** Earliest time of the next checkpoint, by `performance.now()`. */
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
   * Returns whether the batch is committed; if not, nothing of it is, and the writer thread has to commit it. Throws the same
   * `LogError` as that thread.
   */
  append(space: number, batch: readonly DraftEntry[]): boolean {
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

  /** The checkpoint that the next batch of any space has to wait for, if any. */
  rest(): Promise<void> | undefined {
    if (this.#bytes >= maxWalBytes) this.#resting ??= this.#foldRest()
    return this.#resting
  }

  #count(batch: readonly DraftEntry[]): void {
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

  /**
   * Checkpoints the rest of the write-ahead log while no commits run. If readers prevent it, commits continue, and wait again
   * after another `maxWalBytes`.
   */
  async #foldRest(): Promise<void> {
    await this.#folding
    await this.#foldOnce()
    this.#bytes = 0
    this.#resting = undefined
  }

  /** Checkpoints once. If that fails, the write-ahead log grows, and the next write reports the error. */
  async #foldOnce(): Promise<{ readonly commits: number; readonly isWhole: boolean }> {
    const commits = this.#commits
    const isWhole = await this.#fold().catch(() => false)
    return { commits, isWhole }
  }

  /** Drops the cached state of the file, which may be uncertain. */
  close(): void {
    this.#file.close()
  }
}
