import {
  type Envelope,
  type InvitePayload,
  type KickPayload,
  Kind,
  type ParticipantDetails,
  type PausePayload,
  type PresencePayload,
} from '@meup/protocol'
import { Bounded } from './bounded.js'

/** What keeps a participant from acting, and how its program is doing; each absent = all is well. */
export type ParticipantState = Pick<ParticipantDetails, 'paused' | 'kicked' | 'program'>

export type ParticipantStateSnapshot = readonly (readonly [id: string, state: ParticipantState])[]

/** The latest time of a `Date`. */
const maxTime = 8.64e15

/**
 * Who is paused or kicked by whom, and whose program fails: as the last welcome said, and the envelopes since. Who may not
 * read what is addressed to others learns of their pauses by welcomes alone [MEUP-8.1].
 */
export class ParticipantStates {
  readonly #states = new Bounded<ParticipantState>(10_000)

  apply({ kind, from: by, to = [], ts, payload }: Envelope): void {
    switch (kind) {
      case Kind.participantPause: {
        const { reason, timeoutSeconds = Number.POSITIVE_INFINITY } = payload as PausePayload
        const end = Date.parse(ts) + timeoutSeconds * 1000
        const until = end > 0 && end < maxTime ? { until: new Date(end).toISOString() } : {}
        for (const id of to) this.#change(id, { paused: { by, ...(reason && { reason }), ...until } })
        break
      }
      case Kind.participantResume:
        for (const id of to) this.#change(id, { paused: undefined })
        break
      case Kind.spaceKick: {
        const { participantId, reason, untilTs: until } = payload as KickPayload
        this.#change(participantId, { kicked: { by, ...(reason && { reason }), ...(until && { until }) } })
        break
      }
      case Kind.spaceInvite:
        this.#change((payload as InvitePayload).participantId, { kicked: undefined })
        break
      case Kind.systemPresence: {
        const { participant, program, ended } = payload as PresencePayload
        if (ended?.what === 'pause') this.#change(participant.id, { paused: undefined })
        if (program !== undefined) this.#change(participant.id, { program: program ?? undefined })
      }
    }
  }

  /** A welcome says it of everyone. */
  onWelcome(participants: readonly (ParticipantState & { readonly id: string })[]): void {
    this.restore(participants.map(({ id, ...state }) => [id, state]))
  }

  /** `now`: milliseconds by the gateway's clock, which ends pauses and kicks. */
  get(id: string, now: number): ParticipantState {
    const { paused, kicked, program } = this.#states.get(id) ?? {}
    return {
      ...(paused && !isOver(paused, now) && { paused }),
      ...(kicked && !isOver(kicked, now) && { kicked }),
      ...(program && { program }),
    }
  }

  snapshot(): ParticipantStateSnapshot {
    return this.#states.snapshot()
  }

  restore(snapshot: ParticipantStateSnapshot): void {
    for (const id of [...this.#states.keys()]) this.#states.delete(id)
    for (const [id, { paused, kicked, program }] of snapshot) this.#change(id, { paused, kicked, program })
  }

  #change(
    id: string,
    change: { readonly [Name in keyof ParticipantState]: ParticipantState[Name] | undefined },
  ): void {
    const { paused, kicked, program } = { ...this.#states.get(id), ...change }
    if (paused ?? kicked ?? program) {
      this.#states.renew(id, {
        ...(paused && { paused }),
        ...(kicked && { kicked }),
        ...(program && { program }),
      })
    } else this.#states.delete(id)
  }
}

/** Whether a pause or a kick has ended by itself. `now`: milliseconds by the gateway's clock. */
export const isOver = ({ until }: { readonly until?: string }, now: number): boolean =>
  until !== undefined && Date.parse(until) <= now
