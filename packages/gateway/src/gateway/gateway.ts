import { closeCodes } from '@meup/protocol'
import type { Authenticator } from '../ports/authenticator.js'
import { type Clock, systemClock } from '../ports/clock.js'
import type { Connection } from '../ports/connection.js'
import type { LogStore } from '../ports/envelope-log.js'
import { type Logger, silent } from '../ports/logger.js'
import type { SpaceConfig } from '../space/config.js'
import type { Session, Visitor } from '../space/session.js'
import { Space } from '../space/space.js'
import { type Denial, deny, identify, isDenial, type Resume } from './door.js'
import { recordOf } from './record.js'
import { Room } from './room.js'

export interface GatewayOptions {
  readonly spaces: readonly SpaceConfig[]
  readonly store: LogStore
  readonly authenticator: Authenticator
  readonly clock?: Clock
  readonly logger?: Logger
}

/** Who asks to be let in, and where. */
export interface Knock {
  readonly space: string
  readonly token?: string
  readonly remote: string
}

/** Leave to open one connection; it is used at once or not at all. */
export interface Ticket {
  readonly participant: string
  open(connection: Connection, resume: Resume): Promise<Line>
}

/** An open connection, as its adapter sees it. */
export interface Line {
  /** A frame is text, unless the adapter says that it is binary; then it is refused [MEUP-1.1]. */
  receive(frame: Uint8Array, isBinary?: boolean): void
  closed(): void
}

export interface Gateway {
  readonly spaces: readonly string[]
  /** Largest frame a connection may deliver before it is closed 1009. */
  frameLimit(space: string): number
  /** Who is asking, without a connection. */
  identify(knock: Knock): Promise<(Visitor & { space: Space }) | Denial>
  /** Whether a connection may be opened. Costs the visitor a `control` token [MEUP-5.5]. */
  admit(knock: Knock): Promise<Ticket | Denial>
  /** Drains: what was admitted is committed and delivered, connections are closed 1001, the log is closed. */
  close(): Promise<void>
}

/** Opens the spaces' logs, replays them, and is ready. */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { store, authenticator, clock = systemClock, logger = silent } = options
  const rooms = new Map<string, Room>()
  for (const config of options.spaces) {
    const log = await store.open(config.name)
    const room = new Room(await Space.open(config, { log, clock, logger }))
    room.furnish(recordOf(config))
    await room.space.settled()
    rooms.set(config.name, room)
  }
  let draining = false

  async function visit(knock: Knock): Promise<{ visitor: Visitor; room: Room } | Denial> {
    const room = rooms.get(knock.space)
    if (room === undefined) return deny('not_found', 404, `there is no space ${knock.space}; check the name`)
    if (draining) return deny('unavailable', 503, 'the gateway is stopping; reconnect later')
    const visitor = await identify(room.space, knock.token, knock.remote, authenticator)
    return isDenial(visitor) ? visitor : { visitor, room }
  }

  return {
    spaces: [...rooms.keys()],

    frameLimit: (space) => 4 * (rooms.get(space)?.space.config.limits.maxEnvelopeBytes ?? 0),

    async identify(knock) {
      const visited = await visit(knock)
      return isDenial(visited) ? visited : { ...visited.visitor, space: visited.room.space }
    },

    async admit(knock) {
      const visited = await visit(knock)
      if (isDenial(visited)) return visited
      const { visitor, room } = visited
      const { space, presence } = room
      const most = space.config.limits.connectionsPerParticipant
      if (presence.connections(visitor.participant) >= most) {
        return deny(
          'rate_limited',
          429,
          `${visitor.participant} has ${most} connections already; close one first`,
        )
      }
      const retryAfterMs = space.rates.take(visitor.payer, 'control', 1, clock.now())
      if (retryAfterMs > 0) {
        return {
          ...deny('rate_limited', 429, `too many joins; try again in ${retryAfterMs} ms`),
          retryAfterMs,
        }
      }
      return {
        participant: visitor.participant,
        async open(connection, resume) {
          const session = await room.open(visitor, connection, resume)
          if (draining) session.close(closeCodes.draining, 'the gateway is stopping; reconnect')
          return lineOf(session, room)
        },
      }
    },

    async close() {
      if (draining) return
      draining = true
      for (const { space } of rooms.values()) space.refuse('the gateway is stopping')
      await Promise.all([...rooms.values()].map((room) => drain(room)))
      await store.close()
    },
  }
}

function lineOf(session: Session, { space, presence }: Room): Line {
  return {
    receive: (frame, isBinary) => {
      if (!session.closed) space.submit(session, frame, isBinary)
    },
    closed: () => {
      session.closed = true
      presence.exit(session)
    },
  }
}

async function drain({ space, presence }: Room): Promise<void> {
  await space.settled()
  for (const session of [...space.sessions]) {
    session.close(closeCodes.draining, 'the gateway is stopping; reconnect')
    presence.exit(session)
  }
  presence.close()
  await space.settled()
}
