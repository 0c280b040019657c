import type { SharedLog } from '../../ports/shared-log.js'
import type { SpaceHost } from '../space-host.js'

/** Prunes at a gateway that follows what the one that sequences has pruned [MEUP-10.3]. */
export class FollowedPrunings {
  readonly #room: SpaceHost
  readonly #shared: Pick<SharedLog<never>, 'prune'>
  #isRunning = false

  constructor(room: SpaceHost, shared: Pick<SharedLog<never>, 'prune'>) {
    this.#room = room
    this.#shared = shared
  }

  /** Leaves what cannot be pruned yet: that is told again. */
  async follow(through: number): Promise<void> {
    const { space } = this.#room
    if (this.#isRunning || through >= space.delivered) return
    this.#isRunning = true
    try {
      await this.#shared.prune()
      this.#room.turns.indexer.prune(space.log.oldest - 1)
      space.logger.info({ space: space.config.name, through }, 'the log was pruned, as another gateway has')
    } catch (err) {
      space.logger.warn({ space: space.config.name, err }, 'the log could not be pruned; this is tried again')
    } finally {
      this.#isRunning = false
    }
  }
}
