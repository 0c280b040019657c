import type Database from 'better-sqlite3'
import type { ProjectedLog } from './projected-log.js'

interface StoredPlace {
  readonly seq: number
  readonly kept: string
  readonly clearing: number
}

/** How far the turns and steps of one space have come, as the file knows it. */
export class ProjectionPlace {
  readonly #db: Database.Database
  readonly #space: number
  /** Up to where the log has been taken; the tables are written together with it. */
  seq: number
  #kept: string
  #isClearing: boolean

  /** `from`: where one that is new begins. */
  constructor(db: Database.Database, { space, epoch }: ProjectedLog, from: number) {
    this.#db = db
    this.#space = space
    // An empty log may have been given another epoch.
    db.prepare(
      `INSERT INTO projections (space, session_id, seq) VALUES (?, ?, ?) ON CONFLICT (space)
        DO UPDATE SET session_id = excluded.session_id, seq = excluded.seq WHERE session_id <> excluded.session_id`,
    ).run(space, epoch, from)
    const stored = db.prepare<[number], StoredPlace>(
      'SELECT seq, kept, clearing FROM projections WHERE space = ?',
    )
    const { seq, kept, clearing } = stored.get(space) ?? { seq: from, kept: '', clearing: 0 }
    this.seq = seq
    this.#kept = kept
    this.#isClearing = clearing === 1
  }

  /** What is older than this time was pruned. */
  get kept(): string {
    return this.#kept
  }

  set kept(time: string) {
    if (time === this.#kept) return
    this.#set('kept = ?', time)
    this.#kept = time
  }

  /** Whether everything is being thrown away. */
  get isClearing(): boolean {
    return this.#isClearing
  }

  /** Everything may go now; it is made again from `seq` on. */
  clear(seq: number): void {
    this.#set('clearing = 1, seq = ?', seq)
    this.seq = seq
    this.#isClearing = true
  }

  cleared(): void {
    this.#set('clearing = ?', 0)
    this.#isClearing = false
  }

  #set(assignment: string, value: string | number): void {
    this.#db.prepare(`UPDATE projections SET ${assignment} WHERE space = ?`).run(value, this.#space)
  }
}
