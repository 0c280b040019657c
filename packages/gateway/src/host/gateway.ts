import { closeCodes, type ProgramInfo } from '@meup/protocol'
import { checkConfigNames, type SpaceConfig } from '../core/config.js'
import type { Selection, Session, Visitor } from '../core/delivery/session.js'
import { MeterCounts } from '../core/metering.js'
import { isRefusal, type Refusal, refuse } from '../core/refusal.js'
import { texts } from '../core/refusal-texts.js'
import { createReport, Space, type SpaceReport } from '../core/space.js'
import type { Kick } from '../core/state/trust/trust.js'
import { IndexFile } from '../index/index-file.js'
import { unwritableError } from '../log/error.js'
import type { Authenticator } from '../ports/authenticator.js'
import { at, type Clock, steadyClock, systemClock } from '../ports/clock.js'
import type { Connection, Feed } from '../ports/connection.js'
import type { Disk, EnvelopeLog, LogObserver, LogStore } from '../ports/envelope-log.js'
import { type Logger, silent } from '../ports/logger.js'
import {
  checkConnection,
  consumeControlToken,
  FailedLogins,
  identify,
  opens,
  type Resume,
} from './connection-gate.js'
import { type ConnectionHandle, openConnection } from './connection-handle.js'
import { createTokenTester, Links, type OneTimeLink } from './links.js'
import { SpaceHost } from './space-host.js'

export interface GatewayOptions {
  readonly spaces: readonly SpaceConfig[]
  readonly store: LogStore
  readonly authenticator: Authenticator
  readonly clock?: Clock
  readonly logger?: Logger
  /**
   * Called with each opened log. The resulting observer is called after each delivery, and a last time before the store is
   * closed. Every gateway that has the log open calls its own.
   */
  readonly observe?: ((space: string, log: EnvelopeLog) => Promise<LogObserver>) | undefined
}

/** A request to enter a space. */
export interface ConnectRequest {
  readonly space: string
  readonly token?: string
  /** Address of the peer, by which failed authentications are counted. */
  readonly remote: string
  /** Envelopes over their rate wait instead of being refused [MEUP-7.9]. */
  readonly holds?: boolean
  /** The program that the connection belongs to [MEUP-2.14]. */
  readonly session?: string
  /** Called once the request is authenticated, so that its connection stops counting as unauthenticated. */
  onAuthenticated?(): void
}

/**
 * Permission to open one connection. It reserves nothing, and other connections may use up the limit: call `open` or `watch` at
 * once.
 */
export interface ConnectionGrant {
  readonly participant: string
  /** Key of the rate limits: the participant, or a guest's address. */
  readonly rateLimitKey: string
  open(connection: Connection, resume: Resume): Promise<ConnectionHandle>
  /** Opens a connection over which the client gets selected envelopes and cannot send any. */
  watch(feed: Feed, resume: Resume, selection: Selection): Promise<ConnectionHandle>
}

/** An authenticated visitor of a space, for requests without a connection. */
export type Caller = Visitor & { readonly space: Space } & Pick<SpaceHost, 'turns' | 'erasing'>

