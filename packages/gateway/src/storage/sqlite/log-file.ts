import type Database from 'better-sqlite3'
import { nanoid } from 'nanoid'
import { genesis, roomForHashes, type Seal, seal } from '../../log/chain.js'
import { duplicateIdError, gapError, LogError } from '../../log/error.js'
import type { OpenedSpace, WriterOptions } from './calls.js'
import { isBusy, isRepeatedId } from './failure.js'
import { openForWriting } from './files.js'
import { Pruning, readSnapshot } from './pruning.js'
import { columns, type Storable, type StoredRow } from './rows.js'

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

/** A batch of one space, and what became of it: `undefined` = committed. */
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
 * Writes the envelopes of all spaces. Remembers where each space's chain ends, so that an append reads nothing unless another
 * connection has appended.
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
    // With foreign keys, or without FAIL, each insert would keep what it changes: half of what it costs.
    db.pragma('foreign_keys = OFF')
    this.#insert = db.prepare(`INSERT OR FAIL INTO envelopes (space, ${columns}) VALUES (?, ${placeholders})`)
    this.#forget = db.prepare(
      `DELETE FROM envelopes WHERE space = ? AND id = ?
        AND seq <= (SELECT through FROM pruned WHERE pruned.space = envelopes.space)`,
    )
    this.#has = db.prepare('SELECT 1 FROM envelopes WHERE space = ? AND id = ?')
    this.#last = db.prepare('SELECT seq, hash FROM envelopes WHERE space = ? ORDER BY seq DESC LIMIT 1')
    // A transaction within a transaction is a savepoint.
    this.#batch = db.transaction((submission, tip) => this.#insertAll(submission, tip))
    this.#transaction = db.transaction((submissions, tips) =>
      submissions.map((submission) => this.#attempt(submission, tips)),
    )
  }

  /** A space that is new to the file gets its epoch here. */
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

  /** Of the last row; of an empty space, what its first one will link to. */
  headHash(space: number): Uint8Array {
    return this.#readStoredTip(space).hash
  }

  /**
   * Commits the batches in one transaction. A batch that is refused leaves nothing behind and takes no other with it.
   * Any other failure is thrown; then nothing of any batch is stored.
   */
  append(submissions: readonly Submission[]): Outcome[] {
    const tips = new Map<number, Tip>()
    const [only, ...others] = submissions
    const isAlone = only !== undefined && others.length === 0
    // A batch alone needs no savepoint within the transaction, which would make each insert keep the pages that it changes.
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
      const sealed = seal(draft, hash, draft.salt, room)
      try {
        this.#insertOne(space, draft, sealed)
      } catch (error) {
        if (!isRepeatedId(error)) throw error
        // The id of a pruned row that is still to be removed is free.
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
