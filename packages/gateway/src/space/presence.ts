import { type Capability, type ContextInfo, GATEWAY, Kind } from '@meup/protocol'
import type { Session } from './session.js'
import type { Space } from './space.js'

type Fields = Parameters<Space['emit']>[0]

/** Who is connected: logs the coming and going of participants, and ends what they leave behind. */
export class Presence {
  readonly #space: Space
  readonly #sessions = new Map<string, Set<Session>>()
  readonly #timers = new Map<string, () => void>()

  constructor(space: Space) {
    this.#space = space
  }

  /** Logs `leave` for whoever a crash cut off, and gives owners of open contexts time to come back [MEUP-3.5]. */
  bury(): void {
    const { state } = this.#space
    for (const id of state.participants.present()) this.#try(left(id))
    for (const owner of new Set(state.contexts.open().map((context) => context.owner))) this.#expect(owner)
  }

  connections(participant: string): number {
    return this.#sessions.get(participant)?.size ?? 0
  }

  enter(session: Session): void {
    const { participant, capabilities } = session
    const sessions = this.#sessions.get(participant) ?? new Set()
    if (sessions.size === 0) this.#space.emit(joined(participant, capabilities))
    this.#sessions.set(participant, sessions.add(session))
    this.#space.sessions.add(session)
    this.#timers.get(participant)?.()
    this.#timers.delete(participant)
  }

  exit(session: Session): void {
    const { participant } = session
    this.#space.sessions.delete(session)
    const sessions = this.#sessions.get(participant)
    if (!sessions?.delete(session) || sessions.size > 0) return
    this.#sessions.delete(participant)
    this.#try(left(participant))
    if (this.#space.state.contexts.leftOpenBy(participant).length > 0) this.#expect(participant)
  }

  /** Says again who is here, where a failed commit has lost it. */
  reappear(): void {
    const present = new Set(this.#space.state.participants.present())
    for (const [participant, [session]] of this.#sessions) {
      if (session !== undefined && !present.has(participant))
        this.#try(joined(participant, session.capabilities))
    }
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

  /** A log that takes nothing has said so to the operator; the next start makes good what is missing here. */
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

const left = (id: string): Fields => ({
  kind: Kind.systemPresence,
  payload: { event: 'leave', participant: { id, status: 'away' } },
})
