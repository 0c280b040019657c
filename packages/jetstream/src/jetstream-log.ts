import { setTimeout as delay } from 'node:timers/promises'
import {
  type Checkpoint,
  closedError,
  createRow,
  type DraftEntry,
  duplicateIdError,
  type EnvelopeLog,
  eraseRow,
  gapError,
  type Heading,
  isErased,
  LogError,
  type Logger,
  type Query,
  type Row,
  rangeError,
  type SharedLog,
  type Snapshot,
  sealDraft,
  toFields,
} from '@meup/gateway'
import { nanoid } from 'nanoid'
import { encodeBatch, estimateBytes } from './batch.js'
import { streamTexts } from './errors.js'
import type { Follower } from './follower.js'
import { asNatsError } from './nats-error.js'
import type { Prunings } from './prunings.js'
import type { Replica } from './replica.js'
import type { Rewrites } from './rewrites.js'
import type { Sharing } from './sharing.js'
import type { StoredBatch, SubjectLog } from './subject-log.js'

/** Maximum rows per message: as many as in a group commit, so that the stream stores all of a commit or none. */
const maxRows = 512
/**
 * Bytes that a row may have besides its frame: fields added by the gateway, and fields that are also stored outside of the
 * body.
 */
const maxRowBytes = 16 * 1024
/** How long `recover` retries while NATS is unavailable, and its pause between attempts. */
const [recoverTimeoutMs, retryMs] = [3000, 100]
/** How long a following gateway waits until the leader, which writes the stream, has erased a row. */
const eraseTimeoutMs = 5000

/**
 * The messages of the stream that contain a row: the original one, and the one that was rewritten without the bodies of erased
 * rows.
 */
interface InStream {
  readonly original: StoredBatch | undefined
  readonly rewritten: StoredBatch | undefined
}

const isBlank = (row: number, batch: StoredBatch): boolean =>
  batch.rows().every((each) => each.seq !== row || isErased(each))

interface JetStreamLogParts {
  readonly space: string
  readonly subject: SubjectLog
  readonly replica: Replica
  readonly prunings: Prunings
  readonly rewrites: Rewrites
  readonly follower: Follower
  readonly sharing: Sharing
  readonly logger: Logger
  onClose(): void
}

/** The log of one space: written to a stream, read from a replica on this machine. */
export class JetStreamLog implements EnvelopeLog {
  readonly epoch: string
  readonly #parts: JetStreamLogParts
  /** The last write to the stream, for which the next one waits. */
  #lastWrite: Promise<unknown> = Promise.resolve()
  #shown: number
  /** The reason why appends are refused until `recover`. */
  #broken: LogError | undefined
  #isClosed = false

  constructor(parts: JetStreamLogParts) {
    this.#parts = parts
    this.epoch = parts.replica.epoch
    this.#shown = parts.replica.head
    const fence = (): void => {
      this.#broken ??= notLeader(parts.space)
    }
    parts.sharing.join((task) => this.#inTurn(task), fence)
  }

  /**
   * On the leader, the last row of the last commit whose messages are all stored; on a follower, the last row that has arrived.
   */
  get head(): number {
    const { sharing, replica } = this.#parts
    return sharing.leads ? this.#shown : replica.head
  }

  get maxFrameBytes(): number {
    return this.#parts.subject.maxBytes - maxRowBytes
  }

  get shared(): SharedLog<Row> {
    return this.#parts.sharing
  }

  get oldest(): number {
    return this.#parts.replica.pruned + 1
  }

  get snapshot(): Snapshot | undefined {
    return this.#parts.replica.snapshot
  }

  async append(batch: readonly DraftEntry[]): Promise<void> {
    this.#refuseIfClosed()
    const { sharing, space } = this.#parts
    // Copies the bytes, because the caller may reuse them.
    const drafts = batch.map((draft) => ({ ...draft, body: copy(draft.body), content: copy(draft.content) }))
    await this.#inTurn(async () => {
      if (this.#broken !== undefined) throw this.#broken
      if (!sharing.leads) throw notLeader(space)
      await this.#commit(this.#sealed(drafts))
    })
  }

  async read(query: Query): Promise<Row[]> {
    this.#refuseIfClosed()
    return this.#parts.replica.read({ ...query, before: Math.min(query.before ?? Infinity, this.head + 1) })
  }

  find(id: string): Row | undefined {
    this.#refuseIfClosed()
    const row = this.#parts.replica.find(id)
    return row !== undefined && row.seq <= this.head ? row : undefined
  }

