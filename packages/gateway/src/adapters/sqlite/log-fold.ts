import { createTurnFold, type Guard, type TurnFold, type TurnSnapshot } from '@meup/views'
import type Database from 'better-sqlite3'
import { LogError } from '../../log/error.js'
import { envelopeOf } from '../../space/replay.js'
import { FoldSnapshots } from './fold-snapshots.js'
import { type LoggedBody, pageOf, prunedThrough } from './log-page.js'
import type { ProjectedLog } from './projected-log.js'

/** Folds over one log: where they begin, and what is kept of them so that they need not begin there again. */
export class LogFold {
  readonly #db: Database.Database
  readonly #log: ProjectedLog
  readonly #guard: Guard
  readonly #snapshots: FoldSnapshots
  /** On its way to the place where the log is to be pruned. */
  #base: TurnFold | undefined
  #damaged: number[] = []
  /** The newest snapshot that is known to be whole; seq 0 = none. */
  saved = { seq: 0, bytes: 0 }

  constructor(db: Database.Database, log: ProjectedLog, guard: Guard) {
    this.#db = db
    this.#log = log
    this.#guard = guard
    this.#snapshots = new FoldSnapshots(db, log.space)
  }

  /** Up to where the log has been pruned: a fold without a snapshot begins behind it. */
  get pruned(): number {
    return prunedThrough(this.#db, this.#log)
  }

  /** Where a rebuilt projection begins. */
  beginning(): number {
    const { pruned } = this
    if (pruned === 0) return 0
    const find = (to: number) => this.#snapshots.find(pruned, to, { bases: true }, this.#damaged)
    return (find(pruned) ?? find(Number.MAX_SAFE_INTEGER))?.seq ?? pruned
  }

  /** Seqs of snapshots that were found damaged since this was asked. */
  takeDamaged(): readonly number[] {
    return this.#damaged.splice(0)
  }

  /**
   * A fold that has taken the log as far as a snapshot before `seq` tells, or nothing. Throws where that is not enough, as
   * rows have been pruned.
   */
  restore(seq: number): TurnFold {
    const { pruned } = this
    const { fold, ...saved } = this.#from(pruned, seq, false)
    this.saved = saved
    if (fold.seq === 0 && pruned > 0 && seq !== pruned) {
      throw new LogError(
        'projection',
        'The snapshots of turns and steps are damaged, and the log has been pruned.',
      )
    }
    return fold
  }

  /** Has the fold take the next page, up to `through`. */
  follow(fold: TurnFold, through: number, each: (row: LoggedBody) => void): void {
    const stand = this.standOf(fold)
    if (fold.seq > 0 && stand > fold.seq) {
      throw new LogError('projection', 'The log has been pruned further than turns and steps had come.')
    }
    if (stand < through) for (const row of pageOf(this.#db, this.#log, stand, through)) each(row)
  }

  standOf({ seq }: TurnFold): number {
    return Math.max(seq, this.pruned)
  }

  /** Stores what would have to be folded again after a restart, unless it is stored already. */
  save(fold: TurnFold): void {
    const { seq } = fold
    if (seq > this.saved.seq) this.saved = { seq, bytes: this.#save(fold, false) }
  }

  /** Removes what can be made again. */
  forget(): void {
    this.#snapshots.forget()
    this.saved = { seq: 0, bytes: 0 }
  }

  /** Makes a part of the snapshot that will stand for the rows up to `through`. Whether it is there. */
  keep(through: number): boolean {
    const fold = this.#base ?? this.#from(this.pruned, through, true).fold
    this.#base = undefined // A page that fails leaves it in the middle.
    this.follow(fold, through, (row) => void fold.apply(envelopeOf(row)))
    if (fold.seq < through) {
      this.#base = fold
      return false
    }
    this.#save(fold, true)
    return true
  }

  #save(fold: TurnFold, isBase: boolean): number {
    const bytes = this.#snapshots.save(fold.seq, fold.snapshot(), isBase)
    this.#snapshots.tidy(this.pruned)
    return bytes
  }

  #from(first: number, last: number, bases: boolean): { fold: TurnFold; seq: number; bytes: number } {
    const { name, epoch } = this.#log
    const fold = createTurnFold({ space: name, epoch, guard: this.#guard })
    const found = this.#snapshots.find(first, last, { bases }, this.#damaged)
    if (found !== undefined) fold.restore(found.snapshot as TurnSnapshot)
    return { fold, seq: fold.seq, bytes: found?.bytes ?? 0 }
  }
}
