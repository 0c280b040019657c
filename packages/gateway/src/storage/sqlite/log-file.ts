import type Database from 'better-sqlite3'
import { LogError } from '../../log/error.js'
import type { WriterOptions } from './calls.js'
import { ChainWriter } from './chain-writer.js'
import { isBusy } from './failure.js'
import { openForWriting } from './files.js'
import { Pruning } from './pruning.js'

/** The file through one connection, with what is remembered about it. */
interface Opened {
  readonly db: Database.Database
  readonly chainWriter: ChainWriter
  readonly pruning: Pruning
}

/**
 * The file of the logs, for writing. A disk that fails in the middle of a write leaves it uncertain what is stored: the
 * connection is closed then, nothing of it is remembered, and the next use opens the file and finds out.
 */
export class LogFile {
  readonly #options: WriterOptions
  #opened: Opened | undefined

  /** Makes the file where it is missing. */
  constructor(options: WriterOptions) {
    this.#options = options
    this.#opened = open(options, { create: true })
  }

  /** Throws a `LogError` where the call itself was wrong, and anything else where the file failed. */
  use<Result>(task: (opened: Opened) => Result): Result {
    try {
      // A file that vanished is not made again: its readers still have the old one.
      this.#opened ??= open(this.#options, { create: false })
      return task(this.#opened)
    } catch (error) {
      // Whoever found the file taken by another has changed nothing.
      if (!(error instanceof LogError) && !isBusy(error)) this.close()
      throw error
    }
  }

  /** Whether pruned rows wait to be removed. */
  get isLittered(): boolean {
    return this.#opened?.pruning.isDone === false
  }

  close(): void {
    this.#opened?.db.close()
    this.#opened = undefined
  }
}

function open({ path, durability, role = 'writer' }: WriterOptions, how: { create: boolean }): Opened {
  const db = openForWriting(path, durability, { ...how, role })
  try {
    return { db, chainWriter: new ChainWriter(db), pruning: new Pruning(db) }
  } catch (error) {
    db.close()
    throw error
  }
}

/** Milliseconds of rest for each that removing took: others write meanwhile, here and through other connections. */
const rest = 3
const leastRestMs = 5

/** Gives a function that from now on, slice by slice between the calls, removes what has been pruned. */
export function createTidier(file: LogFile): () => void {
  let isWaiting = false
  const tidy = (): void => {
    isWaiting = false
    if (!file.isLittered) return
    const begin = performance.now()
    try {
      file.use(({ pruning }) => pruning.removeSome())
    } catch {
      // These rows are out of sight. The next write reports the fault, and this goes on.
      return
    }
    tidyLater(Math.max(leastRestMs, rest * (performance.now() - begin)))
  }
  const tidyLater = (ms: number): void => {
    if (isWaiting || !file.isLittered) return
    isWaiting = true
    setTimeout(tidy, ms).unref()
  }
  return () => tidyLater(leastRestMs)
}