  heading(id: string): Heading | undefined {
    this.#refuseIfClosed()
    const heading = this.#parts.replica.heading(id)
    return heading !== undefined && heading.seq <= this.head ? heading : undefined
  }

  headingsFrom(start: string, after: string, limit: number): Heading[] {
    this.#refuseIfClosed()
    return this.#parts.replica.headingsFrom(start, after, limit).filter(({ seq }) => seq <= this.head)
  }

  hasContext(root: string): boolean {
    this.#refuseIfClosed()
    return this.#parts.replica.hasContext(root)
  }

  async prune(through: number, snapshot: Uint8Array): Promise<void> {
    this.#refuseIfClosed()
    const bytes = copy(snapshot)
    await this.#inTurn(() => this.#prune(through, bytes))
  }

  /**
   * Erases the bodies of rows in the replica and in the stream. Only the sequencing gateway rewrites the stream; other gateways
   * wait until it has done so.
   */
  async erase(seqs: readonly number[]): Promise<boolean> {
    this.#refuseIfClosed()
    const { replica } = this.#parts
    let found = await this.#inTurn(() => replica.erase(seqs))
    try {
      for (const seq of seqs) found = (await this.#eraseInStream(seq)) || found
    } catch (error) {
      throw asNatsError(error, `erasing in the space ${this.#parts.space}`)
    }
    return found
  }

  async keep(checkpoint: Checkpoint): Promise<void> {
    this.#refuseIfClosed()
    const bytes = copy(checkpoint.bytes)
    await this.#inTurn(() => this.#parts.replica.keep({ ...checkpoint, bytes }))
  }

  async checkpoint(): ReturnType<EnvelopeLog['checkpoint']> {
    this.#refuseIfClosed()
    return this.#parts.replica.checkpoint()
  }

  async recover(): Promise<void> {
    this.#refuseIfClosed()
    const { sharing, replica, follower } = this.#parts
    await this.#inTurn(async () => {
      const before = replica.head
      await replica.recheck()
      if (replica.head < before) follower.forget()
      await retryWhileUnavailable(async () => {
        await sharing.settle()
        await follower.catchUp()
      })
      this.#broken = undefined
      this.#shown = replica.head
    })
  }

  async close(): Promise<void> {
    if (!this.#isClosed) this.#parts.onClose()
    this.#isClosed = true
    // The callers of the writes get their errors. Writes are sequential, so it is enough to wait for the last one.
    await Promise.allSettled([this.#lastWrite])
    await this.#parts.sharing.close()
    await this.#parts.replica.close()
  }

  #refuseIfClosed(): void {
    if (this.#isClosed) throw closedError('log')
  }

  #inTurn<Result>(task: () => Promise<Result>): Promise<Result> {
    const done = this.#lastWrite.then(task, task)
    this.#lastWrite = done
    done.catch(() => undefined)
    return done
  }

  /**
   * The drafts as rows with their hashes, each of which includes the previous one; throws if the drafts do not continue the
   * log.
   */
  #sealed(drafts: readonly DraftEntry[]): Row[] {
    const { replica } = this.#parts
    const fresh = new Set<string>()
    let { hash } = replica
    return drafts.map((draft, i) => {
      const expected = replica.head + i + 1
      if (draft.seq !== expected) throw gapError(expected, draft.seq)
      if (fresh.has(draft.id) || replica.heading(draft.id) !== undefined) throw duplicateIdError(draft.id)
      fresh.add(draft.id)
      const row = createRow(toFields(draft), draft.body, sealDraft(draft, hash))
      hash = row.hash
      return row
    })
  }

  /** Writes rows to the stream, which commits them. The replica's file gets them a little later. */
  async #commit(rows: readonly Row[]): Promise<void> {
    const messages = splitIntoMessages(rows, this.#parts.subject.maxBytes)
    try {
      for (const message of messages) await this.#write(message)
    } catch (error) {
      this.#broken = asNatsError(error, `appending to the space ${this.#parts.space}`)
      throw this.#broken
    }
    this.#shown = this.#parts.replica.head
  }

  async #write(rows: readonly Row[]): Promise<void> {
    const { subject, replica, follower } = this.#parts
    const nonce = nanoid()
    const named = { epoch: this.epoch, nonce, first: replica.head + 1 }
    const data = encodeBatch(named, rows, replica.hash)
    const at = await subject.write({ data, nonce, expected: follower.position })
    await replica.append(rows)
    follower.position = at
  }

  /**
   * Waits until the stream does not contain the body of this row any more. Resolves with `false` if the
   * stream did not contain it before.
   */
  async #eraseInStream(row: number): Promise<boolean> {
    const { sharing, space } = this.#parts
    const until = performance.now() + eraseTimeoutMs
    for (let isFirst = true; ; isFirst = false) {
      const found = await this.#findInStream(row)
      if (found === undefined) return !isFirst
      if (sharing.leads) {
        await this.#rewrite(row, found)
        return true
      }
      if (performance.now() > until)
        throw new LogError('unavailable', streamTexts.unerased, { space, seq: row })
      await delay(retryMs)
    }
  }

  /** Finds the messages that may contain the row's body; `undefined` = none. */
  async #findInStream(row: number): Promise<InStream | undefined> {
    const { subject, rewrites, replica } = this.#parts
    if (row < this.oldest || row > replica.head) return undefined
    const tip = await subject.tip()
    const located = tip && (await subject.locate(row, tip))
    const original = located && located.head.first <= row ? located : undefined
    const rewritten = await rewrites.find(row)
    if (original === undefined && rewritten !== undefined && isBlank(row, rewritten)) {
      await rewrites.tidy(rewritten.head.first) // An earlier gateway may have stopped before this step.
      return undefined
    }
    return original || rewritten ? { original, rewritten } : undefined
  }

  async #rewrite(row: number, { original, rewritten }: InStream): Promise<void> {
    const { subject, rewrites, follower } = this.#parts
    const batch = rewritten ?? original
    if (batch === undefined) return
    if (!isBlank(row, batch)) {
      const { head } = batch
      const rows = batch.rows().map((each) => (each.seq === row ? eraseRow(each) : each))
      const data = encodeBatch(head, rows, Buffer.from(head.previous, 'hex'))
      await rewrites.keep(head.first, data, rewritten)
    }
    if (original === undefined) return
    // Writes an empty batch first if the message is the newest one: the subject must keep its newest message, because that
    // determines where the log ends.
    await this.#inTurn(async () => {
      if (original.at === follower.position) await this.#write([])
    })
    await subject.remove(original)
  }

  async #prune(through: number, bytes: Uint8Array): Promise<void> {
    const { replica, prunings, subject, rewrites, sharing, logger, space } = this.#parts
    const isInside = Number.isInteger(through) && through >= this.oldest && through < replica.head
    if (!isInside) throw rangeError(through, this.oldest, replica.head)
    const [row] = await replica.read({ after: through - 1, limit: 1 })
    if (row === undefined) throw new Error(`row ${through} of the replica is missing`)
    await prunings.keep(this.epoch, { through, hash: row.hash, bytes })
    await replica.prune(through, bytes)
    sharing.notify('all', { head: { do: 'pruned' } })
    try {
      const tip = await subject.tip()
      if (tip !== undefined) await subject.purge((await subject.locate(through + 1, tip)).at)
      await rewrites.prune(through)
    } catch (err) {
      logger.warn({ space, err }, 'pruned rows are still in the stream; the next pruning removes them')
    }
  }
}

