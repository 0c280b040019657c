import { Bounded } from '@meup/folds'
import { type Capability, Kind, type PresencePayload, type ProgramInfo } from '@meup/protocol'
import { programsOf } from './config.js'
import type { Session } from './delivery/session.js'
import { OpenWork, Timers } from './open-work.js'
import { keyOf, PresentElsewhere, type PresentParticipant } from './present-elsewhere.js'
import type { Space } from './space.js'
import type { Ended } from './state/state.js'

/** Expiries that one call of `announceEnds` logs. */
const maxEnds = 256
/** Maximum addressees of one envelope [MEUP-1.2]. */
const maxTo = 64
/**
 * Milliseconds within which replacements of one participant's programs are counted, and reported to the operator [MEUP-5.19].
 */
const replacingMs = 60_000
/** Programs whose end is not logged yet; past this many the oldest are forgotten. */
const maxUnlogged = 10_000

type Fields = Parameters<Space['emit']>[0]

/**
 * Tracks who is connected, which programs run, and the states of participants' programs, and logs what changes. `OpenWork` ends
 * what participants and programs leave open.
 */
export class Presence {
  readonly #space: Space
  readonly openWork: OpenWork
  /** Participants connected to other gateways. */
  readonly elsewhere = new PresentElsewhere()
  readonly #sessions = new Map<string, Set<Session>>()
  /** Timers, by `keyOf`, that end programs which have no connection for `abandonAfterMs`. */
  readonly #timers: Timers
  /** States, by participant, of programs that the supervisor of this gateway starts and restarts. */
  readonly #programs = new Map<string, ProgramInfo>()
  /** Ended programs by key, until their end is logged. */
  readonly #unlogged = new Bounded<EndedProgram>(maxUnlogged)

