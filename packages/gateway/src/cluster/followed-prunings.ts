import type { Room } from '../gateway/room.js'
import type { SharedLog } from '../ports/shared-log.js'

const dayMs = 24 * 60 * 60 * 1000

/** Prunes at a gateway that follows what the one that sequences has pruned: turns and steps, then the log [MEUP-10.3]. */
export class FollowedPrunings {
  readonly #room: Room
  readonly #shared: Pick<SharedLog<never>, 'prune'>
  #isRunning = false

  constructor(room: Room, shared: Pick<SharedLog<never>, 'prune'>) {
    this.#room = room
    this.#shared = shared
  }

  /** Leaves what cannot be pruned yet: that is told again. */
  async follow(through: number): Promise<void> {
    const { space } = this.#room
    if (this.#isRunning || through >= space.delivered) return
    this.#isRunning = true
    try {
      await this.#prune(through)
      space.logger.info({ space: space.config.name, through }, 'the log was pruned, as another gateway has')
    } catch (err) {
      space.logger.warn({ space: space.config.name, err }, 'the log could not be pruned; this is tried again')
    } finally {
      this.#isRunning = false
    }
  }

  async #prune(through: number): Promise<void> {
    const { space, projector } = this.#room
    const { days } = space.config.retention
    await projector.keep(through)
    if (days > 0) await projector.prune(new Date(space.clock.now() - days * dayMs).toISOString())
    await this.#shared.prune()
  }
}
