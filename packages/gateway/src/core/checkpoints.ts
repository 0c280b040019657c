import type { Delivery } from './delivery/broadcast.js'
import type { Space, SpaceListener } from './space.js'
import { SpaceState } from './state/state.js'

/** Envelopes after which a checkpoint is worth its while, unless it is larger than they were. */
const minRows = 25_000
/** So are units of work that it takes to find out again what fell [MEUP-4.14]: about a second of a start. */
const minWork = 1_000_000

/**
 * Keeps what the log adds up to, from time to time and at a clean stop, so that a start need not read all of it [MEUP-3.4].
 * What cannot be kept costs the next start time, and nothing else.
 */
export class Checkpoints implements SpaceListener {
  readonly #space: Space
  /** The last one that was begun. */
  #begun = { seq: 0, bytes: 0, work: 0 }
  #bytesSince = 0
  #kept = 0
  #keeping: Promise<void> | undefined

  constructor(space: Space) {
    this.#space = space
  }

  delivered(batch: readonly Delivery[]): void {
    for (const { entry } of batch) this.#bytesSince += entry.body.length
    const { seq, bytes, work } = this.#begun
    const { delivered, state } = this.#space
    const isLong = delivered - seq >= minRows || state.trust.work - work >= minWork
    if (isLong && this.#bytesSince >= bytes && this.#keeping === undefined)
      this.keep().catch((err: unknown) => this.#failed(err))
  }

  /** Resolves when none is being kept. */
  async settled(): Promise<void> {
    await this.#keeping
  }

  /** Keeps one although the last was of the same state: the log has dropped it. */
  renew(): Promise<void> {
    this.#kept = 0
    return this.keep()
  }

  /** Resolves when the state as of now is kept, or the operator has been told why not. */
  async keep(): Promise<void> {
    await this.#keeping
    if (this.#space.state.seq === this.#kept) return
    this.#keeping = this.#keep()
    await this.#keeping
    this.#keeping = undefined
  }

  async #keep(): Promise<void> {
    const { state, log } = this.#space
    try {
      const [through, bytes] = [state.seq, state.toSnapshot()]
      this.#begun = { seq: through, bytes: bytes.length, work: state.trust.work }
      this.#bytesSince = 0
      // The state is ahead of the log until that has committed what is on its way.
      if (!(await this.#space.committed(through))) return
      await log.keep({ through, format: SpaceState.format, bytes })
      this.#kept = through
    } catch (err) {
      this.#failed(err)
    }
  }

  #failed(err: unknown): void {
    const { logger, config } = this.#space
    logger.warn({ space: config.name, err }, 'no checkpoint could be kept: the next start will take longer')
  }
}
