import type { Draft } from '../../ports/envelope-log.js'
import { storable } from './columns.js'
import { asLogError, isBusy } from './failure.js'
import { LogFile } from './log-file.js'
import { type Lookup, lookupThrough } from './lookup.js'

/** Rows whose commit keeps the calling thread for a quarter of a millisecond. */
const [mostRows, mostBytes] = [16, 16 * 1024]
/** After so many bytes one batch takes the long way: the thread that writes folds the write-ahead log into the file. */
const bytesBetweenLongWays = 4 * 1024 * 1024

/**
 * Commits what is little on the calling thread: to wake another one and to be woken by it takes several times as long as to
 * write one envelope. It waits neither for the disk nor for whoever else writes.
 */
export class ShortWay {
  /** Through the same connection, which need not read again what it has written itself. */
  readonly lookup: Lookup
  readonly #file: LogFile
  #bytes = 0

  constructor(path: string) {
    const file = new LogFile({ path, durability: 'process', role: 'passer-by' })
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
    const bytes = batch.reduce((sum, { body }) => sum + body.length, 0)
    if (batch.length > mostRows || bytes > mostBytes || this.#bytes > bytesBetweenLongWays) {
      this.#bytes = 0
      return false
    }
    try {
      this.lookup.refresh()
      const submission = { space, drafts: batch.map(storable) }
      const [refusal] = this.#file.use(({ ledger }) => ledger.append([submission]))
      if (refusal !== undefined) throw refusal
      this.#bytes += bytes
      return true
    } catch (error) {
      if (isBusy(error)) return false
      throw asLogError(error)
    }
  }

  /** Forgets what it remembers of the file, which may have been left in doubt. */
  close(): void {
    this.#file.close()
  }
}
