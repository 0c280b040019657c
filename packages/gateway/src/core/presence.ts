import { Bounded, programEnded, programEndedReason } from '@meup/folds'
import {
  type Capability,
  GATEWAY,
  getMember,
  Kind,
  type PresencePayload,
  type ProgramInfo,
} from '@meup/protocol'
import type { Entry } from '../ports/envelope-log.js'
import { programsOf } from './config.js'
import type { Session } from './delivery/session.js'
import { keyOf, type Person, PresentElsewhere } from './present-elsewhere.js'
import type { Space } from './space.js'
import type { OwnContext } from './state/contexts.js'
import type { Ended } from './state/state.js'

/** Ends that one call logs. */
const maxEnds = 256
/** Addressees of one envelope [MEUP-1.2]. */
const maxTo = 64
/** Programs of one participant that replace each other within so many milliseconds are told to the operator [MEUP-5.19]. */
const replacingMs = 60_000
/** Programs whose end is still to be logged. */
const maxUnlogged = 10_000

type Fields = Parameters<Space['emit']>[0]

/**
 * Tracks who is connected, which programs run, and how participants' programs are doing: logs what changes, ends what a program
 * leaves behind [MEUP-2.14, 2.15], and cancels the contexts that owners abandon.
 */
export class Presence {
  readonly #space: Space
  /** Who is connected to other gateways. */
  readonly elsewhere = new PresentElsewhere()
  readonly #sessions = new Map<string, Set<Session>>()
  /** By the key of a program, or by the owner of contexts that no program has opened. */
  readonly #timers = new Map<string, () => void>()
  /** How the programs are doing that run beside this gateway. */
  readonly #programs = new Map<string, ProgramInfo>()
  /** Programs that have ended, by their keys, as long as the log does not say so. */
  readonly #unlogged = new Bounded<EndedProgram>(maxUnlogged)

