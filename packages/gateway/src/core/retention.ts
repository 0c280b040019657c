import { createHash } from 'node:crypto'
import { Kind } from '@meup/protocol'
import type { EnvelopeLog } from '../ports/envelope-log.js'
import { snapshotAt } from './replay.js'
import type { Space } from './space.js'

const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs

/** Prunes what is older than the operator keeps: as it begins, and then every hour [MEUP-10.3]. */
export class Retention {
  readonly #space: Space
  readonly #index: { prune(through: number): void }
  readonly #erasing: { settled(): Promise<void> }
  #cancel = (): void => {}
  #isOver = false

  /** `index` is told of what was pruned. What is to be erased goes first: the bytes of what is pruned are not overwritten. */
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
   * The record comes before the deed: whoever was cut off between the two prunes again, and there is a record too many,
   * never one too few.
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
 * Seq of the last row from before `ms`, but of the newest row at most the one before it; less than `oldest` where there
 * is none. A clock that was put back leaves times out of order: then a few rows stay longer, or go sooner.
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
