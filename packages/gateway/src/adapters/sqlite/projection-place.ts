import type Database from 'better-sqlite3'
import type { ProjectedLog } from './projected-log.js'
import { damaged, digestOf } from './row-digest.js'

/** How far the turns and steps of one space have come. */
interface StoredPlace {
  readonly session_id: string
  /** Up to where the log has been taken. */
  readonly seq: number
  /** What is older than this time was pruned. */
  readonly kept: string
  /** 1 while everything is thrown away to be made again. */
  readonly clearing: number
}

const place = 'how far turns and steps have come'

type Stored = StoredPlace & { readonly digest: string }

const select = 'SELECT session_id, seq, kept, clearing, digest FROM projections WHERE space = ?'

const put = `
  INSERT INTO projections (space, session_id, seq, kept, clearing, digest)
  VALUES (@space, @session_id, @seq, @kept, @clearing, @digest)
  ON CONFLICT (space) DO UPDATE SET session_id = excluded.session_id, seq = excluded.seq, kept = excluded.kept,
    clearing = excluded.clearing, digest = excluded.digest`

/** As the file has it. Throws a `LogError` of code `projection` where it is damaged. */
export function placeOf(db: Database.Database, { space, epoch }: ProjectedLog): StoredPlace {
  const stored = db.prepare<[number], Stored>(select).get(space)
  if (stored?.session_id !== epoch || !isWhole(space, stored)) throw damaged(place)
  return stored
}

const isWhole = (space: number, { digest, ...place }: Stored): boolean => digest === digestIn(space, place)

const digestIn = (space: number, { session_id, seq, kept, clearing }: StoredPlace): string =>
  digestOf('projections', [space, session_id, seq, kept, clearing])

/** How far the turns and steps of one space have come, for whoever writes them. */
export class ProjectionPlace {
  readonly #log: ProjectedLog
  readonly #makeRoom: Database.Statement<[string, number]>
  readonly #put: Database.Statement<[object]>
  #place: StoredPlace
  #isDamaged: boolean

  /** `from`: where one that is new begins. */
  constructor(db: Database.Database, log: ProjectedLog, from: number) {
    this.#log = log
    this.#makeRoom = db.prepare('DELETE FROM projections WHERE session_id = ? AND space <> ?')
    this.#put = db.prepare(put)
    const stored = db.prepare<[number], Stored>(select).get(log.space)
    this.#isDamaged =
      stored === undefined ? hasRows(db, log) : stored.digest !== '' && !isWhole(log.space, stored)
    // An empty log may have been given another epoch.
    const isKnown = !this.#isDamaged && stored?.session_id === log.epoch
    this.#place = isKnown ? placeIn(stored) : { session_id: log.epoch, seq: from, kept: '', clearing: 0 }
    if (!this.#isDamaged && !(isKnown && isWhole(log.space, stored))) this.#store(this.#place)
  }

  /** Up to where the log has been taken; what is set was stored. */
  get seq(): number {
    return this.#place.seq
  }

  set seq(seq: number) {
    this.#place = { ...this.#place, seq }
  }

  /** To be called in the transaction that stores what the log did up to here. */
  store(seq: number): void {
    this.#store({ ...this.#place, seq })
  }

  /** What is older than this time was pruned. */
  get kept(): string {
    return this.#place.kept
  }

  /** Whether everything is being thrown away. */
  get isClearing(): boolean {
    return this.#place.clearing === 1
  }

  prune(before: string): void {
    if (before !== this.kept) this.#change({ kept: before })
  }

  /** Everything may go now; it is made again from `seq` on. */
  clear(seq: number): void {
    this.#isDamaged = false
    this.#change({ clearing: 1, seq })
  }

  cleared(): void {
    this.#change({ clearing: 0 })
  }

  /** Throws a `LogError` of code `projection` where the file does not tell how far they have come: what it has is to be cleared. */
  refuseIfDamaged(): void {
    if (this.#isDamaged) throw damaged(place)
  }

  #change(changed: Partial<StoredPlace>): void {
    const place = { ...this.#place, ...changed }
    this.#store(place)
    this.#place = place
  }

  #store(place: StoredPlace): void {
    const { space } = this.#log
    // Only a damaged row says that another space has this log.
    this.#makeRoom.run(place.session_id, space)
    this.#put.run({ space, ...place, digest: digestIn(space, place) })
  }
}

const placeIn = ({ digest: _, ...stored }: Stored): StoredPlace => stored

/** Whether anything was projected of this log. */
const hasRows = (db: Database.Database, { space }: ProjectedLog): boolean =>
  db.prepare('SELECT 1 FROM projection_heads WHERE space = ?').get(space) !== undefined
