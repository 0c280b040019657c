import { type Capability, type ContextInfo, GATEWAY, Kind } from '@meup/protocol'
import type { Session } from './delivery/session.js'
import type { Space } from './space.js'

type Fields = Parameters<Space['emit']>[0]

/** Tracks who is connected: logs joins and leaves, and cancels the contexts that owners abandon. */
export class Presence {
  readonly #space: Space
  /** Who is connected to other gateways. */
  readonly elsewhere = new PresentElsewhere()
  readonly #sessions = new Map<string, Set<Session>>()
  readonly #timers = new Map<string, () => void>()

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

  /** Another gateway has said who is connected there, or has not said it for long. */
  changedElsewhere(): void {
    if (this.#space.isFollower || this.#space.stopped !== undefined) return
    const { participants } = this.#space.state
    for (const [id, capabilities] of this.elsewhere.all()) {
      if (!participants.isPresent(id)) this.#came(id, capabilities)
    }
    for (const id of participants.present()) if (!this.#isThere(id)) this.#went(id)
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
      this.#try({ kind: Kind.reasoningCancel, context: left.context, payload: { reason: 'abandoned' } })
    }
  }

  /** A log that takes nothing has said so to the operator; `reconcile` makes good what is missing here. */
  #try(fields: Fields): void {
    try {
      this.#space.emit(fields)
    } catch (err) {
      const { logger, config } = this.#space
      logger.warn({ space: config.name, from: GATEWAY, kind: fields.kind, err }, 'could not be logged')
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

type Person = readonly [id: string, capabilities: readonly Capability[]]

interface Lease {
  readonly people: ReadonlyMap<string, readonly Capability[]>
  readonly until: number
}

/** Who is connected to the other gateways of a space, as long as those renew what they say. */
class PresentElsewhere {
  readonly #leases = new Map<string, Lease>()

  /** Takes what a gateway says until a time by this machine's clock. */
  renew(gateway: string, people: readonly Person[], until: number): void {
    this.#leases.set(gateway, { people: new Map(people), until })
  }

  /** Forgets what was not renewed in time. */
  expire(now: number): void {
    for (const [gateway, { until }] of this.#leases) if (until <= now) this.#leases.delete(gateway)
  }

  has(id: string): boolean {
    for (const { people } of this.#leases.values()) if (people.has(id)) return true
    return false
  }

  *all(): Generator<Person> {
    for (const { people } of this.#leases.values()) yield* people
  }
}
