import { closeCodes, Kind, type WelcomePayload } from '@meup/protocol'
import { Checkpoints } from '../core/checkpoints.js'
import { checkNames, programsOf, type SpaceConfig } from '../core/config.js'
import { backfill, lastReadable, type Span, tailSpan } from '../core/delivery/backfill.js'
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
import { createTurns, type Turns } from '../index/indexer.js'
import { type Connection, type Feed, messageFrom } from '../ports/connection.js'
import type { LogObserver } from '../ports/envelope-log.js'
import { Member } from './cluster/member.js'
import { checkConnectionLimit, type Resume } from './connection-gate.js'
import { Enforcement } from './enforcement.js'
import { EventStreams } from './event-streams.js'

/** A space with its presence, turn index, enforcement, and event streams. */
export class SpaceHost {
  readonly space: Space
  readonly presence: Presence
  readonly turns: Turns
  readonly retention: Retention
  readonly checkpoints: Checkpoints
  readonly erasing: Erasing
  readonly #enforcement: Enforcement
  readonly #eventStreams: EventStreams
  /** Absent = no other gateway has the space open. */
  readonly #member: Member | undefined
  /** What the operator configured here. Another gateway may have recorded something else. */
  #own: SpaceConfig
  /** The record that is followed, where that is not this gateway's own. */
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
    this.#member = shared && new Member(this, shared)
    space.listen([
      this.#enforcement, // First: changed rights apply to this batch; kicked connections are closed before anything else is sent.
      this.#eventStreams, // Keeps the batch before the index is told to read it.
      this.erasing,
      { delivered: () => this.#followConfiguration() },
      { delivered: () => this.turns.indexer.poke() },
      // In a later turn of the event loop, so that the next batch does not wait for it.
      {
        delivered: (batch) =>
          observer &&
          setImmediate(
            observer,
            batch.map(({ entry }) => entry),
          ),
      },
      this.checkpoints, // Counts what was delivered, whatever the others did with it.
      { recovered: () => this.initialize() }, // Logs configuration and presence again, then applies rights.
      ...(this.#member ? [this.#member] : []), // Last: answers forwarded frames once the state is final.
    ])
  }

  /** Records what the operator configured, where the log does not have it yet, and marks stale participants offline [MEUP-3.5, 3.6]. */
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
   * Applies what the operator changed. Whoever would no longer be let in is closed 4401; whose capabilities have changed
   * is welcomed anew [MEUP-3.5, 3.6]. Rejects where the log takes nothing: then the configuration stays as it was.
   */
  async reconfigure(config: SpaceConfig): Promise<void> {
    const { space } = this
    checkNames(config)
    this.#enforcement.closeRevoked() // Before all else: a token that was taken away does not wait for the disk.
    const guardAnew = space.safety.prepare(config.safety)
    this.#enforcement.hold()
    try {
      const before = rightsIn(space)
      let last = space.isFollower ? undefined : this.#record(config)
      if (!space.isFollower) this.presence.recordPrograms() // Of who belongs to the space only now.
      for (const [id, rights] of rightsIn(space)) {
        if (before.get(id) !== rights) last = this.presence.changed(id)
      }
      if (last !== undefined && !(await space.committed(last))) {
        throw new Error(`the log of the space ${config.name} cannot be written; nothing was changed in it`)
      }
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
   * Where several gateways have the space open, all decide by what the sequencing one has recorded: with files that differ, one
   * would show what another keeps, or widen rights when it takes over. What differs here is told to the operator.
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

  /** Starts the background work. */
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

  /** Lets a visitor in: welcome first, then what it missed, then live [MEUP-5.3]. */
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

  /** Shows a visitor what happens. It cannot act on this line, and so it makes nobody present [MEUP-11.10]. */
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

  /** A session of whoever is still welcome, and may have one more; a closed one for others. It counts from here on. */
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
    // Others may have come while this one was let in.
    const reason = checkConnectionLimit(visitor, space)
    if (reason !== undefined) session.close(closeCodes.tooMany, reason)
    if (!session.closed) space.sessions.add(session)
    return session
  }

  /** What a session is to get of the log before it is live. Looking for it ends with the connection. */
  async #span(session: Session, resume: Resume): Promise<Start | undefined> {
    const { space } = this
    if (session.closed) return undefined
    const { after, isLost = false } = this.#resolveStart(resume)
    if (after !== undefined) return { after, last: await lastReadable(after, session, space), isLost }
    return resume.tail === undefined ? undefined : tailSpan(resume.tail, session, space)
  }

  /** Where a reader has been; the beginning of the log where that is no place in it. */
  #resolveStart({ after, epoch }: Resume): { readonly after?: number; readonly isLost?: boolean } {
    if (after === undefined) return {}
    const { log, delivered } = this.space
    const first = log.oldest - 1
    const isForeign = epoch !== undefined && epoch !== log.epoch
    const isKept = after >= first && after <= delivered
    return isForeign || !isKept ? { after: first, isLost: true } : { after }
  }

  /**
   * Puts a session where it starts, and tells what it will get from there: of what the log has now, `to` is the last. Where
   * that is less than `from` there is nothing to come [MEUP-5.4].
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

  /** Logs a configuration unless it is what the log says already; then there is no seq. */
  #record(config: SpaceConfig): number | undefined {
    const { space } = this
    const configured = { event: 'configured', ...configurationRecord(config) }
    if (JSON.stringify(space.state.configured) === JSON.stringify(configured)) return undefined
    return space.emit({ kind: Kind.systemSpace, payload: configured })
  }

  /**
   * Its rights or its subscription have changed. `subscribe`: id of the envelope that it answers. Gives the bytes of the
   * welcome; one that is not welcomed yet gets it then.
   */
  #welcomeAnew(session: Session, subscribe?: string): number {
    if (!session.isWelcomed) return 0
    const { position: from, live: isLive } = session
    const { delivered: to } = this.space
    const resume = isLive ? live(this.space) : ({ status: 'replaying', from: from + 1, to } as const)
    return this.#welcome(session, resume, subscribe)
  }

  /** Gives its bytes. */
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
        ...(program !== undefined && { session: program }),
      },
      participants: participantsIn(state, now),
      space: {
        ...{ id: name, epoch: space.log.epoch, head: space.delivered },
        ...(frontDesk !== undefined && { frontDesk }),
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

type Start = Span & { readonly isLost?: boolean }

/** By participant; equal texts are equal rights. */
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

/** Gateways that knew of no programs recorded a configuration without them. */
const isOfEarlierVersion = (configured: SpaceState['configured']): boolean =>
  configured !== undefined && (configured.defaults as SpaceConfig['defaults']).programs === undefined

/** A configuration with the settings that a record has. Of participants it has what everybody may know. */
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

/** What `system.space configured` tells everyone: never tokens, environments, headers or commands [MEUP-3.6]. */
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
        return [id, { kind, capabilities, programs, ...(description !== undefined && { description }) }]
      }),
    ),
    defaults: { ...defaults, programs: 'many' },
    ...(frontDesk !== undefined && { frontDesk }),
    ...(guest && { guest }),
    limits,
    reasoning,
    // The rules may name what is secret.
    redaction: digestRules(safety),
    mcp,
    retention,
  }
}