/** Retries a task while the servers elect a leader, which takes seconds. */
async function retryWhileUnavailable(task: () => Promise<void>): Promise<void> {
  const until = performance.now() + recoverTimeoutMs
  for (;;) {
    try {
      return await task()
    } catch (error) {
      const isTimeout = performance.now() > until
      if (isTimeout || !(error instanceof LogError) || error.code !== 'unavailable') throw error
      await delay(retryMs)
    }
  }
}

/** Throws if a row does not fit into a message. */
function splitIntoMessages(rows: readonly Row[], maxBytes: number): Row[][] {
  const portions: Row[][] = []
  let [portion, bytes]: [Row[], number] = [[], 0]
  for (const row of rows) {
    const size = estimateBytes(row)
    if (size > maxBytes)
      throw new LogError('server', streamTexts.largeRow, { id: row.id, bytes: size, maxBytes })
    if (portion.length === maxRows || (bytes + size > maxBytes && portion.length > 0)) {
      portions.push(portion)
      portion = []
      bytes = 0
    }
    portion.push(row)
    bytes += size
  }
  if (portion.length > 0) portions.push(portion)
  return portions
}

const notLeader = (space: string): LogError => new LogError('fenced', streamTexts.notLeader, { space })

const copy = (bytes: Uint8Array): Uint8Array => Buffer.from(bytes)
