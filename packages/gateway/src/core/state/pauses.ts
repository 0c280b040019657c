import { type Envelope, Kind, type PausePayload } from '@meup/protocol'

/** Why a participant may not act for the time being. */
interface Pause {
  readonly by: string
  readonly reason?: string
  /** Milliseconds since the epoch; absent = until somebody lets it go on. */
  readonly until?: number
}

type PausesSnapshot = readonly ({ readonly id: string } & Pause)[]

/** Pauses past this many are forgotten, oldest first; so many participants no space has. */
const remembered = 10_000
/** Characters of a reason that are repeated to whoever is paused. */
const maxReasonChars = 200
/** The last millisecond that a date can tell. */
const endOfTime = 8.64e15

/** Who is paused [MEUP-3.13]. A fold over the log. */
export class Pauses {
  readonly #paused = new Map<string, Pause>()

  apply(envelope: Envelope): void {
    if (envelope.kind === Kind.participantPause) this.#pause(envelope)
    else if (envelope.kind === Kind.participantResume) {
      for (const id of envelope.to ?? []) this.#paused.delete(id)
    }
  }

  snapshot(): PausesSnapshot {
    return [...this.#paused].map(([id, pause]) => ({ id, ...pause }))
  }

  restore(snapshot: PausesSnapshot): void {
    for (const { id, ...pause } of snapshot) this.#paused.set(id, pause)
  }

  /** What keeps a participant from acting at this time, in milliseconds since the epoch. */
  of(id: string, now: number): Pause | undefined {
    const pause = this.#paused.get(id)
    return pause !== undefined && isOver(pause, now) ? undefined : pause
  }

  /** A second pause replaces the first. Pauses that are over are removed. */
  #pause({ from, to, ts, payload }: Envelope): void {
    const { reason, timeoutSeconds } = payload as PausePayload
    const now = Date.parse(ts)
    for (const [id, pause] of this.#paused) if (isOver(pause, now)) this.#paused.delete(id)
    const pause: Pause = {
      by: from,
      ...(reason && { reason: reason.slice(0, maxReasonChars).toWellFormed() }),
      ...(timeoutSeconds !== undefined && {
        until: Math.min(Math.ceil(now + timeoutSeconds * 1000), endOfTime),
      }),
    }
    for (const id of to ?? []) {
      this.#paused.delete(id)
      this.#paused.set(id, pause)
    }
    for (const oldest of this.#paused.keys()) {
      if (this.#paused.size <= remembered) break
      this.#paused.delete(oldest)
    }
  }
}

const isOver = ({ until }: Pause, now: number): boolean => until !== undefined && until <= now