export interface Gateway {
  readonly spaces: readonly string[]
  /** Refused connections, by error code. Adapters add the connections that they refuse themselves. */
  readonly refusedJoins: MeterCounts
  /** Number of requests and connections that needed a valid token and had none. */
  readonly failedLogins: number
  /** Bytes of the logs, and free bytes of the disk; `undefined` if the logs are in memory. */
  disk(): Disk | undefined
  report(): SpaceReport[]
  /** Whether a participant is connected to any gateway that has the space open. */
  isPresent(space: string, participant: string): boolean
  /** The kick of a participant; `undefined` = it is not kicked. */
  findKick(space: string, participant: string): Kick | undefined
  /**
   * Reports the state of a participant's program that a supervisor of this gateway runs; `undefined` = it has stopped. The
   * sequencing gateway logs a change as `system.presence`; the state holds while this gateway runs [MEUP-3.5]. Ignored for an
   * unknown space or participant.
   */
  setProgram(space: string, participant: string, program: ProgramInfo | undefined): void
  /** Reports the end of a program whose process the caller has watched [MEUP-2.14]. */
  endProgram(space: string, participant: string, session: string): void
  /** Whether another program of the participant has replaced this one [MEUP-5.19]. */
  isReplaced(space: string, participant: string, session: string): boolean
  /** Largest frame of a connection; a larger one closes it with 1009. */
  frameLimit(space: string): number
  /** Authenticates a request without a connection. */
  identify(connectRequest: ConnectRequest): Promise<Caller | Refusal>
  /** The spaces that a token opens; without a token, those that admit guests. Creates no participant. */
  openedBy(connectRequest: Omit<ConnectRequest, 'space'>): Promise<readonly string[] | Refusal>
  /** Creates a one-time code for the caller's token. Counts against the caller's rate of class `control`. `expiresAt`: ms since the epoch. */
  link(
    connectRequest: ConnectRequest,
  ): Promise<{ readonly code: string; readonly expiresAt: number } | Refusal>
  /** Exchanges a one-time code for its token, while the token is valid. */
  exchange(code: string, remote: string, onAuthenticated?: () => void): Promise<OneTimeLink | Refusal>
  /** Checks whether a connection may be opened. Counts against the visitor's rate of class `control` [MEUP-5.5]. */
  admit(connectRequest: ConnectRequest): Promise<ConnectionGrant | Refusal>
  /**
   * Applies changed configurations and tokens to open connections: those that would no longer be admitted are closed with 4401.
   * Rejects for a space that is not open, and if a log takes nothing.
   */
  reconfigure(spaces: readonly SpaceConfig[]): Promise<void>
  /** Drains: commits and delivers admitted envelopes, closes connections with 1001, and closes the log. */
  close(): Promise<void>
}

