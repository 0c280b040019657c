import type { BatchEnd, Guard, ReportedTurn, TurnFold } from '@meup/views'
import type Database from 'better-sqlite3'
import { type Changes, later, noChanges, reportedTurn, take } from '../../projection/changes.js'
import { envelopeOf } from '../../space/replay.js'
import { LogFold } from './log-fold.js'
import type { ProjectedLog } from './projected-log.js'
import { ProjectionClearing } from './projection-clearing.js'
import { ProjectionPlace } from './projection-place.js'
import { ProjectionRemoval, type Removed } from './projection-removal.js'
import { ProjectionTables } from './projection-tables.js'

/**
 * What has to be there since the last snapshot before another one is worth its while: envelopes, and bytes of them, for each
 * byte of that one. To write a snapshot costs as much as to fold so much of the log again.
 */
const [snapshotRows, snapshotWorth] = [5000, 4]

/** What a call has brought. */
export interface Advanced {
  /** The watermark. */
  readonly seq: number
  readonly ends: readonly BatchEnd[]
  /** Seqs of snapshots that were found damaged; older ones served. */
  readonly damaged: readonly number[]
}

/** What the fold has taken, and the tables have not. */
interface Page {
  readonly changes: Changes
  readonly seq: number
}

/** Turns and steps of one space in the tables of its file. Each call does little, so that none keeps the others waiting. */
export class ProjectedSpace {
  readonly #folds: LogFold
  readonly #place: ProjectionPlace
  readonly #tables: ProjectionTables
  readonly #removal: ProjectionRemoval
  readonly #clearing: ProjectionClearing
  #fold: TurnFold | undefined
  #page: Page | undefined
  /** Bytes of the log that were taken since the last snapshot. */
  #bytesSince = 0

  constructor(db: Database.Database, log: ProjectedLog, guard: Guard) {
    this.#folds = new LogFold(db, log, guard)
    this.#place = new ProjectionPlace(db, log, this.#folds.pruned)
    this.#tables = new ProjectionTables(db, log)
    this.#removal = new ProjectionRemoval(db, log)
    this.#clearing = new ProjectionClearing(db, log)
  }

  /** The watermark. */
  get seq(): number {
    return this.#place.seq
  }

  /** Takes the next page of the log, or does a part of what comes before that. */
  advance(through: number): Advanced {
    this.#place.refuseIfDamaged()
    if (this.#place.isClearing) this.clear()
    else if (this.seq < through) {
      if (this.#isSnapshotDue) this.save()
      this.#page ??= this.#take(through)
    }
    const ends = this.#page === undefined ? [] : this.#store(this.#page)
    return { seq: this.seq, ends, damaged: this.#folds.takeDamaged() }
  }

  /** Makes a part of the snapshot that will stand for the rows up to `through`. Whether it is there. */
  keep(through: number): boolean {
    return this.#folds.keep(through)
  }

  /** Removes a part of what is older. */
  prune(before: string): Removed {
    this.#place.refuseIfDamaged()
    this.#place.prune(later(before, this.#place.kept))
    this.#tables.forget()
    return this.#removal.some(this.#place.kept)
  }

  /** Throws a part of everything away. Whether nothing is left; then it is made again. */
  clear(): boolean {
    if (!this.#place.isClearing) {
      this.#fold = undefined
      this.#page = undefined
      this.#tables.forget()
      this.#folds.forget()
      this.#place.clear(this.#folds.beginning())
    }
    const isDone = this.#clearing.some()
    if (isDone) this.#place.cleared()
    return isDone
  }

  /** Stores what would have to be folded again after a restart. */
  save(): void {
    if (this.#fold === undefined || this.#fold.seq !== this.seq) return
    this.#folds.save(this.#fold)
    this.#bytesSince = 0
  }

  get #isSnapshotDue(): boolean {
    const { seq, bytes } = this.#folds.saved
    return (
      this.#fold !== undefined && this.seq - seq >= snapshotRows && this.#bytesSince >= snapshotWorth * bytes
    )
  }

  /** `undefined`: the fold has still to see again what the tables have already. */
  #take(through: number): Page | undefined {
    const fold = this.#fold ?? this.#folds.restore(this.seq)
    this.#fold = undefined // A page that fails leaves it in the middle.
    const changes = noChanges()
    const isNew = this.#folds.standOf(fold) >= this.seq
    this.#folds.follow(fold, isNew ? through : this.seq, (row) => {
      if (isNew) take(fold, row, changes, this.#place.kept)
      else fold.apply(envelopeOf(row))
      this.#bytesSince += row.body.length
    })
    this.#fold = fold
    return isNew ? { changes, seq: fold.seq } : undefined
  }

  #store({ changes, seq }: Page): BatchEnd[] {
    this.#tables.write(changes, this.seq, () => this.#place.store(seq))
    this.#place.seq = seq
    this.#page = undefined
    const turns = new Map<string, ReportedTurn>()
    for (const { value } of changes.ends) {
      if (!turns.has(value.turn.id)) turns.set(value.turn.id, reportedTurn(value.turn))
    }
    return changes.ends.map(({ value }) => ({ ...value, turn: turns.get(value.turn.id) ?? value.turn }))
  }
}
