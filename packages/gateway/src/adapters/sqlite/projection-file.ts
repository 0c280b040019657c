import type { SafetySettings } from '@meup/safety'
import type Database from 'better-sqlite3'
import { LogError } from '../../log/error.js'
import { PayloadGuard } from '../../projection/payload-guard.js'
import type { ReaderOptions } from './calls.js'
import { isBusy } from './failure.js'
import { openForWriting } from './files.js'
import type { ProjectedLog } from './projected-log.js'
import { ProjectedSpace } from './projected-space.js'

interface Known {
  readonly log: ProjectedLog
  readonly guard: PayloadGuard
}

/**
 * The file of the logs, for writing turns and steps. A write that fails leaves it uncertain what is stored: everything that
 * is remembered of the file is forgotten then, and the next use finds out.
 */
export class ProjectionFile {
  readonly #path: string
  #db: Database.Database | undefined
  readonly #known = new Map<number, Known>()
  readonly #spaces = new Map<number, ProjectedSpace>()

  constructor({ path }: ReaderOptions) {
    this.#path = path
    this.#db = open(path)
  }

  add(log: ProjectedLog, safety: SafetySettings): void {
    this.#known.set(log.space, { log, guard: new PayloadGuard(safety) })
  }

  configure(space: number, safety: SafetySettings): void {
    this.#known.get(space)?.guard.configure(safety)
  }

  use<Result>(space: number, task: (space: ProjectedSpace) => Result): Result {
    try {
      return task(this.#open(space))
    } catch (error) {
      // Somebody else wrote just now: what was to be written is tried again.
      if (!(error instanceof LogError) && !isBusy(error)) this.#forget()
      throw error
    }
  }

  /** Stores what makes the next start quick, and forgets the space. */
  release(space: number): void {
    const opened = this.#spaces.get(space)
    this.#spaces.delete(space)
    this.#known.delete(space)
    try {
      opened?.save()
    } catch {
      // The next start folds more of the log again; that is all.
    }
  }

  close(): void {
    for (const space of [...this.#spaces.keys()]) this.release(space)
    this.#forget()
  }

  #open(space: number): ProjectedSpace {
    const opened = this.#spaces.get(space)
    if (opened !== undefined) return opened
    const known = this.#known.get(space)
    if (known === undefined) throw new Error(`the space ${space} has not been opened`)
    this.#db ??= open(this.#path)
    const fresh = new ProjectedSpace(this.#db, known.log, known.guard.guard)
    this.#spaces.set(space, fresh)
    return fresh
  }

  #forget(): void {
    this.#spaces.clear()
    this.#db?.close()
    this.#db = undefined
  }
}

/**
 * What is lost with the power is taken from the log again: it need not be waited for. Foreign keys would have each insert
 * keep the pages that it changes; rows show by themselves what they belong to.
 */
function open(path: string): Database.Database {
  const db = openForWriting(path, 'process', { create: false })
  db.pragma('foreign_keys = OFF')
  return db
}
