import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AssignSnapshot } from '@meup/folds'
import { getErrorMessage } from '@meup/protocol'
import { Recovery } from '../core/group-commit.js'
import { turnMemoryIn } from '../core/replay.js'
import type { Space } from '../core/space.js'
import { isLongWorkUnderWay } from '../core/yielding.js'
import { closedError, LogError } from '../log/error.js'
import { FoldedTurns } from './folded-turns.js'
import { type IndexFile, isDamaged } from './index-file.js'
import { MemoryTurnIndex } from './memory-turn-index.js'
import { SqliteTurnIndex, type TurnIndex } from './turn-index.js'
import { WordIndex } from './words/word-index.js'

/** Rows per turn of the event loop, a millisecond or two of work; more if a request waits. */
const portionRows = { idle: 64, urgent: 256 }
const maxPortionBytes = 512 * 1024
/** Number of portions that are indexed between two pauses (`#rest`) if no request waits for the index. */
const portionsBetweenRests = 4
/**
 * Length of a pause, as a multiple of the work before it, while envelopes are delivered or long requests run: the index uses a
 * tenth of the time.
 */
const restPerWork = 9
/** Bounds of a pause of indexing if no request waits [milliseconds]. After a pause, more rows are indexed at once. */
const [shortestRestMs, longestRestMs] = [1000, 10_000]
/** Load of this thread above which it counts as busy. */
const busy = 0.25
/** Envelopes after which the state of the index is saved, so that a start need not recompute it. */
const saveAfter = 200_000

interface Waiting {
  readonly seq: number
  resolve(): void
  reject(reason: unknown): void
}

/**
 * Keeps the index of a space up to date with its log [MEUP-10.5]: at once if a request waits or a stream is open, otherwise
 * when the process is idle. Nothing else waits for it.
 */
export class Indexer {
  /** Called in order as the index advances, and after it was opened. The index then has the log up to `through`. */
  onAdvance: (through: number) => Promise<void> | void = () => {}
  /** Whether a listener, such as an open event stream, needs every envelope indexed at once. */
  isWatched: () => boolean = () => false
  readonly #space: Space
  readonly #file: IndexFile | undefined
  readonly #words: WordIndex | undefined
  readonly #recovery: Recovery
  #lastOpened: TurnIndex | undefined
  /** Seq of the last call of `onAdvance`. */
  #notified = 0
  #isRunning = false
  #isOver = false
  #failure: unknown
  #load = performance.eventLoopUtilization()
  #waiting: Waiting[] = []
  /** Ends the present pause of indexing early. */
  #wake: () => void = () => {}
  /** Seq up to which the log was pruned and the index still has to be pruned. */
  #pruned = 0

  /** `file`: absent = the index is in memory, like its log. */
  constructor(space: Space, file: IndexFile | undefined, words?: WordIndex) {
    this.#space = space
    this.#file = file
    this.#words = words
    this.#recovery = new Recovery(space.clock, (err, retryMs) => this.#failed(err, retryMs))
  }

