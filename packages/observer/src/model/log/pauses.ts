import { onOneLine } from '@meup/folds'
import { type Envelope, Kind, type WelcomePayload } from '@meup/protocol'

/** Who was paused by whom. */
export interface Pause {
  readonly by: string
  readonly reason?: string | undefined
  /** Milliseconds since 1970: when it ends by itself. */
  readonly until: number
}

/** `paused by ana: too fast` */
export const printablePause = ({ by, reason }: Pause): string =>
  onOneLine(`paused by ${by}${reason === undefined || reason === '' ? '' : `: ${reason}`}`)

export type PauseSnapshot = readonly (readonly [id: string, pause: Pause])[]

/** The participants that are paused, as far as the log tells or the gateway has said. */
export class PauseIndex {
  readonly #pauses = new Map<string, Pause>()

  apply({ kind, from, to = [], ts, payload }: Envelope): void {
    if (kind === Kind.participantResume) for (const id of to) this.#pauses.delete(id)
    if (kind !== Kind.participantPause) return
    const { reason, timeoutSeconds = Number.POSITIVE_INFINITY } = payload as {
      reason?: string
      timeoutSeconds?: number
    }
    const until = Date.parse(ts) + timeoutSeconds * 1000
    for (const id of to) this.#pauses.set(id, { by: from, reason, until })
  }

  /** What the gateway says of all of them, now. */
  onWelcome({ participants }: Pick<WelcomePayload, 'participants'>): void {
    const pauses = participants.flatMap(({ id, paused }): [string, Pause][] => {
      if (paused === undefined) return []
      const { by, reason, until } = paused
      return [[id, { by, reason, until: until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until) }]]
    })
    this.restore(pauses)
  }

  snapshot(): PauseSnapshot {
    return [...this.#pauses]
  }

  restore(snapshot: PauseSnapshot): void {
    this.#pauses.clear()
    for (const [id, pause] of snapshot) this.#pauses.set(id, pause)
  }

  /** `now`: milliseconds by the gateway's clock. */
  get(id: string, now: number): Pause | undefined {
    const pause = this.#pauses.get(id)
    return pause !== undefined && pause.until > now ? pause : undefined
  }
}