  constructor(space: Space) {
    this.#space = space
    space.onUnknownProgram = ({ participant, session }) => {
      if (session === undefined || space.isFollower || space.stopped !== undefined) return
      if (this.#takesOver(participant, session)) this.#begin(participant, session)
    }
  }

  /**
   * Logs who has come and gone where the log does not say so, because a crash cut it off or a commit failed, and gives
   * programs, and owners of open contexts, time to come back [MEUP-3.5].
   */
  reconcile(): void {
    const { participants, programs, contexts } = this.#space.state
    const present = new Set(participants.present())
    if (this.#space.isFollower) {
      this.close()
      this.#endUnlogged()
      return
    }
    for (const id of present) if (!this.#isThere(id)) this.#try(left(id))
    this.elsewhere.takeFresh()
    for (const [id, capabilities, sessions] of [...this.here(), ...this.elsewhere.all()])
      this.#arrive(id, capabilities, sessions)
    this.recordPrograms()
    this.#endUnlogged()
    for (const { participant, session } of [...programs.living()]) {
      if (!this.#isConnected(participant, session)) this.#expectProgram(participant, session)
    }
    for (const owner of new Set(contexts.open().map((each) => each.owner))) this.#endOrphans(owner)
  }

  /** Cancels what was left open by programs of which the log cannot say whether they still run: an earlier version wrote it. */
  abandonAll(): void {
    const { contexts } = this.#space.state
    for (const { owner } of contexts.open()) {
      for (const left of contexts.of(owner)) {
        if (left.session === undefined) this.#cancel(left, 'abandoned')
      }
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

  /** A program has ended, though connections of it may be left [MEUP-2.14]. */
  endProgram(participant: string, session: string): void {
    if (this.#space.isFollower) this.#tellEnd(participant, session, false)
    else this.#end(participant, session)
  }

  /** A program has closed a connection for good: with its last one it has ended [MEUP-2.14]. */
  sayBye(participant: string, session: string): void {
    if (this.#isHere(participant, session)) return
    if (this.#space.isFollower) this.#tellEnd(participant, session, true)
    else if (!this.elsewhere.has(participant, session)) this.#end(participant, session)
  }

  #tellEnd(participant: string, session: string, isBye: boolean): void {
    if (!this.#space.state.programs.isLiving(participant, session)) return
    this.#unlogged.set(keyOf(participant, session), { participant, session, isBye })
    this.#space.elsewhere?.endProgram(participant, session, isBye)
  }

  /** What is said over HTTP may leave contexts open whose owner is not there; who is not there cannot be asked to stop. */
  onContext({ kind, from, context }: Entry): void {
    if (this.#space.isFollower) return
    if (kind === Kind.reasoningStart && !this.#isThere(from)) this.#expect(from)
    else if (kind === Kind.reasoningCancel && context !== undefined) this.#stop(context)
  }

  /** Ends a context that somebody asks to end, where its program is not there to do so [MEUP-2.4]. */
  #stop(context: string): void {
    const opened = this.#space.state.contexts.get(context)
    if (opened === undefined) return
    const { owner, session } = opened
    if (session === undefined ? this.#isThere(owner) : this.#isConnected(owner, session)) return
    this.#cancel(opened, session === undefined ? 'abandoned' : programEndedReason)
  }

  /** Who is connected to this gateway, what each may do, and its programs. */
  *here(): Generator<Person> {
    for (const [id, all] of this.#sessions) {
      const [first] = all
      if (first !== undefined) yield [id, first.capabilities, sessionsOf(all)]
    }
  }

  /** Of participants whose programs run beside this gateway. */
  programs(): IterableIterator<readonly [id: string, program: ProgramInfo]> {
    return this.#programs.entries()
  }

  /** Another gateway has said who is connected and what runs there, or has not said it for long. */
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
    for (const id of participants.present()) if (!this.#isThere(id)) this.#went(id)
    for (const { participant, session } of [...programs.living()]) {
      if (!this.#isConnected(participant, session)) this.#expectProgram(participant, session)
    }
    this.recordPrograms()
  }

  #isThere(id: string): boolean {
    return this.#sessions.has(id) || this.elsewhere.has(id)
  }

  #isConnected(participant: string, session: string): boolean {
    return this.#isHere(participant, session) || this.elsewhere.has(participant, session)
  }

  /** Somebody is there, with these programs. */
  #arrive(id: string, capabilities: readonly Capability[], sessions: readonly string[]): void {
    this.#forgive(id)
    for (const session of sessions) this.#forgive(keyOf(id, session))
    const begun = sessions.filter((session) => this.#takesOver(id, session))
    if (!this.#space.state.participants.isPresent(id)) this.#try(joined(id, capabilities, begun.shift()))
    for (const session of begun) this.#begin(id, session)
  }

  /** What was to happen unless it comes back does not happen. */
  #forgive(key: string): void {
    this.#timers.get(key)?.()
    this.#timers.delete(key)
    this.#unlogged.delete(key)
  }

  #went(id: string): void {
    if (this.#space.isFollower) this.#space.elsewhere?.present()
    if (this.#space.isFollower || this.#isThere(id)) return
    this.#try(left(id))
    this.#endOrphans(id)
  }

  #exitProgram(participant: string, session: string, isBye: boolean): void {
    if (isBye) this.sayBye(participant, session)
    this.#went(participant)
    const { isFollower, state, elsewhere } = this.#space
    if (isFollower) elsewhere?.present()
    else if (!this.#isConnected(participant, session) && state.programs.isLiving(participant, session))
      this.#expectProgram(participant, session)
  }

  #isHere(participant: string, session: string): boolean {
    for (const each of this.#sessions.get(participant) ?? []) if (each.session === session) return true
    return false
  }

  /**
   * Whether a program is a new one; then those that it takes over from are replaced [MEUP-5.19]. One that was replaced does
   * not come again.
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
    this.#try(programIs(participant, { id: session, event: 'begun' }))
    if (!this.#isConnected(participant, session)) this.#expectProgram(participant, session)
  }

  #replace(participant: string, session: string): void {
    const { state, clock, logger, config } = this.#space
    const count = state.programs.countReplaced(participant, clock.now() - replacingMs) + 1
    this.#endWork(participant, session)
    this.#try(programIs(participant, { id: session, event: 'replaced', ...(count > 1 && { count }) }))
    if (count === 1) return
    const advice = 'programs replace each other: start one under this name, or set `programs: many`'
    logger.warn({ space: config.name, participant, count }, advice)
  }

  #end(participant: string, session: string): void {
    this.#forgive(keyOf(participant, session))
    if (!this.#space.state.programs.isLiving(participant, session)) return
    this.#unlogged.set(keyOf(participant, session), { participant, session, isBye: false })
    this.#endWork(participant, session)
    this.#try(programIs(participant, { id: session, event: 'ended' }))
  }

  /** Ends the runs of a program, and the calls that nobody will answer, before the log says that it is over: what fails here is tried again. */
  #endWork(participant: string, session: string): void {
    const { contexts, programs, calls } = this.#space.state
    for (const left of contexts.of(participant)) {
      if (left.session === session) this.#cancel(left, programEndedReason)
    }
    for (const other of programs.living(participant)) if (other.session !== session) return
    for (const call of calls.waitingFor(participant)) this.#answerFor(participant, call)
  }

  /** Answers a call for an addressee whose program has ended [MEUP-2.15]. */
  #answerFor(participant: string, call: string): void {
    const asked = this.#space.ids.findEntry(call)
    if (asked === undefined) return
    const { from, context, body } = asked
    const id = getMember(getMember(body, 'payload') ?? new Uint8Array(), 'id')
    const error = JSON.stringify(programEnded(participant))
    this.#try({
      kind: Kind.mcpResponse,
      to: [from],
      correlationId: call,
      ...(context !== undefined && { context }),
      payload: `{"jsonrpc":"2.0","id":${id === undefined ? 'null' : Buffer.from(id)},"error":${error}}`,
    })
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

  /** A program that does not come back has ended [MEUP-2.14]. */
  #expectProgram(participant: string, session: string): void {
    const key = keyOf(participant, session)
    if (!this.#timers.has(key)) this.#await(key, () => this.#end(participant, session))
  }

  /** Ends what an owner has open and no program of it is there for. */
  #endOrphans(owner: string): void {
    const { contexts, programs } = this.#space.state
    let isExpected = false
    for (const left of contexts.of(owner)) {
      if (left.session === undefined) isExpected = true
      else if (!programs.isLiving(owner, left.session)) this.#cancel(left, programEndedReason)
    }
    if (isExpected && !this.#isThere(owner)) this.#expect(owner)
  }

  /** An owner that stays away, and sends nothing over HTTP, leaves its contexts abandoned [MEUP-2.3]. */
  #expect(owner: string): void {
    if (!this.#timers.has(owner)) this.#await(owner, () => this.#abandon(owner))
  }

  #abandon(owner: string): void {
    const { state, config, clock } = this.#space
    const { abandonAfterMs } = config.reasoning
    if (this.#isThere(owner)) return
    let nextMs = Number.POSITIVE_INFINITY
    for (const left of state.contexts.of(owner)) {
      if (left.session !== undefined) continue
      const waitMs = Date.parse(left.lastAt) + abandonAfterMs - clock.now()
      if (waitMs <= 0) this.#cancel(left, 'abandoned')
      else nextMs = Math.min(nextMs, waitMs)
    }
    if (nextMs <= abandonAfterMs) this.#await(owner, () => this.#abandon(owner), nextMs)
  }

  #await(key: string, act: () => void, ms = this.#space.config.reasoning.abandonAfterMs): void {
    const cancel = this.#space.clock.after(ms, () => {
      this.#timers.delete(key)
      act()
    })
    this.#timers.set(key, cancel)
  }

  /** Tells whoever asked for a run that it is over; a private run ends in private [MEUP-2.13]. */
  #cancel({ context }: Pick<OwnContext, 'context'>, reason: string): void {
    const { state, ids } = this.#space
    if (state.contexts.get(context)?.state !== 'open') return
    const audience = state.contexts.runAudience(context)
    const { correlationId } = ids.findOrigin(context.slice(context.lastIndexOf('/') + 1)) ?? {}
    this.#try({
      kind: Kind.reasoningCancel,
      context,
      ...(audience && { to: [...audience] }),
      ...(correlationId !== undefined && { correlationId: copyOf(correlationId) }),
      payload: { reason },
    })
  }

  /** Says once more that programs have ended, where the log does not have it yet. */
  #endUnlogged(): void {
    const all = this.#unlogged.snapshot()
    for (const [key, { participant, session, isBye }] of all) {
      this.#unlogged.delete(key)
      if (!this.#space.state.programs.isLiving(participant, session)) continue
      if (isBye) this.sayBye(participant, session)
      else this.endProgram(participant, session)
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
  /** It ends with its last connection. */
  readonly isBye: boolean
}

const copyOf = (ids: string | readonly string[]): string | string[] =>
  typeof ids === 'string' ? ids : [...ids]

const sessionsOf = (all: Iterable<Session>): string[] => [
  ...new Set([...all].flatMap(({ session }) => session ?? [])),
]