  /** The open index. `undefined` = not opened yet, or closed again because another space of the same file found it damaged. */
  get #index(): TurnIndex | undefined {
    return this.#lastOpened?.isOpen ? this.#lastOpened : undefined
  }

  /** Last seq that is in the index. */
  get seq(): number {
    return this.#index?.seq ?? 0
  }

  /** Call it when the log may have grown. */
  poke(): void {
    if (this.#isUrgent) this.#wake()
    if (this.#isRunning || this.#isOver) return
    this.#isRunning = true
    this.#recovery.begin(() => this.#catchUp())
  }

  /** Resolves to the index once it has the log up to this seq. Rejects with the reason if it cannot be built at present. */
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

  /** Returns why turns cannot be read from `index`, and rebuilds a damaged one. `undefined` = the error has another cause. */
  failed(error: unknown, index: TurnIndex | undefined): string | undefined {
    if (index !== undefined && index !== this.#index) return 'the index is built again'
    const isOurs = error === this.#failure || isOfFile(error) || error instanceof LogError
    if (index !== undefined && isDamaged(error)) {
      this.#discard(error)
      this.poke()
    }
    return isOurs ? getErrorMessage(error) : undefined
  }

  /** Schedules the pruning of the index up to `through`. */
  prune(through: number): void {
    this.#pruned = Math.max(this.#pruned, through)
    this.poke()
  }

  /** Stops indexing, and saves the state for the next start. */
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
    while (index.seq < space.delivered || this.#pruned > 0 || this.#hasWords) {
      const [start, delivered] = [performance.now(), space.delivered]
      // Turns before words: requests wait for turns, while searches work without the newest words.
      if (index.seq < space.delivered || this.#pruned > 0) await this.#indexSome(index)
      else await this.#indexWords(index)
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

  /** Reports an advance to the listener; after a mere reopening of the index there is none to report. */
  async #notify({ seq }: TurnIndex): Promise<void> {
    if (seq > this.#notified) {
      this.#recovered()
      await this.onAdvance(seq)
      this.#notified = seq
    }
    this.#reached()
  }

  get #hasWords(): boolean {
    return this.#words?.isBehind(this.seq) === true
  }

  async #indexWords(index: TurnIndex): Promise<void> {
    try {
      await this.#words?.step(index.seq)
    } catch (error) {
      if (isDamaged(error)) this.#discard(error)
      throw error
    }
    await nextTurn()
  }

  async #indexSome(index: TurnIndex): Promise<void> {
    for (let left = portionsBetweenRests; left > 0; left--) {
      await this.#indexPortion(index)
      if (this.#isOver || this.#index !== index) return
      if (this.#isUrgent || index.seq >= this.#space.delivered) return
    }
  }

  async #indexPortion(index: TurnIndex): Promise<void> {
    const { log, delivered, parsed } = this.#space
    if (index.seq < delivered) {
      const limit = this.#isUrgent ? portionRows.urgent : portionRows.idle
      const rows = await log.read({
        after: index.seq,
        before: delivered + 1,
        limit,
        maxBytes: maxPortionBytes,
      })
      if (this.#isOver || this.#index !== index) return
      if (rows[0]?.seq !== index.seq + 1) return this.#leap(index)
      await this.#words?.prepare(rows)
      if (this.#isOver || this.#index !== index) return
      this.#attempt(() => index.add(rows, (row) => parsed.get(row)))
      if (index.unsaved > saveAfter && !this.#isUrgent) this.#attempt(() => index.save())
    }
    if (this.#pruned > 0 && this.#attempt(() => this.#prune(index, this.#pruned))) this.#pruned = 0
    await nextTurn()
  }

  #prune(index: TurnIndex, through: number): boolean {
    const isDone = this.#words?.prune(through) ?? true
    return index.prune(through) && isDone
  }

  /** The rows after the index have been pruned: continues after the snapshot. */
  #leap(index: TurnIndex): void {
    const { snapshot } = this.#space.log
    if (snapshot === undefined || index.seq > snapshot.through)
      throw new Error(`row ${index.seq + 1} of the log is missing`)
    this.#attempt(() => index.begin(this.#memoryAt(snapshot)))
    this.#words?.reset()
  }

  #memoryAt({ bytes, through }: { readonly bytes: Uint8Array; readonly through: number }): AssignSnapshot {
    return turnMemoryIn(bytes, through, this.#space.log.epoch)
  }

  /** Runs a task on the index. After a failure the index may lack rows that its file has, so it is opened again. */
  #attempt<Result>(task: () => Result): Result {
    try {
      return task()
    } catch (error) {
      this.#lastOpened = undefined
      if (isDamaged(error)) this.#discard(error)
      throw error
    }
  }

  #discard(error: unknown): void {
    this.#lastOpened = undefined
    this.#file?.discard(getErrorMessage(error))
  }

  async #open(): Promise<TurnIndex> {
    if (this.#index !== undefined) return this.#index
    const { log, config } = this.#space
    const pruned = log.oldest - 1
    const db = this.#file?.open()
    const index = this.#attempt<TurnIndex>(() =>
      db === undefined
        ? new MemoryTurnIndex(log.epoch, pruned)
        : SqliteTurnIndex.open(db, config.name, log.epoch, pruned),
    )
    if (!(await this.#isOfLog(index))) {
      const { snapshot } = log
      this.#attempt(() => index.begin(snapshot && this.#memoryAt(snapshot)))
    }
    this.#words?.reset()
    this.#pruned = Math.max(this.#pruned, pruned)
    this.#lastOpened = index
    return index
  }

  /** Whether the index was built from this log: a restored copy of a log may have been continued with other envelopes. */
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

  /** Pauses indexing, so that delivery goes first. A caller that waits for the index ends the pause. */
  async #rest(workMs: number, isDelivering: boolean): Promise<void> {
    const load = performance.eventLoopUtilization(this.#load).utilization
    this.#load = performance.eventLoopUtilization()
    if (this.#isUrgent) return
    const isBusy = (isDelivering && load > busy) || isLongWorkUnderWay()
    if ((this.#space.delivered > this.seq || this.#hasWords) && !isBusy) return
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

  /** Logs the first of consecutive failures, and rejects every waiting caller. */
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

/** Whether SQLite or the file system raised the error: their errors have a code. */
const isOfFile = (error: unknown): boolean => error instanceof Error && 'code' in error

/** The turns of a space: the index of the seqs of their envelopes, and the turns folded from these. */
export interface IndexedTurns {
  readonly indexer: Indexer
  readonly folded: FoldedTurns
  /** Absent = the log is in memory and is searched directly. */
  readonly words: WordIndex | undefined
}

export function createTurns(space: Space, file: IndexFile | undefined): IndexedTurns {
  const words = file && new WordIndex(space, file)
  return { indexer: new Indexer(space, file, words), folded: new FoldedTurns(space), words }
}
