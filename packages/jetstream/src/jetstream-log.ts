import { setTimeout as delay } from 'node:timers/promises'
import {
  type Checkpoint,
  closedError,
  type Draft,
  duplicateIdError,
  type EnvelopeLog,
  fieldsOf,
  gapError,
  type Heading,
  LogError,
  type Logger,
  type Query,
  type Row,
  rangeError,
  rowOf,
  type SharedLog,
  type Snapshot,
  seal,
} from '@meup/gateway'
import { nanoid } from 'nanoid'
import { encodeBatch, sizeOf } from './batch.js'
import { asNatsError } from './connect.js'
import type { Follower } from './follower.js'
import type { Prunings } from './prunings.js'
import type { Replica } from './replica.js'
import type { Sharing } from './sharing.js'
import type { SubjectLog } from './subject-log.js'

/** Rows of one message: as many as a group commit gathers, so that the stream has all of it or nothing. */
const mostRows = 512
/** Of a row beside its frame: what the gateway adds, and the addressees and ids that are kept beside the body as well. */
const maxRowBytes = 16 * 1024
/** For so long a recovery is tried before it is said that NATS is away, and so much lies between two attempts [milliseconds]. */
const [patienceMs, betweenMs] = [3000, 100]

interface JetStreamLogParts {
  readonly space: string
  readonly subject: SubjectLog
  readonly replica: Replica
  readonly prunings: Prunings
  readonly follower: Follower
  readonly sharing: Sharing
  readonly logger: Logger
  onClose(): void
}

/** The log of one space in a stream, with a replica on this machine: that is what is read. */
export class JetStreamLog implements EnvelopeLog {
  readonly epoch: string
  readonly #parts: JetStreamLogParts
  /** What is written is written one after another. */
  #lastWrite: Promise<unknown> = Promise.resolve()
  #shown: number
  /** Why nothing can be appended before `recover`. */
  #broken: LogError | undefined
  #isClosed = false

  constructor(parts: JetStreamLogParts) {
    this.#parts = parts
    this.epoch = parts.replica.epoch
    this.#shown = parts.replica.head
    const fence = (): void => {
      this.#broken ??= fenced(parts.space)
    }
    parts.sharing.join((task) => this.#inTurn(task), fence)
  }

  /** What was appended is shown when all of it is there; what others have appended, at once. */
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

  async append(batch: readonly Draft[]): Promise<void> {
    this.#refuseIfClosed()
    const { sharing, space } = this.#parts
    // The caller may use its bytes again.
    const drafts = batch.map((draft) => ({ ...draft, body: copy(draft.body), content: copy(draft.content) }))
    await this.#inTurn(async () => {
      if (this.#broken !== undefined) throw this.#broken
      if (!sharing.leads) throw fenced(space)
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

  hasContext(root: string): boolean {
    this.#refuseIfClosed()
    return this.#parts.replica.hasContext(root)
  }

  async prune(through: number, snapshot: Uint8Array): Promise<void> {
    this.#refuseIfClosed()
    const bytes = copy(snapshot)
    await this.#inTurn(() => this.#prune(through, bytes))
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
      await patiently(async () => {
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
    // Whoever wrote hears of a failure; writes are carried out in their order, so the last one stands for all.
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

  /** The rows that the drafts become; throws where they do not continue the log. */
  #sealed(drafts: readonly Draft[]): Row[] {
    const { replica } = this.#parts
    const fresh = new Set<string>()
    let { hash } = replica
    return drafts.map((draft, i) => {
      const expected = replica.head + i + 1
      if (draft.seq !== expected) throw gapError(expected, draft.seq)
      if (fresh.has(draft.id) || replica.heading(draft.id) !== undefined) throw duplicateIdError(draft.id)
      fresh.add(draft.id)
      const row = rowOf(fieldsOf(draft), draft.body, seal(draft, hash))
      hash = row.hash
      return row
    })
  }

  /** What the stream has is committed. The replica, from which it is read, has it in its file a little later. */
  async #commit(rows: readonly Row[]): Promise<void> {
    const messages = portionsOf(rows, this.#parts.subject.maxBytes)
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
    await replica.take(rows)
    follower.position = at
  }

  async #prune(through: number, bytes: Uint8Array): Promise<void> {
    const { replica, prunings, subject, sharing, logger, space } = this.#parts
    const isInside = Number.isInteger(through) && through >= this.oldest && through < replica.head
    if (!isInside) throw rangeError(through, this.oldest, replica.head)
    const [row] = await replica.read({ after: through - 1, limit: 1 })
    if (row === undefined) throw new Error(`row ${through} of the replica is missing`)
    await prunings.keep(this.epoch, { through, hash: row.hash, bytes })
    await replica.prune(through, bytes)
    sharing.tell('all', { head: { do: 'pruned' } })
    try {
      const tip = await subject.tip()
      if (tip !== undefined) await subject.purge(await subject.locate(through + 1, tip))
    } catch (err) {
      logger.warn({ space, err }, 'pruned rows are still in the stream; the next pruning removes them')
    }
  }
}

/** Servers that choose a leader take some seconds, and whoever waits for them should notice at once. */
async function patiently(task: () => Promise<void>): Promise<void> {
  const until = performance.now() + patienceMs
  for (;;) {
    try {
      return await task()
    } catch (error) {
      const isOver = performance.now() > until
      if (isOver || !(error instanceof LogError) || error.code !== 'unavailable') throw error
      await delay(betweenMs)
    }
  }
}

/** What goes in one message each. Throws where a row does not fit into any. */
function portionsOf(rows: readonly Row[], maxBytes: number): Row[][] {
  const portions: Row[][] = []
  let [portion, bytes]: [Row[], number] = [[], 0]
  for (const row of rows) {
    const size = sizeOf(row)
    if (size > maxBytes) {
      const message = `The envelope ${row.id} has ${size} bytes with its row, and a message ${maxBytes} at most.`
      throw new LogError('server', `${message} Raise max_payload of the NATS servers.`)
    }
    if (portion.length === mostRows || (bytes + size > maxBytes && portion.length > 0)) {
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

function fenced(space: string): LogError {
  return new LogError('fenced', `Another gateway sequences the space ${space}: ask that one.`)
}

const copy = (bytes: Uint8Array): Uint8Array => Buffer.from(bytes)
