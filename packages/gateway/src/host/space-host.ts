import { closeCodes, Kind, omitUndefined, type WelcomePayload } from '@meup/protocol'
import { Checkpoints } from '../core/checkpoints.js'
import { checkConfigNames, programsOf, type SpaceConfig } from '../core/config.js'
import { backfill, lastReadable, type SeqSpan, tailSpan } from '../core/delivery/backfill.js'
import { participantsIn, proposalsFor } from '../core/delivery/introduction.js'
import { type Selection, Session, type Visitor } from '../core/delivery/session.js'
import { Erasing } from '../core/erasing.js'
import { welcomeFrame } from '../core/frames.js'
import { Presence } from '../core/presence.js'
import { Retention } from '../core/retention.js'
import { digestRules } from '../core/safety.js'
import type { Space } from '../core/space.js'
import type { SpaceState } from '../core/state/state.js'
import type { IndexFile } from '../index/index-file.js'
import { createTurns, type IndexedTurns } from '../index/indexer.js'
import { unwritableError } from '../log/error.js'
import { type Connection, type Feed, messageFrom } from '../ports/connection.js'
import type { LogObserver } from '../ports/envelope-log.js'
import { ClusterMember } from './cluster/member.js'
import { checkConnectionLimit, type Resume } from './connection-gate.js'
import { Enforcement } from './enforcement.js'
import { EventStreams } from './event-streams.js'

/** A space with its presence, turn index, enforcement, and event streams. */
export class SpaceHost {
  readonly space: Space
  readonly presence: Presence
  readonly turns: IndexedTurns
  readonly retention: Retention
  readonly checkpoints: Checkpoints
  readonly erasing: Erasing
  readonly #enforcement: Enforcement
  readonly #eventStreams: EventStreams
  /** Connects the space to the other gateways that have it open; absent = there are none. */
  readonly #member: ClusterMember | undefined
  /** The configuration of this gateway. Another gateway may have recorded a different one. */
  #own: SpaceConfig
  /** The recorded configuration that applies, if it is not this gateway's own. */
  #followed: SpaceState['configured']