  constructor(space: Space) {
    this.#space = space
    this.openWork = new OpenWork(space, this)
    this.#timers = new Timers(space.clock)
    space.onUnknownProgram = ({ participant, session }) => {
      if (session === undefined || space.isFollower || space.stopped !== undefined) return
      if (this.#takesOver(participant, session)) this.#begin(participant, session)
    }
  }

  /**
   * Logs joins and leaves that the log lacks after a crash or a failed commit, and gives programs, and owners of open contexts,
   * time to come back [MEUP-3.5].
   */
  reconcile(): void {
    const { participants, programs } = this.#space.state
    const present = new Set(participants.present())
    if (this.#space.isFollower) {
      this.close()
      this.#endUnlogged()
      return
    }
    for (const id of present) if (!this.isThere(id)) this.#space.tryEmit(left(id))
    this.elsewhere.takeFresh()
    for (const [id, capabilities, sessions] of [...this.here(), ...this.elsewhere.all()])
      this.#arrive(id, capabilities, sessions)
    this.recordPrograms()
    this.#endUnlogged()
    for (const { participant, session } of [...programs.living()]) {
      if (!this.isConnected(participant, session)) this.#expectProgram(participant, session)
    }
    this.openWork.resume()
  }

  /** Logs the changed capabilities of a participant. Returns the seq; throws as `emit` does. */
  changed(id: string): number {
    return this.#space.emit(updated(id, this.#space.state.participants.capabilities(id)))
  }

  /** Like `changed`, if no one waits for the result: a change that cannot be logged now is logged after the log has recovered. */
  announce(id: string): void {
    if (this.#space.isFollower) return
    this.#space.tryEmit(updated(id, this.#space.state.participants.capabilities(id)))
  }

  /**
   * Logs expired pauses, grants and proposals, each once, to the readers of the envelope that set the expiry; at most `maxEnds`
   * in one call [MEUP-3.28]. Those that cannot be logged now are logged after the log has recovered.
   */
  announceEnds(): void {
    const { nextEnd, state, clock } = this.#space
    const now = clock.now()
    if (nextEnd > now) return
    for (const end of state.ended(now).slice(0, maxEnds)) {
      for (const to of this.#readersOf(end)) this.#space.tryEmit(ended(end, to))
    }
  }

  /** The readers of the envelope that set the expiry, in lists of ids that fit into one envelope; `undefined` = everyone. */
  #readersOf({ id, participant }: Ended): (string[] | undefined)[] {
    const origin = this.#space.ids.findOrigin(id)
    // The readers of a pruned envelope are unknown, so only the participant itself is notified.
    if (origin === undefined) return [[participant]]
    const audience = this.#space.decideAudience(origin)
    if (audience === undefined) return [undefined]
    const all = [...audience.participants]
    return Array.from({ length: Math.ceil(all.length / maxTo) }, (_, n) =>
      all.slice(n * maxTo, (n + 1) * maxTo),
    )
  }

  /** Sets the state of a participant's program, as its supervisor reports it; `undefined` = it no longer runs. */
  setProgram(id: string, program: ProgramInfo | undefined): void {
    if (program === undefined) this.#programs.delete(id)
    else this.#programs.set(id, program)
    if (this.#space.isFollower) this.#space.elsewhere?.present()
    else this.#recordProgram(id)
  }

  /** Logs the states of programs that differ from the log: after a start, they may not have been reported again [MEUP-3.5]. */
  recordPrograms(): void {
    for (const id of [...this.#space.state.participants.ids()]) this.#recordProgram(id)
  }

  enter(session: Session): void {
    const { participant, capabilities } = session
    const sessions = this.#sessions.get(participant) ?? new Set()
    this.#sessions.set(participant, sessions.add(session))
    if (this.#space.isFollower) this.#space.elsewhere?.present()
    else this.#arrive(participant, capabilities, session.session === undefined ? [] : [session.session])
    this.#space.sessions.add(session)
  }

  exit(session: Session): void {
    const { participant } = session
    this.#space.sessions.delete(session)
    const sessions = this.#sessions.get(participant)
    if (!sessions?.delete(session)) return
    if (sessions.size === 0) this.#sessions.delete(participant)
    if (session.session === undefined) this.#went(participant)
    else this.#exitProgram(participant, session.session, session.isBye)
  }

  /** Ends a program, even if some of its connections are still open [MEUP-2.14]. */
  endProgram(participant: string, session: string): void {
    if (this.#space.isFollower) this.#tellEnd(participant, session, false)
    else this.#end(participant, session)
  }

  /** Handles a program that has closed a connection for good: it ends with its last connection [MEUP-2.14]. */
  sayBye(participant: string, session: string): void {
    if (this.#isHere(participant, session)) return
    if (this.#space.isFollower) this.#tellEnd(participant, session, true)
    else if (!this.elsewhere.has(participant, session)) this.#end(participant, session)
  }

  /** Asks the sequencing gateway to end a program, and repeats the request until the end is logged. */
  #tellEnd(participant: string, session: string, isBye: boolean): void {
    if (!this.#space.state.programs.isLiving(participant, session)) return
    this.#unlogged.set(keyOf(participant, session), { participant, session, isBye })
    this.#space.elsewhere?.endProgram(participant, session, isBye)
  }

  /** The participants that are connected to this gateway, with their capabilities and programs. */
  *here(): Generator<PresentParticipant> {
    for (const [id, all] of this.#sessions) {
      const [first] = all
      if (first !== undefined) yield [id, first.capabilities, sessionsOf(all)]
    }
  }

  /** States of the programs that the supervisor of this gateway runs. */
  programs(): IterableIterator<readonly [id: string, program: ProgramInfo]> {
    return this.#programs.entries()
  }

  /** Handles an announcement of another gateway, or the expiry of its lease. */
  changedElsewhere(): void {
    if (this.#space.isFollower || this.#space.stopped !== undefined) return
    const { participants, programs } = this.#space.state
    const fresh = this.elsewhere.takeFresh()
    for (const [id, capabilities, sessions] of this.elsewhere.all()) {
      for (const session of sessions) this.#forgive(keyOf(id, session))
      this.#arrive(
        id,
        capabilities,
        sessions.filter((session) => fresh.has(keyOf(id, session))),
      )
    }
    for (const id of participants.present()) if (!this.isThere(id)) this.#went(id)
    for (const { participant, session } of [...programs.living()]) {
      if (!this.isConnected(participant, session)) this.#expectProgram(participant, session)
    }
    this.recordPrograms()
  }

  isThere(id: string): boolean {
    return this.#sessions.has(id) || this.elsewhere.has(id)
  }

  isConnected(participant: string, session: string): boolean {
    return this.#isHere(participant, session) || this.elsewhere.has(participant, session)
  }

  #arrive(id: string, capabilities: readonly Capability[], sessions: readonly string[]): void {
    this.openWork.onArrival(id)
    for (const session of sessions) this.#forgive(keyOf(id, session))
    const begun = sessions.filter((session) => this.#takesOver(id, session))
    if (!this.#space.state.participants.isPresent(id))
      this.#space.tryEmit(joined(id, capabilities, begun.shift()))
    for (const session of begun) this.#begin(id, session)
  }

  /** Stops the timer that would end a program, because the program has reconnected. */
  #forgive(key: string): void {
    this.#timers.stop(key)
    this.#unlogged.delete(key)
  }

  #went(id: string): void {
    if (this.#space.isFollower) this.#space.elsewhere?.present()
    if (this.#space.isFollower || this.isThere(id)) return
    this.#space.tryEmit(left(id))
    this.openWork.endOrphans(id)
  }

  #exitProgram(participant: string, session: string, isBye: boolean): void {
    if (isBye) this.sayBye(participant, session)
    this.#went(participant)
    const { isFollower, state, elsewhere } = this.#space
    if (isFollower) elsewhere?.present()
    else if (!this.isConnected(participant, session) && state.programs.isLiving(participant, session))
      this.#expectProgram(participant, session)
  }

  #isHere(participant: string, session: string): boolean {
    for (const each of this.#sessions.get(participant) ?? []) if (each.session === session) return true
    return false
  }

  /**
   * Whether a program is new. If a participant has one program at a time, a new one replaces the earlier one [MEUP-5.19], which
   * cannot come back.
   */
  #takesOver(participant: string, session: string): boolean {
    const { state, config } = this.#space
    const { programs } = state
    if (programs.isLiving(participant, session) || programs.isReplaced(participant, session)) return false
    const configured = config.participants[participant]
    if (configured === undefined || programsOf(configured) === 'many') return true
    for (const earlier of [...programs.living(participant)]) this.#replace(participant, earlier.session)
    return true
  }

  #begin(participant: string, session: string): void {
    this.#space.tryEmit(programIs(participant, { id: session, event: 'begun' }))
    if (!this.isConnected(participant, session)) this.#expectProgram(participant, session)
  }

  #replace(participant: string, session: string): void {
    const { state, clock, logger, config } = this.#space
    const count = state.programs.countReplaced(participant, clock.now() - replacingMs) + 1
    this.openWork.endOf(participant, session)
    this.#space.tryEmit(
      programIs(participant, { id: session, event: 'replaced', ...(count > 1 && { count }) }),
    )
    if (count === 1) return
    const advice = 'programs replace each other: start one under this name, or set `programs: many`'
    logger.warn({ space: config.name, participant, count }, advice)
  }

  #end(participant: string, session: string): void {
    this.#forgive(keyOf(participant, session))
    if (!this.#space.state.programs.isLiving(participant, session)) return
    this.#unlogged.set(keyOf(participant, session), { participant, session, isBye: false })
    this.openWork.endOf(participant, session)
    this.#space.tryEmit(programIs(participant, { id: session, event: 'ended' }))
  }

  #recordProgram(id: string): void {
    const { participants } = this.#space.state
    const program = this.#programs.get(id) ?? this.elsewhere.program(id)
    if (participants.has(id) && !isSameProgram(program, participants.program(id)))
      this.#space.tryEmit(doing(id, program ?? null))
  }

  /** Stops the timers that end absent programs and contexts of absent owners; `reconcile` starts them again. */
  close(): void {
    this.#timers.stopAll()
    this.openWork.close()
  }

  /** Ends a program that does not reconnect in time [MEUP-2.14]. */
  #expectProgram(participant: string, session: string): void {
    const { abandonAfterMs } = this.#space.config.reasoning
    this.#timers.start(keyOf(participant, session), abandonAfterMs, () => this.#end(participant, session))
  }

  /** Repeats the ends of programs that the log does not have yet. */
  #endUnlogged(): void {
    const all = this.#unlogged.snapshot()
    for (const [key, { participant, session, isBye }] of all) {
      this.#unlogged.delete(key)
      if (!this.#space.state.programs.isLiving(participant, session)) continue
      if (isBye) this.sayBye(participant, session)
      else this.endProgram(participant, session)
    }
  }
}

const joined = (id: string, capabilities: readonly Capability[], session: string | undefined): Fields => ({
  kind: Kind.systemPresence,
  payload: {
    event: 'join',
    participant: { id, capabilities, status: 'present' },
    ...(session !== undefined && { session: { id: session, event: 'begun' } }),
  },
})

const programIs = (id: string, session: NonNullable<PresencePayload['session']>): Fields => ({
  kind: Kind.systemPresence,
  payload: { event: 'update', participant: { id }, session },
})

const updated = (id: string, capabilities: readonly Capability[]): Fields => ({
  kind: Kind.systemPresence,
  payload: { event: 'update', participant: { id, capabilities } },
})

const left = (id: string): Fields => ({
  kind: Kind.systemPresence,
  payload: { event: 'leave', participant: { id, status: 'away' } },
})

const doing = (id: string, program: ProgramInfo | null): Fields => ({
  kind: Kind.systemPresence,
  payload: { event: 'update', participant: { id }, program },
})

const ended = ({ what, id, participant }: Ended, to: string[] | undefined): Fields => ({
  kind: Kind.systemPresence,
  ...(to && { to }),
  payload: { event: 'update', participant: { id: participant }, ended: { what, id } },
})

const isSameProgram = (one: ProgramInfo | undefined, other: ProgramInfo | undefined): boolean =>
  one?.state === other?.state && one?.count === other?.count

interface EndedProgram {
  readonly participant: string
  readonly session: string
  /** Whether the program ends only with its last connection. */
  readonly isBye: boolean
}

const sessionsOf = (all: Iterable<Session>): string[] => [
  ...new Set([...all].flatMap(({ session }) => session ?? [])),
]
