import type Database from 'better-sqlite3'
import { nanoid } from 'nanoid'
import { genesis, roomForHashes, type Seal, sealDraft } from '../../log/chain.js'
import { duplicateIdError, gapError, LogError } from '../../log/error.js'
import type { OpenedSpace, WriterOptions } from './calls.js'
import { openForWriting } from './files.js'
import { Pruning, readSnapshot } from './pruning.js'
import { columns, type Storable, type StoredRow } from './rows.js'
import { isBusy, isRepeatedId } from './sqlite-error.js'

/** An open connection, and the objects that keep prepared statements and cached state for it. */
interface Opened {
  readonly db: Database.Database
  readonly chainWriter: ChainWriter
  readonly pruning: Pruning
}

/**
 * The log file for writing. After a failed write it is uncertain what is stored: the connection is closed with its state, and
 * the next use opens the file again.
 */
export class LogFile {
  readonly #options: WriterOptions
  #opened: Opened | undefined

  /** Creates the file if missing. */
  constructor(options: WriterOptions) {
    this.#options = options
    this.#opened = open(options, { create: true })
  }

  /** Throws a `LogError` for a wrong call, and other errors if the file failed. */
  use<Result>(task: (opened: Opened) => Result): Result {
    try {
      // A file that vanished is not created again: its readers still have the old one open.
      this.#opened ??= open(this.#options, { create: false })
      return task(this.#opened)
    } catch (error) {
      // A busy file was not changed, so its state is still certain.
      if (!(error instanceof LogError) && !isBusy(error)) this.close()
      throw error
    }
  }

  /** Whether there are pruned rows that still have to be removed from the file. */
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

/** Pause after a slice, as a multiple of the time that its removal took, so that other connections can write in between. */
const rest = 3
const leastRestMs = 5

/** Returns a function that starts removing pruned rows, slice by slice between calls. */
export function createTidier(file: LogFile): () => void {
  let isWaiting = false
  const tidy = (): void => {
    isWaiting = false
    if (!file.isLittered) return
    const begin = performance.now()
    try {
      file.use(({ pruning }) => pruning.removeSome())
    } catch {
      // A failed removal is not reported here: the pruned rows are already invisible to readers, the next write reports the
      // failure, and the removal continues after it.
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

/** A batch of one space and its outcome: `undefined` = committed. */
interface Submission {
  readonly space: number
  readonly drafts: readonly Storable[]
}
type Outcome = LogError | undefined

/** The end of a space's chain. */
interface Tip {
  readonly seq: number
  readonly hash: Uint8Array
}

/**
 * Writes the envelopes of all spaces. Caches the end of each chain, so that an append reads nothing unless another connection
 * has appended.
 */
export class ChainWriter {
  readonly #db: Database.Database
  readonly #tips = new Map<number, Tip>()
  readonly #room = roomForHashes()
  readonly #insert: Database.Statement<[space: number, ...StoredRow]>
  readonly #forget: Database.Statement<[space: number, id: string]>
  readonly #has: Database.Statement<[space: number, id: string]>
  readonly #last: Database.Statement<[space: number], Tip>
  readonly #transaction: Database.Transaction<
    (submissions: readonly Submission[], tips: Map<number, Tip>) => Outcome[]
  >
  readonly #batch: Database.Transaction<(submission: Submission, tip: Tip) => Tip>

  constructor(db: Database.Database) {
    this.#db = db
    const placeholders = columns.replaceAll(/[^, ]+/g, '?')
    // Foreign keys, or another conflict clause than FAIL, would make each insert journal its changes: half of its cost.
    db.pragma('foreign_keys = OFF')
    this.#insert = db.prepare(`INSERT OR FAIL INTO envelopes (space, ${columns}) VALUES (?, ${placeholders})`)
    this.#forget = db.prepare(
      `DELETE FROM envelopes WHERE space = ? AND id = ?
        AND seq <= (SELECT through FROM pruned WHERE pruned.space = envelopes.space)`,
    )
    this.#has = db.prepare('SELECT 1 FROM envelopes WHERE space = ? AND id = ?')
    this.#last = db.prepare('SELECT seq, hash FROM envelopes WHERE space = ? ORDER BY seq DESC LIMIT 1')
    // Within `#transaction`, this transaction becomes a savepoint, so that a refused batch is undone alone.
    this.#batch = db.transaction((submission, tip) => this.#insertAll(submission, tip))
    this.#transaction = db.transaction((submissions, tips) =>
      submissions.map((submission) => this.#attempt(submission, tips)),
    )
  }

  /** Finds a space, or creates it with a new epoch. */
  open(name: string): OpenedSpace {
    const db = this.#db
    db.prepare('INSERT INTO spaces (name, epoch) VALUES (?, ?) ON CONFLICT DO NOTHING').run(name, nanoid())
    const known = db.prepare<[string], { space: number; epoch: string }>(
      'SELECT id AS space, epoch FROM spaces WHERE name = ?',
    )
    const found = known.get(name)
    if (found === undefined) throw new Error(`the space '${name}' was stored but is not found`)
    return { ...found, head: this.getHead(found.space), snapshot: readSnapshot(db, found.space) }
  }

  getHead(space: number): number {
    return this.#readStoredTip(space).seq
  }

  /** Hash of the last row; of an empty space, the hash that its first row links to. */
  headHash(space: number): Uint8Array {
    return this.#readStoredTip(space).hash
  }

  /**
   * Commits the batches in one transaction. A refused batch is undone without affecting the others. Any other failure is
   * thrown, and nothing is stored.
   */
  append(submissions: readonly Submission[]): Outcome[] {
    const tips = new Map<number, Tip>()
    const [only, ...others] = submissions
    const isAlone = only !== undefined && others.length === 0
    // A single batch needs no savepoint, which would make each insert save the pages that it changes.
    const outcomes = isAlone ? [this.#attempt(only, tips)] : this.#transaction.immediate(submissions, tips)
    for (const [space, tip] of tips) this.#tips.set(space, tip)
    return outcomes
  }

  #attempt(submission: Submission, tips: Map<number, Tip>): Outcome {
    const { space, drafts } = submission
    const tip = tips.get(space) ?? this.#tipBefore(space, drafts[0]?.seq)
    try {
      tips.set(space, this.#batch.immediate(submission, tip))
      return undefined
    } catch (error) {
      if (error instanceof LogError) return error
      throw error
    }
  }

  #tipBefore(space: number, seq: number | undefined): Tip {
    const known = this.#tips.get(space)
    return known !== undefined && known.seq + 1 === seq ? known : this.#readStoredTip(space)
  }

  #readStoredTip(space: number): Tip {
    const tip = this.#last.get(space) ?? { seq: 0, hash: genesis(this.#readEpoch(space)) }
    this.#tips.set(space, tip)
    return tip
  }

  #readEpoch(space: number): string {
    const epoch = this.#db.prepare<[number], string>('SELECT epoch FROM spaces WHERE id = ?').pluck()
    const found = epoch.get(space)
    if (found === undefined) throw new Error(`there is no space ${space}`)
    return found
  }

  #insertAll({ space, drafts }: Submission, tip: Tip): Tip {
    let { seq, hash } = tip
    const room = this.#room
    for (const draft of drafts) {
      if (draft.seq !== seq + 1) throw gapError(seq + 1, draft.seq)
      const sealed = sealDraft(draft, hash, draft.salt, room)
      try {
        this.#insertOne(space, draft, sealed)
      } catch (error) {
        if (!isRepeatedId(error)) throw error
        // The id of a pruned row that is not removed yet may be used again: removes the row.
        if (this.#forget.run(space, draft.id).changes === 0) {
          throw this.#has.get(space, draft.id) === undefined ? error : duplicateIdError(draft.id)
        }
        this.#insertOne(space, draft, sealed)
      }
      seq = draft.seq
      hash = sealed.hash
    }
    return { seq, hash: Buffer.from(hash) }
  }

  #insertOne(space: number, draft: Storable, { salt, leaf, hash, digest }: Seal): void {
    const { seq, id, ts, from, kind, to, context, correlationId, body } = draft
    this.#insert.run(
      space,
      seq,
      id,
      ts,
      from,
      kind,
      to,
      context,
      correlationId,
      body,
      salt,
      leaf,
      hash,
      digest,
    )
  }
}