  constructor(space: Space, file: IndexFile | undefined, observer?: LogObserver) {
    this.space = space
    this.#own = space.config
    this.presence = new Presence(space)
    this.turns = createTurns(space, file)
    this.checkpoints = new Checkpoints(space)
    this.#enforcement = new Enforcement(space, this.presence, (session) => this.#welcomeAnew(session))
    this.#eventStreams = new EventStreams(space, this.turns)
    this.erasing = new Erasing(space, this.checkpoints, {
      forget: () => {
        space.reads.forget()
        space.parsed.clear()
        this.turns.folded.clear()
        this.#eventStreams.forget()
      },
      reach: (seq) => this.turns.indexer.reach(seq),
    })
    this.retention = new Retention(space, this.turns.indexer, this.erasing)
    const { shared } = space.log
    this.#member = shared && new ClusterMember(this, shared)
    space.listen([
      this.#enforcement, // First: changed rights apply to this batch; kicked connections are closed before anything else is sent.
      this.#eventStreams, // Keeps the batch before the index is notified.
      this.erasing,
      { delivered: () => this.#followConfiguration() },
      { delivered: () => this.turns.indexer.poke() },
      // The observer is called in a later turn of the event loop, so that the next batch does not wait for it.
      {
        delivered: (batch) =>
          observer &&
          setImmediate(
            observer,
            batch.map(({ entry }) => entry),
          ),
      },
      this.checkpoints, // Counts delivered envelopes, independent of the listeners above.
      { recovered: () => this.initialize() }, // Logs configuration and presence again, then applies rights.
      ...(this.#member ? [this.#member] : []), // Last: answers forwarded frames once the state is final.
    ])
  }

  /** Records the configuration if the log does not have it yet, and marks stale participants offline [MEUP-3.5, 3.6]. */
  initialize(): void {
    const { space } = this
    if (space.isFollower) {
      this.#followConfiguration()
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
    if (isOfEarlierVersion(space.state.configured)) this.presence.openWork.abandonAll()
    this.presence.reconcile()
    this.#record(space.config)
    this.#enforcement.renew()
  }

  /**
   * Applies a changed configuration. Connections that would no longer be admitted are closed with 4401; those with changed
   * capabilities get a new welcome [MEUP-3.5, 3.6]. Rejects if the log takes nothing; the configuration then stays as it was.
   */
  async reconfigure(config: SpaceConfig): Promise<void> {
    const { space } = this
    checkConfigNames(config)
    this.#enforcement.closeRevoked() // First, so that closing the connections of a removed token does not wait for the disk.
    const guardAnew = space.safety.prepare(config.safety)
    this.#enforcement.hold()
    try {
      const before = rightsIn(space)
      let last = space.isFollower ? undefined : this.#record(config)
      if (!space.isFollower) this.presence.recordPrograms() // Covers participants that became members with this configuration.
      for (const [id, rights] of rightsIn(space)) {
        if (before.get(id) !== rights) last = this.presence.changed(id)
      }
      if (last !== undefined && !(await space.committed(last))) throw unwritableError(config.name)
      space.config = config
      this.#own = config
      this.#followed = undefined
      this.#followConfiguration()
      guardAnew()
    } finally {
      this.#enforcement.release()
    }
    this.#enforcement.closeRevoked()
  }

  /**
   * All gateways that have the space open follow the configuration that the sequencing one has recorded. Otherwise, with
   * different files, one would show what another withholds, or rights would widen when another takes over. Differences are
   * logged.
   */
  #followConfiguration(): void {
    const { space } = this
    const { configured } = space.state
    if (!space.isFollower || configured === undefined || configured === this.#followed) return
    this.#followed = configured
    const own: Readonly<Record<string, unknown>> = configurationRecord(this.#own)
    const differs = recordedSettings.filter(
      (key) => JSON.stringify(own[key]) !== JSON.stringify(configured[key]),
    )
    space.config = differs.length === 0 ? this.#own : withRecorded(this.#own, configured)
    this.#enforcement.closeRevoked()
    if (differs.length === 0) return
    const { name } = this.#own
    const advice =
      'this gateway is configured otherwise than the one that sequences the space, and follows that'
    space.logger.warn({ space: name, differs }, advice)
  }

  /** Starts indexing, pruning, and the completion of interrupted erasures. */
  begin(): void {
    this.turns.indexer.poke()
    this.retention.begin()
    this.erasing.begin()
  }

  /** Closes sessions whose access was revoked or has expired. */
  closeRevoked(): void {
    this.#enforcement.closeRevoked()
  }

  /** Stops the timers and background work. */
  close(): void {
    this.retention.close()
    this.erasing.close()
    this.turns.indexer.close()
    this.#enforcement.close()
    this.presence.close()
    this.#member?.close()
    this.space.close()
  }

  /** Admits a visitor: sends a welcome, then the missed envelopes, then live ones [MEUP-5.3]. */
  async open(visitor: Visitor, connection: Connection, resume: Resume): Promise<Session> {
    const session = this.#seat(visitor, connection)
    try {
      const start = await this.#span(session, resume)
      if (session.isGone()) return session
      this.presence.enter(session)
      this.#welcome(session, this.#place(session, start))
    } catch (error) {
      this.space.sessions.delete(session)
      throw error
    }
    this.#serve(session)
    return session
  }

  /** Opens a session that only reads. It does not make its participant present [MEUP-11.10]. */
  async watch(visitor: Visitor, feed: Feed, resume: Resume, selection: Selection): Promise<Session> {
    const { log, delivered } = this.space
    const session = this.#seat(visitor, feed, selection)
    if (session.closed) return session
    const { after = delivered, isLost = false } = this.#resolveStart(resume)
    session.position = after
    if (isLost) feed.lost({ epoch: log.epoch, from: after + 1, to: delivered })
    this.#eventStreams.serve(session, isLost ? undefined : resume.received)
    return session
  }

  /**
   * Creates a session if the visitor is still admitted and below its connection limit, otherwise a closed one. It counts as a
   * connection from here on.
   */
  #seat(visitor: Visitor, connection: Connection, selection?: Selection): Session {
    const { space } = this
    const resubscribed = (changed: Session, id: string): number => this.#welcomeAnew(changed, id)
    const session = new Session(
      connection,
      { ...visitor, ...space.getReader(visitor) },
      space,
      resubscribed,
      selection,
    )
    this.#enforcement.check(session)
    // Other connections may have opened during authentication, so the limit is checked again.
    const reason = checkConnectionLimit(visitor, space)
    if (reason !== undefined) session.close(closeCodes.tooMany, reason)
    if (!session.closed) space.sessions.add(session)
    return session
  }

  /** Finds the part of the log that a session gets before it is live; `undefined` = none, or the connection has ended. */
  async #span(session: Session, resume: Resume): Promise<Start | undefined> {
    const { space } = this
    if (session.closed) return undefined
    const { after, isLost = false } = this.#resolveStart(resume)
    if (after !== undefined) return { after, last: await lastReadable(after, session, space), isLost }
    return resume.tail === undefined ? undefined : tailSpan(resume.tail, session, space)
  }

  /** The position of a reader; the start of the log if the position is not in this log. */
  #resolveStart({ after, epoch }: Resume): { readonly after?: number; readonly isLost?: boolean } {
    if (after === undefined) return {}
    const { log, delivered } = this.space
    const first = log.oldest - 1
    const isForeign = epoch !== undefined && epoch !== log.epoch
    const isKept = after >= first && after <= delivered
    return isForeign || !isKept ? { after: first, isLost: true } : { after }
  }

  /**
   * Sets the start of a session, and describes the replay for its welcome: `to` is the last envelope of the present log. If it
   * is less than `from`, the replay is empty [MEUP-5.4].
   */
  #place(session: Session, start: Start | undefined): WelcomePayload['resume'] {
    if (start === undefined) {
      session.position = this.space.delivered
      return live(this.space)
    }
    const { after, last, isLost } = start
    session.position = after
    return { status: isLost ? 'lost' : 'replaying', from: after + 1, to: Math.max(last, after) }
  }

