import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AssignSnapshot } from '@meup/folds'
import { Recovery } from '../core/group-commit.js'
import { turnMemoryIn } from '../core/replay.js'
import type { Space } from '../core/space.js'
import { closedError, LogError } from '../log/error.js'
import { FoldedTurns } from './folded-turns.js'
import { type IndexFile, isDamaged } from './index-file.js'
import { TurnIndex } from './turn-index.js'

/** What is taken of the log at once: so little that nobody notices the wait. */
const portion = { limit: 256, maxBytes: 512 * 1024 }
/** While envelopes are delivered, the index gets one part in so many and one of the time. */
const restPerWork = 9
/** Milliseconds between two goes where nobody waits: for few envelopes it does not do what it can do for many. */
const [shortestRestMs, longestRestMs] = [1000, 10_000]
/** Part of the time past which this thread counts as busy. */
const busy = 0.25
/** Envelopes after which it is worth its while to keep what a start would have to find out again. */
const saveAfter = 200_000

interface Waiting {
  readonly seq: number
  resolve(): void
  reject(reason: unknown): void
}

/**
 * Keeps the index of a space up with its log [MEUP-10.5]: as soon as somebody asks or listens, else when there is nothing else to
 * do. Nothing that happens in the space waits for it.
 */
export class Indexer {
  /** Called as it goes on, in order, and once it is open: the index has the log up to `through`. */
  onAdvance: (through: number) => Promise<void> | void = () => {}
  /** Whether anybody waits for every envelope. */
  isWatched: () => boolean = () => false
  readonly #space: Space
  readonly #file: IndexFile
  readonly #recovery: Recovery
  #lastOpened: TurnIndex | undefined
  /** What `onAdvance` was told of last. */
  #notified = 0
  #isRunning = false
  #isOver = false
  #failure: unknown
  #load = performance.eventLoopUtilization()
  #waiting: Waiting[] = []
  /** Ends a rest. */
  #wake: () => void = () => {}
  /** Up to where the log was pruned, and the index not yet. */
  #pruned = 0

  constructor(space: Space, file: IndexFile) {
    this.#space = space
    this.#file = file
    this.#recovery = new Recovery(space.clock, (err, retryMs) => this.#failed(err, retryMs))
  }

