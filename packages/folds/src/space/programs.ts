import type { Envelope, PresencePayload } from '@meup/protocol'
import { FairMap } from '../fair-map.js'

/** A program that another one has replaced. */
interface Replaced {
  readonly participant: string
  readonly session: string
  /** Time of the replacement, in milliseconds since the epoch. */
  readonly at: number
}

interface ProgramsSnapshot {
  readonly living: readonly (readonly [participant: string, sessions: readonly string[]])[]
  readonly replaced: readonly Replaced[]
}

/** Maximum number of replaced programs: the oldest of the participant with the most is forgotten. */
const remembered = 10_000

/** The running programs of participants, and the replaced ones [MEUP-2.14, 5.19]. A fold over the log. */
export class Programs {
  readonly #living = new Map<string, Set<string>>()
  readonly #replaced = new FairMap<Replaced>(remembered, ({ participant }) => participant)
  /** Seq of the latest envelope by which a program replaced another; 0 = none so far. */
  replacedAt = 0

  apply({ seq = 0, ts, payload }: Envelope): void {
    const { participant, session } = payload as PresencePayload
    if (session === undefined) return
    const living = this.#living.get(participant.id) ?? new Set()
    if (session.event === 'begun') this.#living.set(participant.id, living.add(session.id))
    else if (living.delete(session.id) && living.size === 0) this.#living.delete(participant.id)
    if (session.event !== 'replaced') return
    const replaced = { participant: participant.id, session: session.id, at: Date.parse(ts) }
    this.#replaced.set(keyOf(replaced.participant, replaced.session), replaced)
    this.replacedAt = seq
  }

  snapshot(): ProgramsSnapshot {
    return {
      living: [...this.#living].map(([participant, sessions]) => [participant, [...sessions]]),
      replaced: [...this.#replaced].map(([, each]) => each),
    }
  }

  /** Snapshots of earlier versions have no programs. */
  restore({ living, replaced }: ProgramsSnapshot = { living: [], replaced: [] }): void {
    for (const [participant, sessions] of living) this.#living.set(participant, new Set(sessions))
    for (const each of replaced) this.#replaced.set(keyOf(each.participant, each.session), each)
  }

  /** Iterates over the running programs of one participant, or of all. */
  *living(participant?: string): Generator<{ readonly participant: string; readonly session: string }> {
    const ids = participant === undefined ? [...this.#living.keys()] : [participant]
    for (const id of ids) {
      for (const session of this.#living.get(id) ?? []) yield { participant: id, session }
    }
  }

  isLiving(participant: string, session: string): boolean {
    return this.#living.get(participant)?.has(session) === true
  }

  isReplaced(participant: string, session: string): boolean {
    return this.#replaced.get(keyOf(participant, session)) !== undefined
  }

  /** Counts a participant's programs replaced since a time, in milliseconds since the epoch. */
  countReplaced(participant: string, since: number): number {
    let count = 0
    for (const [, each] of this.#replaced) if (each.participant === participant && each.at > since) count++
    return count
  }
}

const keyOf = (participant: string, session: string): string => `${participant} ${session}`