  #serve(session: Session): void {
    const { space } = this
    const served = backfill(session, space).then(() => {
      if (session.live && session.tellsEnd) this.#welcome(session, live(space))
    })
    served.catch((error: unknown) => {
      space.logger.error(
        { space: space.config.name, participant: session.participant, err: error },
        'replay failed',
      )
      session.close(closeCodes.draining, 'the log cannot be read; reconnect later')
    })
  }

  /** Logs a configuration unless it is already the recorded one. Returns the seq, if logged. */
  #record(config: SpaceConfig): number | undefined {
    const { space } = this
    const configured = { event: 'configured', ...configurationRecord(config) }
    if (JSON.stringify(space.state.configured) === JSON.stringify(configured)) return undefined
    return space.emit({ kind: Kind.systemSpace, payload: configured })
  }

  /**
   * Sends another welcome after a change of rights or subscription. `subscribe`: id of the envelope that it answers. Returns
   * the bytes of the welcome; a session without a first welcome gets it later.
   */
  #welcomeAnew(session: Session, subscribe?: string): number {
    if (!session.isWelcomed) return 0
    const { position: from, live: isLive } = session
    const { delivered: to } = this.space
    const resume = isLive ? live(this.space) : ({ status: 'replaying', from: from + 1, to } as const)
    return this.#welcome(session, resume, subscribe)
  }

  /** Sends a welcome and returns its number of bytes. */
  #welcome(session: Session, resume: WelcomePayload['resume'], subscribe?: string): number {
    const { space } = this
    const { state, config } = space
    const { name, frontDesk } = config
    const now = space.clock.now()
    const { participant, capabilities, subscription, suppressed, session: program } = session
    const payload: WelcomePayload = {
      you: {
        id: participant,
        capabilities: [...capabilities],
        ...omitUndefined({ session: program }),
      },
      participants: participantsIn(state, now),
      space: {
        ...{ id: name, epoch: space.log.epoch, head: space.delivered },
        ...omitUndefined({ frontDesk }),
      },
      resume,
      contexts: state.contexts.open(session),
      subscription: { ...subscription.asked, suppressed: { ...suppressed } },
      limits: config.limits,
      mcp: { visibility: config.mcp.visibility },
      proposals: proposalsFor(participant, space, now),
    }
    const message = messageFrom(welcomeFrame(participant, space.timestamp(now), payload, subscribe))
    session.welcome(message)
    return message.text.length
  }
}

type Start = SeqSpan & { readonly isLost?: boolean }

/** Capabilities as JSON, by participant; equal texts mean equal rights. */
const rightsIn = ({ state }: Space): Map<string, string> =>
  new Map(state.participants.list().map(({ id, capabilities }) => [id, JSON.stringify(capabilities)]))

const live = (space: Space): WelcomePayload['resume'] => ({
  status: 'live',
  from: space.delivered + 1,
  to: space.delivered,
})

const recordedSettings = [
  'participants',
  'defaults',
  'frontDesk',
  'guest',
  'limits',
  'reasoning',
  'mcp',
  'retention',
] as const

/** Earlier versions recorded configurations without `programs`. */
const isOfEarlierVersion = (configured: SpaceState['configured']): boolean =>
  configured !== undefined && (configured.defaults as SpaceConfig['defaults']).programs === undefined

/** Applies the settings of a record to a configuration. Participants get the recorded public fields. */
function withRecorded(own: SpaceConfig, configured: Readonly<Record<string, unknown>>): SpaceConfig {
  const { guest: _, frontDesk: __, ...rest } = own
  const recorded = Object.fromEntries(
    recordedSettings.flatMap((key) => (configured[key] === undefined ? [] : [[key, configured[key]]])),
  ) as Partial<SpaceConfig>
  const participants = Object.entries(recorded.participants ?? {}).map(([id, participant]) => [
    id,
    { ...own.participants[id], ...participant },
  ])
  return { ...rest, ...recorded, participants: Object.fromEntries(participants) }
}

/** The public payload of `system.space configured`: never tokens, environments, headers or commands [MEUP-3.6]. */
export function configurationRecord({
  participants,
  defaults,
  frontDesk,
  guest,
  limits,
  reasoning,
  safety,
  mcp,
  retention,
}: SpaceConfig): Record<string, unknown> {
  return {
    participants: Object.fromEntries(
      Object.entries(participants).map(([id, participant]) => {
        const { kind, capabilities, description } = participant
        const programs = programsOf(participant)
        return [id, { kind, capabilities, programs, ...omitUndefined({ description }) }]
      }),
    ),
    defaults: { ...defaults, programs: 'many' },
    ...omitUndefined({ frontDesk }),
    ...(guest && { guest }),
    limits,
    reasoning,
    // The rules may contain secrets, so only their digest is recorded.
    redaction: digestRules(safety),
    mcp,
    retention,
  }
}
