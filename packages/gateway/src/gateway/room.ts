import { closeCodes, Kind, type WelcomePayload } from '@meup/protocol'
import { backfill, tailStart } from '../outbox/backfill.js'
import { messageFrom } from '../outbox/parcel.js'
import type { Connection, Feed } from '../ports/connection.js'
import { Checkpoints } from '../space/checkpoints.js'
import type { SpaceConfig } from '../space/config.js'
import { welcomeFrame } from '../space/frames.js'
import type { Reader } from '../space/may-read.js'
import { Presence } from '../space/presence.js'
import { Retention } from '../space/retention.js'
import type { Selection } from '../space/selection.js'
import { Session, type Visitor } from '../space/session.js'
import type { Space } from '../space/space.js'
import { crowded, type Resume } from './door.js'
import { Enforcement } from './enforcement.js'
import { Feeds } from './feeds.js'
import { Projector } from './projector.js'
import { recordOf } from './record.js'

/** A space and the people in it. */
export class Room {
  readonly space: Space
  readonly presence: Presence
  readonly projector: Projector
  readonly retention: Retention
  readonly checkpoints: Checkpoints
  readonly #enforcement: Enforcement
  readonly #feeds: Feeds
  #member: { close(): void } | undefined

  constructor(space: Space) {
    this.space = space
    this.presence = new Presence(space)
    this.projector = new Projector(space)
    this.retention = new Retention(space, this.projector)
    this.checkpoints = new Checkpoints(space)
    this.#enforcement = new Enforcement(space, this.presence, (session) =>
      this.#welcome(session, live(space)),
    )
    this.#feeds = new Feeds(space, this.projector)
    const { afterDelivery } = space
    space.afterDelivery = (deliveries) => {
      afterDelivery(deliveries)
      this.#feeds.add(deliveries)
      this.projector.poke()
      this.checkpoints.delivered(deliveries)
    }
    space.recovered = () => this.furnish()
  }

  /** Records what the operator configured, where the log does not say it already, and buries ghosts [MEUP-3.5, 3.6]. */
  furnish(): void {
    const { space } = this
    if (space.follows) {
      this.presence.reconcile()
      this.#enforcement.renew()
      return
    }
    if (space.log.head === 0) {
      space.emit({
        kind: Kind.systemSpace,
        payload: { event: 'opened', space: space.config.name, epoch: space.log.epoch },
      })
    }
    this.presence.reconcile()
    this.#record(space.config)
    this.#enforcement.renew()
  }

  /**
   * Applies what the operator changed. Whoever would no longer be let in is closed 4401; whose capabilities have changed
   * is welcomed anew [MEUP-3.5, 3.6]. Rejects where the log takes nothing: then the configuration stays as it was.
   */
  async reconfigure(config: SpaceConfig): Promise<void> {
    const { space } = this
    this.#enforcement.expel() // Before all else: a token that was taken away does not wait for the disk.
    const guardAnew = space.safety.prepare(config.safety)
    this.#enforcement.hold()
    try {
      const before = rightsIn(space)
      let last = space.follows ? undefined : this.#record(config)
      for (const [id, rights] of rightsIn(space)) {
        if (before.get(id) !== rights) last = this.presence.changed(id)
      }
      if (last !== undefined && !(await space.committed(last))) {
        throw new Error(`the log of the space ${config.name} cannot be written; nothing was changed in it`)
      }
      space.config = config
      guardAnew()
    } finally {
      this.#enforcement.release()
    }
    this.#enforcement.expel()
    await this.projector.reconfigure()
  }

  /** Shares the space with other gateways, until the room is closed. */
  join(member: { close(): void }): void {
    this.#member = member
  }

  /** Begins what goes on by itself. */
  begin(): void {
    this.projector.poke()
    this.retention.begin()
  }

  /** Closes whoever would not be let in any more. */
  expel(): void {
    this.#enforcement.expel()
  }

  /** Ends what goes on by itself. */
  close(): void {
    this.retention.close()
    this.projector.close()
    this.#enforcement.close()
    this.presence.close()
    this.#member?.close()
    this.space.close()
  }

  /** Lets a visitor in: welcome first, then what it missed, then live [MEUP-5.3]. */
  async open(visitor: Visitor, connection: Connection, resume: Resume): Promise<Session> {
    const start = await this.#start(this.space.readerOf(visitor), resume)
    const session = this.#seat(visitor, connection)
    if (session.closed) return session
    this.presence.enter(session)
    this.#welcome(session, this.#place(session, start))
    this.#serve(session)
    return session
  }

  /** Shows a visitor what happens. It cannot act on this line, and so it makes nobody present [MEUP-11.10]. */
  async watch(visitor: Visitor, feed: Feed, resume: Resume, selection: Selection): Promise<Session> {
    const { space } = this
    const start = await this.#start(space.readerOf(visitor), resume)
    const session = this.#seat(visitor, feed, selection)
    if (session.closed) return session
    space.sessions.add(session)
    const { status, from, to } = this.#place(session, start)
    if (status === 'lost') feed.lost({ epoch: space.log.epoch, from, to })
    this.#feeds.serve(session, status === 'lost' ? undefined : resume.told)
    return session
  }

  /** A session of whoever is still welcome, and may have one more; a closed one for others. */
  #seat(visitor: Visitor, connection: Connection, selection?: Selection): Session {
    const { space } = this
    const { readsTargeted } = space.readerOf(visitor)
    const session = new Session(
      connection,
      { ...visitor, readsTargeted },
      {
        get sendBufferBytes() {
          return space.config.limits.sendBufferBytes
        },
        tally: space.tally,
        ...(selection && { selection }),
        resubscribed: (changed) => this.#welcome(changed, live(space)),
      },
    )
    this.#enforcement.check(session)
    // Others may have come while this one waited for the log.
    const reason = crowded(visitor, space)
    if (reason !== undefined) session.close(closeCodes.tooManyConnections, reason)
    return session
  }

  async #start(reader: Reader, { after, epoch, tail }: Resume): Promise<{ after?: number; lost?: true }> {
    const { space } = this
    if (after === undefined) return tail === undefined ? {} : { after: await tailStart(tail, reader, space) }
    const first = space.log.oldest - 1
    const isForeign = epoch !== undefined && epoch !== space.log.epoch
    const isKept = after >= first && after <= space.delivered
    return isForeign || !isKept ? { after: first, lost: true } : { after }
  }

  /** Puts a session where it starts, and tells what it will get from there. */
  #place(session: Session, { after, lost }: { after?: number; lost?: true }): WelcomePayload['resume'] {
    const head = this.space.delivered
    session.position = after ?? head
    const status = lost ? 'lost' : after === undefined ? 'live' : 'replaying'
    return { status, from: session.position + 1, to: head }
  }

  #serve(session: Session): void {
    const { space } = this
    backfill(session, space).catch((error: unknown) => {
      space.logger.error(
        { space: space.config.name, participant: session.participant, err: error },
        'replay failed',
      )
      session.close(closeCodes.draining, 'the log cannot be read; reconnect later')
    })
  }

  /** Logs a configuration unless it is what the log says already; then there is no seq. */
  #record(config: SpaceConfig): number | undefined {
    const { space } = this
    const configured = { event: 'configured', ...recordOf(config) }
    if (JSON.stringify(space.state.configured) === JSON.stringify(configured)) return undefined
    return space.emit({ kind: Kind.systemSpace, payload: configured })
  }

  #welcome(session: Session, resume: WelcomePayload['resume']): void {
    const { space } = this
    const { participants, contexts } = space.state
    const { participant, capabilities, subscription, suppressed } = session
    const payload: WelcomePayload = {
      you: { id: participant, capabilities: [...capabilities] },
      participants: participants.list(),
      space: { id: space.config.name, epoch: space.log.epoch, head: space.delivered },
      resume,
      contexts: contexts.open(session),
      subscription: { ...subscription.asked, suppressed: { ...suppressed } },
      limits: space.config.limits,
    }
    session.welcome(messageFrom(welcomeFrame(participant, space.timestamp(space.clock.now()), payload)))
  }
}

/** By participant; equal texts are equal rights. */
const rightsIn = ({ state }: Space): Map<string, string> =>
  new Map(state.participants.list().map(({ id, capabilities }) => [id, JSON.stringify(capabilities)]))

const live = (space: Space): WelcomePayload['resume'] => ({
  status: 'live',
  from: space.delivered + 1,
  to: space.delivered,
})
