import { createHash } from 'node:crypto'
import { Kind } from '@meup/protocol'
import type { EnvelopeLog } from '../ports/envelope-log.js'
import { snapshotAt } from './replay.js'
import type { Space } from './space.js'

const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs

/** Prunes rows older than the retention, at start and then hourly [MEUP-10.3]. */
export class Retention {
  readonly #space: Space
  readonly #index: { prune(through: number): void }
  readonly #erasing: { settled(): Promise<void> }
  #cancel = (): void => {}
  #isOver = false

  /**
   * `index` is notified of prunings. Pending erasures complete before each pruning, because it removes rows without overwriting
   * their bytes.
   */
  constructor(space: Space, index: { prune(through: number): void }, erasing: { settled(): Promise<void> }) {
    this.#space = space
    this.#index = index
    this.#erasing = erasing
  }

  begin(): void {
    this.#run().catch((err: unknown) => this.#failed(err))
  }

  close(): void {
    this.#isOver = true
    this.#cancel()
  }

  async #run(): Promise<void> {
    try {
      await this.#prune()
    } catch (err) {
      if (!this.#isOver) this.#failed(err)
    }
    if (!this.#isOver) this.#cancel = this.#space.clock.after(hourMs, () => this.begin())
  }

  #failed(err: unknown): void {
    const { config, logger } = this.#space
    logger.error({ space: config.name, err }, 'the log could not be pruned; this is tried again in an hour')
  }

  /**
   * Logs the record before it prunes: after a crash in between, it prunes again, and there is one record too many rather than
   * too few.
   */
  async #prune(): Promise<void> {
    const { config, clock, log, logger } = this.#space
    const { days } = config.retention
    if (days === 0 || this.#space.isFollower) return
    const boundary = clock.now() - days * dayMs
    const through = await lastOlderThan(boundary, log)
    if (through < log.oldest) return
    await this.#erasing.settled()
    const snapshot = await snapshotAt(log, through)
    const [row] = await log.read({ after: through - 1, limit: 1 })
    if (row === undefined || this.#isOver) return
    const record = {
      event: 'pruned',
      through,
      hash: Buffer.from(row.hash).toString('hex'),
      snapshot: createHash('sha256').update(snapshot).digest('hex'),
    }
    const seq = this.#space.emit({ kind: Kind.systemSpace, payload: record })
    if (!(await this.#space.committed(seq))) throw new Error('the record of the pruning could not be logged')
    await log.prune(through, snapshot)
    this.#index.prune(through)
    logger.info({ space: config.name, ...record }, 'the log was pruned')
  }
}

/**
 * Seq of the last row before `ms`, at most the second newest row; less than `oldest` if none. Clock adjustments can put times
 * out of order: a few rows may then stay longer or go earlier.
 */
async function lastOlderThan(ms: number, log: EnvelopeLog): Promise<number> {
  let [older, newer] = [log.oldest - 1, log.head]
  while (newer - older > 1) {
    const middle = Math.floor((older + newer) / 2)
    const [row] = await log.read({ after: middle - 1, limit: 1 })
    if (row !== undefined && Date.parse(row.ts) < ms) older = middle
    else newer = middle
  }
  return older
}
