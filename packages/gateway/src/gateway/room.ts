import { closeCodes, Kind, type WelcomePayload } from '@meup/protocol'
import { backfill, tailStart } from '../outbox/backfill.js'
import { messageFrom } from '../outbox/parcel.js'
import type { Connection } from '../ports/connection.js'
import { welcomeFrame } from '../space/frames.js'
import { Presence } from '../space/presence.js'
import { Session, type Visitor } from '../space/session.js'
import type { Space } from '../space/space.js'
import type { Resume } from './door.js'

/** A space and the people in it. */
export class Room {
  readonly space: Space
  readonly presence: Presence

  constructor(space: Space) {
    this.space = space
    this.presence = new Presence(space)
    space.recovered = () => this.presence.reappear()
  }

  /** Records what the operator configured, where the log does not say it already, and buries ghosts [MEUP-3.5, 3.6]. */
  furnish(record: Record<string, unknown>): void {
    const { space } = this
    if (space.log.head === 0) {
      space.emit({
        kind: Kind.systemSpace,
        payload: { event: 'opened', space: space.config.name, epoch: space.log.epoch },
      })
    }
    const configured = { event: 'configured', ...record }
    if (JSON.stringify(space.state.configured) !== JSON.stringify(configured)) {
      space.emit({ kind: Kind.systemSpace, payload: configured })
    }
    this.presence.bury()
  }

  /** Lets a visitor in: welcome first, then what it missed, then live [MEUP-5.3]. */
  async open(visitor: Visitor, connection: Connection, resume: Resume): Promise<Session> {
    const { space } = this
    const session = new Session(
      connection,
      { ...visitor, readsTargeted: space.state.participants.readsTargeted(visitor.participant) },
      {
        sendBufferBytes: space.config.limits.sendBufferBytes,
        resubscribed: (changed) => this.#welcome(changed, live(space)),
      },
    )
    const start = await this.#start(session, resume)
    this.presence.enter(session)
    const head = space.delivered
    session.position = start.after ?? head
    const status = start.lost ? 'lost' : start.after === undefined ? 'live' : 'replaying'
    this.#welcome(session, { status, from: session.position + 1, to: head })
    backfill(session, space).catch((error: unknown) => {
      space.logger.error(
        { space: space.config.name, participant: session.participant, err: error },
        'replay failed',
      )
      session.close(closeCodes.draining, 'the log cannot be read; reconnect later')
    })
    return session
  }

  async #start(session: Session, { after, epoch, tail }: Resume): Promise<{ after?: number; lost?: true }> {
    const { space } = this
    if (after === undefined) return tail === undefined ? {} : { after: await tailStart(tail, session, space) }
    const foreign = epoch !== undefined && epoch !== space.log.epoch
    return foreign || after > space.delivered ? { after: 0, lost: true } : { after }
  }

  #welcome(session: Session, resume: WelcomePayload['resume']): void {
    const { space } = this
    const { participants, contexts } = space.state
    const { participant, subscription, suppressed } = session
    const payload: WelcomePayload = {
      you: { id: participant, capabilities: [...participants.capabilities(participant)] },
      participants: participants.list(),
      space: { id: space.config.name, epoch: space.log.epoch, head: space.delivered },
      resume,
      contexts: contexts.open(),
      subscription: { ...subscription.asked, suppressed: { ...suppressed } },
      limits: space.config.limits,
    }
    session.reply(messageFrom(welcomeFrame(participant, space.timestamp(space.clock.now()), payload)))
  }
}

const live = (space: Space): WelcomePayload['resume'] => ({
  status: 'live',
  from: space.delivered + 1,
  to: space.delivered,
})
