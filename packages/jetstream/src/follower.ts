import { setTimeout as delay } from 'node:timers/promises'
import { LogError, type Row, type Snapshot } from '@meup/gateway'
import { type BatchHead, lastOf } from './batch.js'
import type { Prunings } from './prunings.js'
import type { Replica } from './replica.js'
import type { StoredBatch, SubjectLog } from './subject-log.js'

/** What was just written may be on its way here for so long [milliseconds]. */
const graceMs = 100
/** Rows that the replica takes at once. */
const atOnce = 1000

interface FollowerParts {
  readonly subject: SubjectLog
  readonly replica: Replica
  readonly prunings: Prunings
}

/** Brings the replica of a space up with the stream. Rejects with `corrupt` where that is not the log it was. */
export class Follower {
  /** Place in the stream of the last message that the replica has; absent = to be found out. */
  #position: number | undefined
  readonly #subject: SubjectLog
  readonly #replica: Replica
  readonly #prunings: Prunings

  constructor({ subject, replica, prunings }: FollowerParts) {
    this.#subject = subject
    this.#replica = replica
    this.#prunings = prunings
  }

  get position(): number {
    if (this.#position === undefined) throw new Error('the replica has not been compared with the stream')
    return this.#position
  }

  set position(place: number) {
    this.#position = place
  }

  /** The replica has lost rows: where the first of them stands is to be found out. */
  forget(): void {
    this.#position = undefined
  }

  /** Called with rows that the replica has taken. */
  onRows: (rows: readonly Row[]) => void = () => {}

  /** What the server says was just written. Where something before it is missing, that is read first. */
  async take(batch: StoredBatch): Promise<void> {
    const replica = this.#replica
    const { at, head } = batch
    if (lastOf(head) <= replica.head) return
    const isNext = head.first === replica.head + 1 && head.previous === hex(replica.hash)
    if (!isNext) return this.catchUp()
    this.#assertOurs(head)
    const rows = batch.rows()
    await replica.take(rows)
    this.#position = at
    this.onRows(rows)
  }

  /** Whether the replica has what the stream had when this was asked, or gets it by itself within a moment. */
  async isCurrent(): Promise<boolean> {
    const replica = this.#replica
    const before = replica.head
    const tip = await this.#subject.tip()
    if (tip === undefined || tip.head.epoch !== replica.epoch) return false
    const last = lastOf(tip.head)
    if (last > replica.head) await delay(graceMs)
    return last === replica.head ? tip.at === this.#position : last >= before && last < replica.head
  }

  /** Takes everything that the stream has now. */
  async catchUp(): Promise<void> {
    const replica = this.#replica
    const tip = await this.#subject.tip()
    if (tip === undefined)
      throw this.#other(`has nothing of this space, and there were ${replica.head} envelopes`)
    this.#assertOurs(tip.head)
    const last = lastOf(tip.head)
    if (last < replica.head) {
      throw this.#other(`ends at envelope ${last} of this space, and ${replica.head} were acknowledged`)
    }
    if (tip.at === this.#position && last === replica.head) return
    const pruned = await this.#prunings.last()
    if (pruned !== undefined && pruned.epoch !== replica.epoch) throw this.#other('was pruned as another log')
    await this.#read(tip, pruned)
    if (hex(replica.hash) !== tip.head.hash) {
      throw this.#other(`has another envelope ${last} than the replica`)
    }
    this.#position = tip.at
  }

  /** Removes from the replica what is pruned in the stream, once the replica has more than that. */
  async prune(): Promise<void> {
    const replica = this.#replica
    const pruned = await this.#prunings.last()
    if (pruned === undefined || pruned.through <= replica.pruned || pruned.through >= replica.head) return
    const { epoch, through, hash, bytes } = pruned
    const [row] = await replica.read({ after: through - 1, limit: 1 })
    if (epoch !== replica.epoch || row === undefined || hex(row.hash) !== hex(hash)) {
      throw this.#other(`was pruned behind another envelope ${through} than the replica has`)
    }
    await replica.prune(through, bytes)
  }

  async #read(tip: StoredBatch, pruned: Snapshot | undefined): Promise<void> {
    const replica = this.#replica
    const last = lastOf(tip.head)
    if (replica.head === last) return
    let snapshot = replica.head === 0 ? pruned : undefined
    if (snapshot === undefined && pruned !== undefined && replica.head < pruned.through) {
      const file = 'remove the file of the replica, and it is made again'
      throw this.#other(`begins at ${pruned.through + 1}, and the replica ends at ${replica.head}: ${file}`)
    }
    let expected = (snapshot?.through ?? replica.head) + 1
    const from = this.#position ?? (await this.#subject.locate(expected, tip)) - 1
    let waiting: Row[] = []
    const take = async (): Promise<void> => {
      const rows = waiting
      waiting = []
      await replica.take(rows, snapshot)
      snapshot = undefined
      this.onRows(rows)
    }
    for await (const { at, head, rows } of this.#subject.after(from, tip.at)) {
      this.#assertOurs(head)
      if (head.first > expected) throw this.#other(`has no envelopes ${expected} to ${head.first - 1}`)
      waiting.push(...rows().filter(({ seq }) => seq >= expected))
      expected = Math.max(expected, lastOf(head) + 1)
      if (waiting.length >= atOnce) {
        await take()
        this.#position = at
      }
    }
    await take()
  }

  #assertOurs({ epoch }: BatchHead): void {
    if (epoch !== this.#replica.epoch) throw this.#other(`has another log, of epoch ${epoch}`)
  }

  #other(what: string): LogError {
    const { stream, subject } = this.#subject.place
    const advice = `Somebody has purged it, written to it or made it anew: restore it from a copy`
    return new LogError('corrupt', `The stream ${stream} (${subject}) ${what}. ${advice}.`)
  }
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