  /** Of several spaces in one file, one may find it damaged: then the others open it again as well. */
  get #index(): TurnIndex | undefined {
    return this.#lastOpened?.isOpen ? this.#lastOpened : undefined
  }

  /** Last seq that is in the index. */
  get seq(): number {
    return this.#index?.seq ?? 0
  }

  /** There may be something new. */
  poke(): void {
    if (this.#isUrgent) this.#wake()
    if (this.#isRunning || this.#isOver) return
    this.#isRunning = true
    this.#recovery.begin(() => this.#catchUp())
  }

  /** The index, as soon as it has the log up to this seq; rejects with the reason where it cannot have it at present. */
  async reach(seq: number): Promise<TurnIndex> {
    for (;;) {
      if (this.#isOver) throw closedError('index')
      if (this.#failure !== undefined) throw this.#failure
      const index = this.#index
      if (index !== undefined && seq <= index.seq) return index
      await new Promise<void>((resolve, reject) => {
        this.#waiting.push({ seq, resolve, reject })
        this.poke()
      })
    }
  }

  /**
   * Why turns cannot be read of `index`, where this is the reason; what cannot be right is built again. `undefined`: it is
   * another.
   */
  failed(error: unknown, index: TurnIndex | undefined): string | undefined {
    if (index !== undefined && index !== this.#index) return 'the index is built again'
    const isOurs = error === this.#failure || isOfFile(error) || error instanceof LogError
    if (index !== undefined && isDamaged(error)) {
      this.#file.discard(describeError(error))
      this.poke()
    }
    return isOurs ? describeError(error) : undefined
  }

  /** The log was pruned up to `through`: so is the index, when it comes to it. */
  prune(through: number): void {
    this.#pruned = Math.max(this.#pruned, through)
    this.poke()
  }

  /** Ends, and keeps what the next start needs to go on. */
  close(): void {
    this.#isOver = true
    this.#wake()
    this.#recovery.close()
    this.#release(closedError('index'))
    try {
      this.#index?.save()
    } catch (err) {
      const { logger, config } = this.#space
      logger.warn({ space: config.name, err }, 'the index of turns could not be kept: it is built again')
    }
    this.#lastOpened = undefined
  }

  async #catchUp(): Promise<void> {
    const space = this.#space
    const index = await this.#open()
    if (this.#isOver) return
    await this.#notify(index)
    while (index.seq < space.delivered || this.#pruned > 0) {
      const [start, delivered] = [performance.now(), space.delivered]
      await this.#indexPortion(index)
      if (this.#isOver) return
      if (this.#index !== index) return this.#catchUp()
      await this.#notify(index)
      await this.#rest(performance.now() - start, space.delivered > delivered)
      if (this.#isOver) return
      if (this.#index !== index) return this.#catchUp()
    }
    this.#recovered()
    this.#isRunning = false
  }

  /** Once it has gone on: where it was before it was opened again is no news. */
  async #notify({ seq }: TurnIndex): Promise<void> {
    if (seq > this.#notified) {
      this.#recovered()
      await this.onAdvance(seq)
      this.#notified = seq
    }
    this.#reached()
  }

  async #indexPortion(index: TurnIndex): Promise<void> {
    const { log, delivered } = this.#space
    if (index.seq < delivered) {
      const rows = await log.read({ after: index.seq, before: delivered + 1, ...portion })
      if (this.#isOver || this.#index !== index) return
      if (rows[0]?.seq !== index.seq + 1) this.#leap(index)
      else this.#attempt(() => index.add(rows))
      if (index.unsaved > saveAfter && !this.#isUrgent) this.#attempt(() => index.save())
    }
    if (this.#pruned > 0 && this.#attempt(() => index.prune(this.#pruned))) this.#pruned = 0
    await nextTurn()
  }

  /** What it does not know of the log has been pruned: it goes on behind that. */
  #leap(index: TurnIndex): void {
    const { snapshot } = this.#space.log
    if (snapshot === undefined || index.seq > snapshot.through)
      throw new Error(`row ${index.seq + 1} of the log is missing`)
    this.#attempt(() => index.begin(this.#memoryAt(snapshot)))
  }

  #memoryAt({ bytes, through }: { readonly bytes: Uint8Array; readonly through: number }): AssignSnapshot {
    return turnMemoryIn(bytes, through, this.#space.log.epoch)
  }

  /** What fails leaves the index behind its file: it is opened again. */
  #attempt<Result>(task: () => Result): Result {
    try {
      return task()
    } catch (error) {
      this.#lastOpened = undefined
      if (isDamaged(error)) this.#file.discard(describeError(error))
      throw error
    }
  }

  async #open(): Promise<TurnIndex> {
    if (this.#index !== undefined) return this.#index
    const { log, config } = this.#space
    const db = await this.#file.open()
    const index = this.#attempt(() => TurnIndex.open(db, config.name, log.epoch, log.oldest - 1))
    if (!(await this.#isOfLog(index))) {
      const { snapshot } = log
      this.#attempt(() => index.begin(snapshot && this.#memoryAt(snapshot)))
    }
    this.#pruned = Math.max(this.#pruned, log.oldest - 1)
    this.#lastOpened = index
    return index
  }

  /** Whether what is in the index was made of this log: a copy of an earlier day may have gone on in another way. */
  async #isOfLog({ stored: { seq, hash } }: TurnIndex): Promise<boolean> {
    const { log } = this.#space
    if (seq === 0) return log.oldest === 1
    if (seq > log.head) return false
    const [row] = seq < log.oldest ? [] : await log.read({ after: seq - 1, limit: 1 })
    if (row !== undefined) return hash !== undefined && Buffer.compare(row.hash, hash) === 0
    const { snapshot } = log
    if (snapshot?.through !== seq) return false
    return hash === undefined || Buffer.compare(snapshot.hash, hash) === 0
  }

  get #isUrgent(): boolean {
    return this.#waiting.length > 0 || this.isWatched()
  }

  /** Lets what is to be delivered go first. Nobody waits for this: who does ends it. */
  async #rest(workMs: number, isDelivering: boolean): Promise<void> {
    const load = performance.eventLoopUtilization(this.#load).utilization
    this.#load = performance.eventLoopUtilization()
    if (this.#isUrgent) return
    const isBusy = isDelivering && load > busy
    if (this.#space.delivered > this.seq && !isBusy) return
    const ms = isBusy ? Math.min(restPerWork * workMs, longestRestMs) : shortestRestMs
    await new Promise<void>((resolve) => {
      const cancel = this.#space.clock.after(Math.max(ms, shortestRestMs), resolve)
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
    this.#wake = () => {}
  }

  #reached(): void {
    const isReached = ({ seq }: Waiting): boolean => seq <= this.seq
    for (const each of this.#waiting) if (isReached(each)) each.resolve()
    this.#waiting = this.#waiting.filter((each) => !isReached(each))
  }

  #recovered(): void {
    if (this.#failure === undefined) return
    this.#failure = undefined
    this.#space.logger.info({ space: this.#space.config.name }, 'turns are indexed again')
  }

  /** Told to the operator once, until it goes on. Who waits is told at once. */
  #failed(err: unknown, retryMs: number): void {
    if (this.#failure === undefined) {
      const { config, logger } = this.#space
      logger.error({ space: config.name, err, retryMs }, 'turns cannot be indexed; this is tried again')
    }
    this.#failure = err
    this.#release(err)
  }

  #release(reason: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(reason)
  }
}

const describeError = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** What SQLite or the file system threw has a code. */
const isOfFile = (error: unknown): boolean => error instanceof Error && 'code' in error

/** The turns of a space: where they are in the log, and what they come to. */
export interface Turns {
  readonly indexer: Indexer
  readonly folded: FoldedTurns
}

export const createTurns = (space: Space, file: IndexFile): Turns => ({
  indexer: new Indexer(space, file),
  folded: new FoldedTurns(space),
})
