import { type Capability, type ContextInfo, GATEWAY, Kind, type ProgramInfo } from '@meup/protocol'
import type { Session } from './delivery/session.js'
import type { Space } from './space.js'
import type { Ended } from './state/state.js'

/** Ends that one call logs. */
const maxEnds = 256
/** Addressees of one envelope [MEUP-1.2]. */
const maxTo = 64

type Fields = Parameters<Space['emit']>[0]

/**
 * Tracks who is connected, and how participants' programs are doing: logs what changes, and cancels the contexts that owners
 * abandon.
 */
export class Presence {
  readonly #space: Space
  /** Who is connected to other gateways. */
  readonly elsewhere = new PresentElsewhere()
  readonly #sessions = new Map<string, Set<Session>>()
  readonly #timers = new Map<string, () => void>()
  /** How the programs are doing that run beside this gateway. */
  readonly #programs = new Map<string, ProgramInfo>()

  constructor(space: Space) {
    this.#space = space
  }

  /**
   * Logs who has come and gone where the log does not say so, because a crash cut it off or a commit failed, and gives
   * owners of open contexts time to come back [MEUP-3.5].
   */
  reconcile(): void {
    const { participants, contexts } = this.#space.state
    const present = new Set(participants.present())
    if (this.#space.isFollower) {
      this.close()
      return
    }
    for (const id of present) if (!this.#isThere(id)) this.#try(left(id))
    for (const [id, capabilities] of this.here()) {
      if (!present.has(id)) this.#try(joined(id, capabilities))
    }
    for (const [id, capabilities] of this.elsewhere.all()) {
      if (!present.has(id) && !this.#sessions.has(id)) this.#try(joined(id, capabilities))
    }
    this.recordPrograms()
    for (const { owner } of contexts.open()) {
      if (!this.#isThere(owner) && !this.#timers.has(owner)) this.#expect(owner)
    }
  }

  /** Logs that the capabilities of a participant are other ones from now on. Gives the seq; throws as `emit` does. */
  changed(id: string): number {
    return this.#space.emit(updated(id, this.#space.state.participants.capabilities(id)))
  }

  /** The same where there is time: what cannot be logged now is told when the log has recovered. */
  announce(id: string): void {
    if (this.#space.isFollower) return
    this.#try(updated(id, this.#space.state.participants.capabilities(id)))
  }

  /**
   * Logs each end by time once, addressed to the readers of the envelope that set it, at most `maxEnds` in one call [MEUP-3.28]. An end
   * that the log does not take is logged after the log has recovered.
   */
  announceEnds(): void {
    const { nextEnd, state, clock } = this.#space
    const now = clock.now()
    if (nextEnd > now) return
    for (const end of state.ended(now).slice(0, maxEnds)) {
      this.#attempt(Kind.systemPresence, () => {
        for (const to of this.#readersOf(end)) this.#space.emit(ended(end, to))
      })
    }
  }

  /** Lists of ids, each short enough for one envelope; `undefined` = everyone. */
  #readersOf({ id, participant }: Ended): (string[] | undefined)[] {
    const origin = this.#space.ids.findOrigin(id)
    // The readers of a pruned envelope are unknown.
    if (origin === undefined) return [[participant]]
    const audience = this.#space.decideAudience(origin)
    if (audience === undefined) return [undefined]
    const all = [...audience.participants]
    return Array.from({ length: Math.ceil(all.length / maxTo) }, (_, n) =>
      all.slice(n * maxTo, (n + 1) * maxTo),
    )
  }

  /** How the program of a participant is doing; `undefined`: nobody beside this gateway runs it any more. */
  setProgram(id: string, program: ProgramInfo | undefined): void {
    if (program === undefined) this.#programs.delete(id)
    else this.#programs.set(id, program)
    if (this.#space.isFollower) this.#space.elsewhere?.present()
    else this.#recordProgram(id)
  }

  /** Logs of each participant how its program is doing, where the log says otherwise: nobody may have said it again since a start [MEUP-3.5]. */
  recordPrograms(): void {
    for (const id of [...this.#space.state.participants.ids()]) this.#recordProgram(id)
  }

  enter(session: Session): void {
    const { participant, capabilities } = session
    const sessions = this.#sessions.get(participant) ?? new Set()
    const isNew = sessions.size === 0
    this.#sessions.set(participant, sessions.add(session))
    if (isNew) this.#came(participant, capabilities)
    this.#space.sessions.add(session)
  }

  exit(session: Session): void {
    const { participant } = session
    this.#space.sessions.delete(session)
    const sessions = this.#sessions.get(participant)
    if (!sessions?.delete(session) || sessions.size > 0) return
    this.#sessions.delete(participant)
    this.#went(participant)
  }

  /** Who is connected to this gateway, and what each may do. */
  *here(): Generator<readonly [id: string, capabilities: readonly Capability[]]> {
    for (const [id, [session]] of this.#sessions) if (session !== undefined) yield [id, session.capabilities]
  }

  /** Of participants whose programs run beside this gateway. */
  programs(): IterableIterator<readonly [id: string, program: ProgramInfo]> {
    return this.#programs.entries()
  }

  /** Another gateway has said who is connected and what runs there, or has not said it for long. */
  changedElsewhere(): void {
    if (this.#space.isFollower || this.#space.stopped !== undefined) return
    const { participants } = this.#space.state
    for (const [id, capabilities] of this.elsewhere.all()) {
      if (!participants.isPresent(id)) this.#came(id, capabilities)
    }
    for (const id of participants.present()) if (!this.#isThere(id)) this.#went(id)
    this.recordPrograms()
  }

  #isThere(id: string): boolean {
    return this.#sessions.has(id) || this.elsewhere.has(id)
  }

  #came(id: string, capabilities: readonly Capability[]): void {
    this.#timers.get(id)?.()
    this.#timers.delete(id)
    if (this.#space.isFollower) this.#space.elsewhere?.present()
    else if (!this.#space.state.participants.isPresent(id)) this.#try(joined(id, capabilities))
  }

  #went(id: string): void {
    if (this.#space.isFollower) this.#space.elsewhere?.present()
    if (this.#space.isFollower || this.#isThere(id)) return
    this.#try(left(id))
    if (this.#space.state.contexts.leftOpenBy(id).length > 0) this.#expect(id)
  }

  #recordProgram(id: string): void {
    const { participants } = this.#space.state
    const program = this.#programs.get(id) ?? this.elsewhere.program(id)
    if (participants.has(id) && !isSameProgram(program, participants.program(id)))
      this.#try(doing(id, program ?? null))
  }

  /** Forgets the timers; what they were for is taken up again at the next start. */
  close(): void {
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
  }

  /** An owner that stays away leaves its contexts abandoned [MEUP-2.3]. */
  #expect(owner: string): void {
    const { clock, config } = this.#space
    this.#timers.get(owner)?.()
    this.#timers.set(
      owner,
      clock.after(config.reasoning.abandonAfterMs, () => this.#abandon(owner)),
    )
  }

  #abandon(owner: string): void {
    this.#timers.delete(owner)
    const { contexts } = this.#space.state
    const isStillOpen = ({ context }: ContextInfo): boolean => contexts.get(context)?.state === 'open'
    for (const left of contexts.leftOpenBy(owner)) {
      if (!isStillOpen(left)) continue
      const audience = contexts.runAudience(left.context)
      this.#try({
        kind: Kind.reasoningCancel,
        context: left.context,
        ...(audience && { to: [...audience] }), // A private run ends in private [MEUP-2.13].
        payload: { reason: 'abandoned' },
      })
    }
  }

  /** A log that takes nothing has said so to the operator; `reconcile` makes good what is missing here. */
  #try(fields: Fields): void {
    this.#attempt(fields.kind, () => this.#space.emit(fields))
  }

  #attempt(kind: string, emit: () => void): void {
    try {
      emit()
    } catch (err) {
      const { logger, config } = this.#space
      logger.warn({ space: config.name, from: GATEWAY, kind, err }, 'could not be logged')
    }
  }
}

const joined = (id: string, capabilities: readonly Capability[]): Fields => ({
  kind: Kind.systemPresence,
  payload: { event: 'join', participant: { id, capabilities, status: 'present' } },
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

type Person = readonly [id: string, capabilities: readonly Capability[]]

interface Lease {
  readonly people: ReadonlyMap<string, readonly Capability[]>
  readonly programs: ReadonlyMap<string, ProgramInfo>
  readonly until: number
}

/** What a gateway says of itself. */
export interface Announcement {
  /** Who is connected to it. */
  readonly people: readonly Person[]
  /** How the programs are doing that run beside it. */
  readonly programs: readonly (readonly [id: string, program: ProgramInfo])[]
}

/** Who is connected to the other gateways of a space, and what runs beside them, as long as those renew what they say. */
class PresentElsewhere {
  readonly #leases = new Map<string, Lease>()

  /** Takes what a gateway says until a time by this machine's clock. */
  renew(gateway: string, { people, programs }: Announcement, until: number): void {
    this.#leases.set(gateway, { people: new Map(people), programs: new Map(programs), until })
  }

  /** Forgets what was not renewed in time. */
  expire(now: number): void {
    for (const [gateway, { until }] of this.#leases) if (until <= now) this.#leases.delete(gateway)
  }

  has(id: string): boolean {
    for (const { people } of this.#leases.values()) if (people.has(id)) return true
    return false
  }

  program(id: string): ProgramInfo | undefined {
    for (const { programs } of this.#leases.values()) {
      const program = programs.get(id)
      if (program !== undefined) return program
    }
    return undefined
  }

  *all(): Generator<Person> {
    for (const { people } of this.#leases.values()) yield* people
  }
}
