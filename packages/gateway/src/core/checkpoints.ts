import type { Delivery } from './delivery/broadcast.js'
import type { Space, SpaceListener } from './space.js'
import { SpaceState } from './state/state.js'

/**
 * A checkpoint is due this many envelopes after the previous one, once the bytes of these envelopes reach the size of that
 * checkpoint.
 */
const minRows = 25_000
/** A checkpoint is also due after this much work for cascading revocations [MEUP-4.14]: replaying it takes about a second. */
const minWork = 1_000_000

/**
 * Saves the state from time to time and at a clean stop, so that a start need not read the whole log [MEUP-3.4]. A checkpoint
 * that cannot be saved only makes the next start slower.
 */
export class Checkpoints implements SpaceListener {
  readonly #space: Space
  /** Seq, size and work of the last checkpoint, set when its saving begins. */
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

  /** Resolves when no checkpoint is being saved. */
  async settled(): Promise<void> {
    await this.#keeping
  }

  /** Saves a checkpoint even of an unchanged state, because the log has dropped the previous one. */
  renew(): Promise<void> {
    this.#kept = 0
    return this.keep()
  }

  /** Resolves when the present state is saved, or the failure is logged. */
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
      // The state includes envelopes that are not committed yet. If their commit fails, the log has no row for the checkpoint.
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
