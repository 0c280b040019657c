import {
  type Envelope,
  Kind,
  type ParticipantDetails,
  type PausePayload,
  type PresencePayload,
} from '@meup/protocol'

/** A pause or kick. */
export interface Restriction {
  readonly by: string
  readonly reason?: string
  /** End of the restriction, in milliseconds since 1970; absent = until it is lifted. */
  readonly until?: number
}

interface Pause extends Restriction {
  /**
   * Id of the envelope that paused the participant. Absent if the pause is only known from a welcome, or from the snapshot of
   * an earlier version.
   */
  readonly ref?: string
}

/** A restriction in welcomes and views. */
export type RestrictionInfo = NonNullable<ParticipantDetails['paused']>

export type PausesSnapshot = readonly ({ readonly id: string } & Pause)[]

/** Maximum number of pauses. The oldest is forgotten, so that its participant can act again. */
const remembered = 10_000
/** Maximum characters of a reason that are kept. */
const maxReasonChars = 200
/** The maximum time of a `Date`. */
const endOfTime = 8.64e15

/** Paused participants, by whom and until when [MEUP-3.13], and expired pauses that are not announced yet. */
export class Pauses {
  readonly #paused = new Map<string, Pause>()
  /** Before this time, in milliseconds since 1970, `ended` has nothing to return. */
  soonest = Number.POSITIVE_INFINITY

  /** Applies the next envelope. Returns whether pauses may have changed. */
  apply(envelope: Envelope): boolean {
    const { kind, to = [], payload } = envelope
    if (kind === Kind.systemPresence) return this.#end(payload as PresencePayload)
    if (kind === Kind.participantPause) this.#pause(envelope)
    else if (kind === Kind.participantResume) for (const id of to) this.#paused.delete(id)
    else return false
    return true
  }

  /** The pause of a participant at `now`, in milliseconds since 1970. */
  get(id: string, now: number): Pause | undefined {
    const pause = this.#paused.get(id)
    return pause !== undefined && isOver(pause, now) ? undefined : pause
  }

  /** Iterates over expired pauses whose end is not logged yet [MEUP-3.28]. */
  *ended(now: number): Generator<{ readonly id: string; readonly participant: string }> {
    this.soonest = Number.POSITIVE_INFINITY
    for (const [participant, pause] of this.#paused) {
      this.#await(pause)
      if (pause.ref !== undefined && isOver(pause, now)) yield { id: pause.ref, participant }
    }
  }

  snapshot(): PausesSnapshot {
    return [...this.#paused].map(([id, pause]) => ({ id, ...pause }))
  }

  restore(snapshot: PausesSnapshot): void {
    for (const { id, ...pause } of snapshot) {
      this.#paused.set(id, pause)
      this.#await(pause)
    }
  }

  #await({ until, ref }: Pause): void {
    if (until !== undefined && ref !== undefined) this.soonest = Math.min(this.soonest, until)
  }

  /** Applies the end of a pause. It has no effect if another pause has replaced the ended one. */
  #end({ ended, participant: { id } }: PresencePayload): boolean {
    const { ref = ended?.id } = this.#paused.get(id) ?? {}
    return ended?.what === 'pause' && ended.id === ref && this.#paused.delete(id)
  }

  /** Pauses the addressees. A second pause of a participant replaces the first. */
  #pause({ id: ref, from: by, to = [], ts, payload }: Envelope): void {
    const { reason, timeoutSeconds } = payload as PausePayload
    const now = Date.parse(ts)
    const end = timeoutSeconds && Math.min(Math.ceil(now + timeoutSeconds * 1000), endOfTime)
    const pause: Pause = { by, ref, ...cutReason(reason), ...(end !== undefined && { until: end }) }
    for (const id of to) {
      this.#paused.delete(id)
      this.#paused.set(id, pause)
    }
    this.#await(pause)
    if (this.#paused.size > remembered) this.#shrink(now)
  }

  #shrink(now: number): void {
    for (const [id, each] of this.#paused) if (isOver(each, now)) this.#paused.delete(id)
    for (const oldest of this.#paused.keys()) {
      if (this.#paused.size <= remembered) break
      this.#paused.delete(oldest)
    }
  }
}

/** Whether a restriction has expired. `now`: milliseconds since 1970, by the gateway's clock. */
export const isOver = ({ until }: Restriction, now: number): boolean => until !== undefined && until <= now

export const cutReason = (reason: string | undefined): { readonly reason?: string } =>
  reason ? { reason: reason.slice(0, maxReasonChars).toWellFormed() } : {}

/** `until` is omitted if it is later than any date. */
export const restrictionInfo = ({ by, reason, until = endOfTime }: Restriction): RestrictionInfo => ({
  by,
  ...(reason && { reason }),
  ...(until < endOfTime && { until: new Date(until).toISOString() }),
})

export const readRestriction = ({ by, reason, until }: RestrictionInfo): Restriction => ({
  by,
  ...cutReason(reason),
  ...(until !== undefined && { until: Date.parse(until) }),
})
