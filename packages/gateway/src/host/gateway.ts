import { closeCodes, type ProgramInfo } from '@meup/protocol'
import { isRefusal, type Refusal, refuse } from '../core/admission/context.js'
import { checkNames, type SpaceConfig } from '../core/config.js'
import type { Selection, Session, Visitor } from '../core/delivery/session.js'
import { Counts } from '../core/metering.js'
import { createReport, Space, type SpaceReport } from '../core/space.js'
import type { Kick } from '../core/state/trust/trust.js'
import { IndexFile } from '../index/index-file.js'
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
import { createTokenTester, type Link, Links } from './links.js'
import { SpaceHost } from './space-host.js'

export interface GatewayOptions {
  readonly spaces: readonly SpaceConfig[]
  readonly store: LogStore
  readonly authenticator: Authenticator
  readonly clock?: Clock
  readonly logger?: Logger
  /**
   * Called with each log when it is opened. What it resolves to is called after each delivery, and for the last time before
   * the store is closed. Where several gateways have the log open, each calls its own.
   */
  readonly observe?: ((space: string, log: EnvelopeLog) => Promise<LogObserver>) | undefined
}

/** Who asks to be let in, and where. */
export interface ConnectRequest {
  readonly space: string
  readonly token?: string
  /** Address of the peer; failures are counted by it. */
  readonly remote: string
  /** What it sends over the rate of its class waits, and is not refused [MEUP-7.9]. */
  readonly holds?: boolean
  /** The program that it belongs to [MEUP-2.14]. */
  readonly session?: string
  /** Called once whoever asks may come in. */
  onAuthenticated?(): void
}

/** Leave to open one connection; it is used at once or not at all. */
export interface ConnectionGrant {
  readonly participant: string
  /** Whose buckets pay: the participant, or the address of a guest. */
  readonly rateLimitKey: string
  open(connection: Connection, resume: Resume): Promise<ConnectionHandle>
  /** Opens a line that only shows what is selected; nothing is received on it. */
  watch(feed: Feed, resume: Resume, selection: Selection): Promise<ConnectionHandle>
}

/** Somebody who is known in a space, with what may be asked of it. */
export type Caller = Visitor & { readonly space: Space } & Pick<SpaceHost, 'turns' | 'erasing'>

export interface Gateway {
  readonly spaces: readonly string[]
  /** Connections that were not opened, by the code of the refusal. Adapters count what they refuse themselves. */
  readonly refusedJoins: Counts
  /** Requests and connections that came without a valid token where one is needed. */
  readonly failedLogins: number
  /** Bytes that the logs use, and bytes left on the disk; `undefined` if the logs are in memory. */
  disk(): Disk | undefined
  /** How the spaces are doing. */
  report(): SpaceReport[]
  /** Whether a participant is connected, to this gateway or to another that has the space open. */
  isPresent(space: string, participant: string): boolean
  /** Why a participant is kept out; `undefined` = it is not. */
  findKick(space: string, participant: string): Kick | undefined
  /**
   * Says how the program of a participant is doing that runs beside this gateway; `undefined`: it runs no more. Logged as
   * `system.presence` where it is news, by the gateway that sequences the space; it stands as long as this gateway runs
   * [MEUP-3.5]. Of a space or participant that does not exist, nothing is logged.
   */
  setProgram(space: string, participant: string, program: ProgramInfo | undefined): void
  /** Says that a program of a participant has ended, whose process somebody has watched [MEUP-2.14]. */
  endProgram(space: string, participant: string, session: string): void
  /** Whether another program of a participant has taken over from this one [MEUP-5.19]. */
  isReplaced(space: string, participant: string, session: string): boolean
  /** Largest frame a connection may deliver before it is closed 1009. */
  frameLimit(space: string): number
  /** Who is asking, without a connection. */
  identify(connectRequest: ConnectRequest): Promise<Caller | Refusal>
  /** The spaces that a token opens; without one, those that let guests in. Nobody becomes a participant by that. */
  openedBy(connectRequest: Omit<ConnectRequest, 'space'>): Promise<readonly string[] | Refusal>
  /** Makes a one-time code for the token of whoever asks. Costs a `control` token. `expiresAt`: milliseconds. */
  link(
    connectRequest: ConnectRequest,
  ): Promise<{ readonly code: string; readonly expiresAt: number } | Refusal>
  /** What a code stands for, the first time that anybody asks; while the token is good. */
  exchange(code: string, remote: string, onAuthenticated?: () => void): Promise<Link | Refusal>
  /** Whether a connection may be opened. Costs the visitor a `control` token [MEUP-5.5]. */
  admit(connectRequest: ConnectRequest): Promise<ConnectionGrant | Refusal>
  /**
   * Applies what the operator changed in these spaces, and what the authenticator now knows, to what is open already:
   * whoever would no longer be let in is closed 4401. Rejects for a space that is not open, and where a log takes nothing.
   */
  reconfigure(spaces: readonly SpaceConfig[]): Promise<void>
  /** Drains: what was admitted is committed and delivered, connections are closed 1001, the log is closed. */
  close(): Promise<void>
}

/** Opens the spaces' logs, replays them, and is ready. Where that fails it closes the store and rejects. */
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
      checkNames(config)
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
  const refusedJoins = new Counts()
  const failedLogins = new FailedLogins(logger)
  const links = new Links(clock)
  let draining = false

  async function visit(
    connectRequest: ConnectRequest,
  ): Promise<{ visitor: Visitor; host: SpaceHost } | Refusal> {
    const host = hosts.get(connectRequest.space)
    if (host === undefined)
      return refuse('not_found', `There is no space ${connectRequest.space}. Check the name.`)
    if (draining) return refuse('unavailable', 'The gateway is stopping. Reconnect later.')
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
      if (draining) return refuse('unavailable', 'The gateway is stopping. Ask again later.')
      const all = [...hosts.values()].map(async ({ space }) =>
        (await opens(space, token, authenticator)) ? [space.config.name] : [],
      )
      const spaces = (await Promise.all(all)).flat()
      if (spaces.length === 0) {
        if (token === undefined)
          return refuse(
            'unauthorized',
            'A token is required: no space here lets guests in. Send it as Authorization: Bearer <token>.',
          )
        const message = 'Invalid token. Ask the operator for a new one.'
        return failedLogins.add(remote, refuse('unauthorized', message))
      }
      onAuthenticated?.()
      return spaces
    },

    async link(connectRequest) {
      const visited = await visit(connectRequest)
      if (isRefusal(visited)) return visited
      const { visitor, host } = visited
      const { space, token } = connectRequest
      if (token === undefined) return refuse('unauthorized', 'Guests need no link. Enter without a token.')
      return (
        consumeControlToken(visitor, host.space, 'too many links') ??
        links.make({ space, participant: visitor.participant, token })
      )
    },

    async exchange(code, remote, onAuthenticated) {
      const link = links.take(code)
      if (link === undefined) {
        const message =
          'This link was opened before, or is older than a minute. Make another one with `meup open`.'
        return failedLogins.add(remote, refuse('unauthorized', message))
      }
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
          if (host === undefined)
            throw new Error(`the space ${config.name} is not open; start the gateway again`)
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
      await new Promise((resolve) => setImmediate(resolve)) // Observers have been called by then.
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
  throw new Error(`the log of the space ${space.config.name} cannot be written`)
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
