import type { Draft } from '../../ports/envelope-log.js'
import { storable } from './columns.js'
import { asLogError, isBusy } from './failure.js'
import { LogFile } from './log-file.js'
import { type Lookup, lookupThrough } from './lookup.js'

/** Bytes of the write-ahead log after which it is folded into the file. */
const foldBytes = 32 * 1024 * 1024
/** What a commit writes beside its rows: whole pages, of the tables and of each index. */
const bytesPerCommit = 16 * 1024
/** Rows in the write-ahead log, beside their bodies. */
const bytesPerRow = 512

/**
 * Commits on the calling thread: to wake another one, to be woken by it, and to read again what the other connection has
 * written takes longer than to write some hundred envelopes. It waits neither for the disk nor for another that writes.
 *
 * The thread that writes folds the write-ahead log into the file meanwhile. Once most of that is done, one batch waits for the
 * rest, which is little, since the write-ahead log begins anew only where all of it was folded.
 */
export class InlineWriter {
  /** Through the same connection, which need not read again what it has written itself. */
  readonly lookup: Lookup
  readonly #file: LogFile
  /** Resolves when what the write-ahead log had is in the file. */
  readonly #fold: () => Promise<unknown>
  #bytes = 0
  #folding: 'no' | 'most of it' | 'the rest is due' = 'no'

  constructor(path: string, fold: () => Promise<unknown>) {
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

  /** What the next batch is to wait for; mostly nothing. */
  rest(): Promise<unknown> | undefined {
    if (this.#folding !== 'the rest is due') return undefined
    this.#folding = 'no'
    this.#bytes = 0
    return this.#foldSome()
  }

  #count(batch: readonly Draft[]): void {
    this.#bytes += bytesPerCommit
    for (const { body } of batch) this.#bytes += body.length + bytesPerRow
    if (this.#bytes < foldBytes || this.#folding !== 'no') return
    this.#folding = 'most of it'
    void this.#foldSome().then(() => {
      this.#folding = 'the rest is due'
    })
  }

  /** Where it fails the write-ahead log grows, and whatever is wrong shows at the next write. */
  #foldSome(): Promise<unknown> {
    return this.#fold().catch(() => {})
  }

  /** Forgets what it remembers of the file, which may have been left in doubt. */
  close(): void {
    this.#file.close()
  }
}
