import { setTimeout as delay } from 'node:timers/promises'
import { LogError, type Row, type Snapshot } from '@meup/gateway'
import { type BatchHead, getLastSeq } from './batch.js'
import { streamTexts } from './errors.js'
import type { Prunings } from './prunings.js'
import type { Replica } from './replica.js'
import type { Rewrites } from './rewrites.js'
import type { StoredBatch, SubjectLog } from './subject-log.js'

/** Milliseconds that a new batch may take from the stream to this gateway, before its rows count as missing in the replica. */
const graceMs = 100
/** Maximum number of rows appended to the replica at once. */
const maxRowsAtOnce = 1000

interface FollowerParts {
  readonly subject: SubjectLog
  readonly replica: Replica
  readonly prunings: Prunings
  readonly rewrites: Rewrites
}

/** Keeps the replica of a space up to date with the stream. Rejects with `corrupt` if the stream has another log. */
export class Follower {
  /** Stream sequence of the replica's last message; absent = unknown. */
  #position: number | undefined
  readonly #subject: SubjectLog
  readonly #replica: Replica
  readonly #prunings: Prunings
  readonly #rewrites: Rewrites

  constructor({ subject, replica, prunings, rewrites }: FollowerParts) {
    this.#subject = subject
    this.#replica = replica
    this.#prunings = prunings
    this.#rewrites = rewrites
  }

  get position(): number {
    if (this.#position === undefined) throw new Error('the replica has not been compared with the stream')
    return this.#position
  }

  set position(place: number) {
    this.#position = place
  }

  /** Call when the replica has lost rows, so that the position of its last message is unknown. */
  forget(): void {
    this.#position = undefined
  }

  /** Called with rows that were appended to the replica. */
  onRows: (rows: readonly Row[]) => void = () => {}

  /** Appends a batch that was just written to the stream, after the batches before it that the replica lacks. */
  async onBatch(batch: StoredBatch): Promise<void> {
    const replica = this.#replica
    const { at, head } = batch
    if (getLastSeq(head) <= replica.head) return
    const isNext = head.first === replica.head + 1 && head.previous === hex(replica.hash)
    if (!isNext) return this.catchUp()
    this.#assertOurs(head)
    const rows = batch.rows()
    await replica.append(rows)
    this.#position = at
    this.onRows(rows)
  }

  /** Whether the replica has all rows of the stream, or is just receiving the missing ones. */
  async isCurrent(): Promise<boolean> {
    const replica = this.#replica
    const before = replica.head
    const tip = await this.#subject.tip()
    if (tip === undefined || tip.head.epoch !== replica.epoch) return false
    const last = getLastSeq(tip.head)
    if (last > replica.head) await delay(graceMs)
    return last === replica.head ? tip.at === this.#position : last >= before && last < replica.head
  }

  /** Appends all rows of the stream that the replica lacks. */
  async catchUp(): Promise<void> {
    const replica = this.#replica
    const tip = await this.#subject.tip()
    if (tip === undefined) throw this.#other('emptyStream', { known: replica.head })
    this.#assertOurs(tip.head)
    const last = getLastSeq(tip.head)
    if (last < replica.head) throw this.#other('shortStream', { last, acknowledged: replica.head })
    if (tip.at === this.#position && last === replica.head) return
    const pruned = await this.#prunings.last()
    if (pruned !== undefined) this.#assertOurs(pruned)
    await this.#read(tip, pruned)
    if (hex(replica.hash) !== tip.head.hash) throw this.#other('otherRow', { seq: last })
    this.#position = tip.at
  }

  /** Prunes the replica up to the row to which the stream was pruned, if the replica has a later row. */
  async prune(): Promise<void> {
    const replica = this.#replica
    const pruned = await this.#prunings.last()
    if (pruned === undefined || pruned.through <= replica.pruned || pruned.through >= replica.head) return
    const { epoch, through, hash, bytes } = pruned
    const [row] = await replica.read({ after: through - 1, limit: 1 })
    if (epoch !== replica.epoch || row === undefined || hex(row.hash) !== hex(hash)) {
      throw this.#other('otherRow', { seq: through })
    }
    await replica.prune(through, bytes)
  }

  async #read(tip: StoredBatch, pruned: Snapshot | undefined): Promise<void> {
    const replica = this.#replica
    const last = getLastSeq(tip.head)
    if (replica.head === last) return
    let snapshot = replica.head === 0 ? pruned : undefined
    if (snapshot === undefined && pruned !== undefined && replica.head < pruned.through) {
      throw this.#other('oldReplica', { first: pruned.through + 1, head: replica.head })
    }
    let expected = (snapshot?.through ?? replica.head) + 1
    const from = this.#position ?? (await this.#subject.locate(expected, tip)).at - 1
    let waiting: Row[] = []
    const append = async (): Promise<void> => {
      const rows = waiting
      waiting = []
      await replica.append(rows, snapshot)
      snapshot = undefined
      this.onRows(rows)
    }
    const take = ({ head, rows }: StoredBatch): void => {
      this.#assertOurs(head)
      waiting.push(...rows().filter(({ seq }) => seq >= expected))
      expected = Math.max(expected, getLastSeq(head) + 1)
    }
    for await (const batch of this.#subject.after(from, tip.at)) {
      const { at, head } = batch
      while (head.first > expected) take(await this.#findRewritten(expected, head))
      take(batch)
      if (waiting.length >= maxRowsAtOnce) {
        await append()
        this.#position = at
      }
    }
    await append()
  }

  /** The rewritten batch with the row `expected`, whose original message was removed from the stream. Throws if there is none. */
  async #findRewritten(expected: number, { first }: BatchHead): Promise<StoredBatch> {
    const batch = await this.#rewrites.find(expected)
    if (batch === undefined) throw this.#other('missingRows', { first: expected, last: first - 1 })
    return batch
  }

  #assertOurs({ epoch }: Pick<BatchHead, 'epoch'>): void {
    if (epoch !== this.#replica.epoch) throw this.#other('otherLog', { epoch })
  }

  #other(problem: keyof typeof streamTexts, more: Readonly<Record<string, string | number>>): LogError {
    const { stream, subject } = this.#subject.place
    return new LogError<string>('corrupt', streamTexts[problem], { stream, subject, ...more })
  }
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
