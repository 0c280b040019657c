/** Why a participant is kept out [MEUP-3.14]. */
export interface Kick {
  readonly by: string
  readonly reason?: string
  /** Milliseconds since the epoch; absent = until it is invited again. */
  readonly until?: number
  /** Seq of the envelope. */
  readonly at: number
}

/** Kicks of those whom the space does not know any more are forgotten past this many, oldest first. */
const remembered = 1000
/** Characters of a reason that are repeated to whoever was kicked. */
const maxReasonChars = 200
/** Bytes that a close frame has for its reason. */
const closeReasonBytes = 123

/** Who was kicked and is not back yet. */
export class Kicks {
  readonly #kicked = new Map<string, Kick>()
  #latest = 0

  get(participant: string): Kick | undefined {
    return this.#kicked.get(participant)
  }

  /** Seq of the latest one, whether or not it was lifted since; 0 = there was none. Asked for each batch. */
  get latest(): number {
    return this.#latest
  }

  list(): [participant: string, kick: Kick][] {
    return [...this.#kicked]
  }

  add(participant: string, { by, reason, until, at }: Kick): void {
    this.#latest = Math.max(this.#latest, at)
    this.#kicked.delete(participant)
    this.#kicked.set(participant, {
      by,
      at,
      ...(reason && { reason: reason.slice(0, maxReasonChars).toWellFormed() }),
      ...(until !== undefined && { until }),
    })
  }

  lift(participant: string): void {
    this.#kicked.delete(participant)
  }

  lapse(now: number): void {
    for (const [participant, { until }] of this.#kicked) {
      if (until !== undefined && until <= now) this.#kicked.delete(participant)
    }
  }

  /** An operator may remove a participant and configure it again: that lifts no kick, but there is an end to it. */
  forget(isKnown: (participant: string) => boolean): void {
    if (this.#kicked.size <= remembered) return
    const gone = [...this.#kicked.keys()].filter((participant) => !isKnown(participant))
    for (const participant of gone.slice(0, this.#kicked.size - remembered)) this.#kicked.delete(participant)
  }
}

/** What whoever was kicked is told when it comes back. */
export function explainKick({ by, reason, until }: Kick): string {
  const end =
    until === undefined ? 'ask to be invited again' : `come back at ${new Date(until).toISOString()}`
  return `${by} has kicked you out${reason ? ` (${reason})` : ''}; ${end}`
}

/** The same as the reason of a close frame, which is short. */
export function kickMessage({ by, reason }: Kick): string {
  const text = [...`kicked by ${by}${reason ? `: ${reason}` : ''}`]
  while (Buffer.byteLength(text.join('')) > closeReasonBytes) text.pop()
  return text.join('')
}
