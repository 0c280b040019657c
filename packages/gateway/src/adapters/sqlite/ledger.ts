import type Database from 'better-sqlite3'
import { nanoid } from 'nanoid'
import { genesis, seal } from '../../log/chain.js'
import { duplicateIdError, gapError, LogError } from '../../log/error.js'
import type { Draft } from '../../ports/envelope-log.js'
import { columns, type StoredRow, toJson } from './columns.js'
import { isRepeatedId } from './failure.js'

export interface OpenedSpace {
  /** By which the file knows the space. */
  readonly space: number
  readonly epoch: string
  readonly head: number
}

/** A batch of one space, and what became of it: `undefined` = committed. */
interface Submission {
  readonly space: number
  readonly drafts: readonly Draft[]
}
type Outcome = LogError | undefined

/** The end of a space's chain. */
interface Tip {
  readonly seq: number
  readonly hash: Uint8Array
}

/** Writes the envelopes of all spaces. Remembers where each open space's chain ends, so that an append reads nothing. */
export class Ledger {
  readonly #db: Database.Database
  readonly #tips = new Map<number, Tip>()
  readonly #insert: Database.Statement<[space: number, ...StoredRow]>
  readonly #transaction: Database.Transaction<
    (submissions: readonly Submission[], tips: Map<number, Tip>) => Outcome[]
  >
  readonly #savepoint: Database.Transaction<(submission: Submission, tip: Tip) => Tip>

  constructor(db: Database.Database) {
    this.#db = db
    const placeholders = columns.replaceAll(/[^, ]+/g, '?')
    this.#insert = db.prepare(`INSERT INTO envelopes (space, ${columns}) VALUES (?, ${placeholders})`)
    // A transaction within a transaction is a savepoint.
    this.#savepoint = db.transaction((submission, tip) => this.#insertAll(submission, tip))
    this.#transaction = db.transaction((submissions, tips) =>
      submissions.map((submission) => this.#attempt(submission, tips)),
    )
  }

  /** A space that is new to the file gets its epoch here. */
  open(name: string): OpenedSpace {
    const db = this.#db
    db.prepare('INSERT INTO spaces (name, epoch) VALUES (?, ?) ON CONFLICT DO NOTHING').run(name, nanoid())
    const known = db.prepare<[string], { id: number; epoch: string }>(
      'SELECT id, epoch FROM spaces WHERE name = ?',
    )
    const space = known.get(name)
    if (space === undefined) throw new Error(`the space '${name}' was stored but is not found`)
    const { id, epoch } = space
    const last = db.prepare<[number], Tip>(
      'SELECT seq, hash FROM envelopes WHERE space = ? ORDER BY seq DESC LIMIT 1',
    )
    const tip = last.get(id) ?? { seq: 0, hash: genesis(epoch) }
    this.#tips.set(id, tip)
    return { space: id, epoch, head: tip.seq }
  }

  /**
   * Commits the batches in one transaction. A batch that is refused leaves nothing behind and takes no other with it.
   * Any other failure is thrown; then nothing of any batch is stored.
   */
  append(submissions: readonly Submission[]): Outcome[] {
    const tips = new Map<number, Tip>()
    const outcomes = this.#transaction.immediate(submissions, tips)
    for (const [space, tip] of tips) this.#tips.set(space, tip)
    return outcomes
  }

  #attempt(submission: Submission, tips: Map<number, Tip>): Outcome {
    const { space } = submission
    const tip = tips.get(space) ?? this.#tips.get(space)
    if (tip === undefined) throw new Error(`space ${space} is not open`)
    try {
      tips.set(space, this.#savepoint(submission, tip))
      return undefined
    } catch (error) {
      if (error instanceof LogError) return error
      throw error
    }
  }

  #insertAll({ space, drafts }: Submission, tip: Tip): Tip {
    let { seq, hash } = tip
    for (const draft of drafts) {
      if (draft.seq !== seq + 1) throw gapError(seq + 1, draft.seq)
      const { id, ts, from, kind, to, context, correlationId, body } = draft
      const { salt, leaf, hash: next, digest } = seal(draft, hash)
      try {
        this.#insert.run(
          space,
          draft.seq,
          id,
          ts,
          from,
          kind,
          toJson(to),
          context ?? null,
          toJson(correlationId),
          body,
          salt,
          leaf,
          next,
          digest,
        )
      } catch (error) {
        throw isRepeatedId(error) ? duplicateIdError(draft.id) : error
      }
      seq = draft.seq
      hash = next
    }
    return { seq, hash }
  }
}