/** Opens and replays the logs of the spaces. On failure it closes the store and rejects. */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { store, authenticator, logger = silent } = options
  const clock = steadyClock(options.clock ?? systemClock, logger)
  const hosts = new Map<string, SpaceHost>()
  const file = store.path === undefined ? undefined : new IndexFile(`${store.path}.index.db`)
  if (file !== undefined)
    file.onRebuild = (reason) => logger.warn({ reason }, 'the index of turns is built again')
  const isToken = createTokenTester(authenticator, hosts)
  try {
    for (const config of options.spaces) {
      checkConfigNames(config)
      const log = await store.open(config.name)
      const observer = await options.observe?.(config.name, log)
      const space = await Space.open(config, { log, clock, logger, isToken })
      hosts.set(config.name, await openSpaceHost(space, file, observer))
    }
  } catch (error) {
    for (const host of hosts.values()) host.close()
    file?.close()
    await store.close()
    throw error
  }
  for (const host of hosts.values()) host.begin()
  const refusedJoins = new MeterCounts()
  const failedLogins = new FailedLogins(logger)
  const links = new Links(clock)
  let draining = false

  async function visit(
    connectRequest: ConnectRequest,
  ): Promise<{ visitor: Visitor; host: SpaceHost } | Refusal> {
    const host = hosts.get(connectRequest.space)
    if (host === undefined) return refuse('not_found', texts.unknownSpace, { space: connectRequest.space })
    if (draining) return refuse('unavailable', texts.stopping)
    const visitor = await identify(host.space, connectRequest, authenticator)
    if (isRefusal(visitor)) {
      return visitor.code === 'unauthorized' ? failedLogins.add(connectRequest.remote, visitor) : visitor
    }
    connectRequest.onAuthenticated?.()
    return { visitor, host }
  }

  async function admit(connectRequest: ConnectRequest): Promise<ConnectionGrant | Refusal> {
    const visited = await visit(connectRequest)
    if (isRefusal(visited)) return visited
    const { visitor, host } = visited
    const refusal = checkConnection(visitor, host.space)
    if (refusal !== undefined) return refusal
    const lineTo = (session: Session): ConnectionHandle => {
      if (draining) session.close(closeCodes.draining, 'the gateway is stopping; reconnect')
      const { expiresAt } = visitor
      const stay = expiresAt === undefined ? () => {} : at(expiresAt, () => host.closeRevoked(), clock)
      return openConnection(session, host, { holds: connectRequest.holds === true, left: stay })
    }
    return {
      participant: visitor.participant,
      rateLimitKey: visitor.rateLimitKey,
      open: async (connection, resume) => lineTo(await host.open(visitor, connection, resume)),
      watch: async (feed, resume, selection) => lineTo(await host.watch(visitor, feed, resume, selection)),
    }
  }

  return {
    spaces: [...hosts.keys()],
    refusedJoins,
    get failedLogins() {
      return failedLogins.count
    },
    disk: () => store.disk?.(),
    report: () =>
      [...hosts.values()].map(({ space, turns, erasing }) =>
        createReport(space, { indexed: turns.indexer.seq, unerased: erasing.pending }),
      ),

    isPresent: (space, participant) =>
      hosts.get(space)?.space.state.participants.isPresent(participant) ?? false,

    findKick: (space, participant) => hosts.get(space)?.space.state.trust.kicks.get(participant),

    setProgram(space, participant, program) {
      if (!draining) hosts.get(space)?.presence.setProgram(participant, program)
    },

    endProgram(space, participant, session) {
      if (!draining) hosts.get(space)?.presence.endProgram(participant, session)
    },

    isReplaced: (space, participant, session) =>
      hosts.get(space)?.space.state.programs.isReplaced(participant, session) ?? false,

    frameLimit: (space) => {
      const { maxEnvelopeBytes = 0, maxResultBytes = 0 } = hosts.get(space)?.space.config.limits ?? {}
      return Math.max(maxEnvelopeBytes, maxResultBytes)
    },

    async identify(connectRequest) {
      const visited = await visit(connectRequest)
      if (isRefusal(visited)) return visited
      const { visitor, host } = visited
      return { ...visitor, space: host.space, turns: host.turns, erasing: host.erasing }
    },

    async openedBy({ token, remote, onAuthenticated }) {
      if (draining) return refuse('unavailable', texts.stopping)
      const all = [...hosts.values()].map(async ({ space }) =>
        (await opens(space, token, authenticator)) ? [space.config.name] : [],
      )
      const spaces = (await Promise.all(all)).flat()
      if (spaces.length === 0) {
        if (token === undefined) return refuse('unauthorized', texts.noGuests)
        return failedLogins.add(remote, refuse('unauthorized', texts.unknownToken))
      }
      onAuthenticated?.()
      return spaces
    },

    async link(connectRequest) {
      const visited = await visit(connectRequest)
      if (isRefusal(visited)) return visited
      const { visitor, host } = visited
      const { space, token } = connectRequest
      if (token === undefined) return refuse('unauthorized', texts.guestLink)
      return (
        consumeControlToken(visitor, host.space, 'links') ??
        links.make({ space, participant: visitor.participant, token })
      )
    },

    async exchange(code, remote, onAuthenticated) {
      const link = links.take(code)
      if (link === undefined) return failedLogins.add(remote, refuse('unauthorized', texts.usedLink))
      const visited = await visit({ ...link, remote, ...(onAuthenticated && { onAuthenticated }) })
      return isRefusal(visited) ? visited : link
    },

    async admit(connectRequest) {
      const answer = await admit(connectRequest)
      if (isRefusal(answer)) refusedJoins.add(answer.code)
      return answer
    },

    async reconfigure(spaces) {
      if (draining) throw new Error('the gateway is stopping')
      const outcomes = await Promise.allSettled(
        spaces.map(async (config) => {
          const host = hosts.get(config.name)
          if (host === undefined) throw new Error(`Space ${config.name} is not open. Restart the gateway.`)
          await host.reconfigure(config)
        }),
      )
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    },

    async close() {
      if (draining) return
      draining = true
      for (const { space } of hosts.values()) space.refuse('the gateway is stopping')
      await Promise.all([...hosts.values()].map((host) => drain(host)))
      await new Promise((resolve) => setImmediate(resolve)) // Calls of observers that are scheduled already run first.
      file?.close()
      await store.close()
    },
  }
}

async function openSpaceHost(
  space: Space,
  file: IndexFile | undefined,
  observer?: LogObserver,
): Promise<SpaceHost> {
  const host = new SpaceHost(space, file, observer)
  host.initialize()
  if (await space.settled()) return host
  host.close()
  throw unwritableError(space.config.name)
}

async function drain(host: SpaceHost): Promise<void> {
  const { space, presence } = host
  await space.settled()
  for (const session of [...space.sessions]) {
    session.close(closeCodes.draining, 'the gateway is stopping; reconnect')
    presence.exit(session)
  }
  host.close()
  if (await space.settled()) await host.checkpoints.keep()
}
