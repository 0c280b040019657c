import type { Capability, ProgramInfo } from '@meup/protocol'

/** The key of a program, unique among the programs of all participants. */
export const keyOf = (participant: string, session: string): string => `${participant} ${session}`

/** A connected participant, its capabilities, and its programs. */
export type PresentParticipant = readonly [
  id: string,
  capabilities: readonly Capability[],
  sessions: readonly string[],
]

interface Lease {
  readonly people: ReadonlyMap<string, PresentParticipant>
  readonly programs: ReadonlyMap<string, ProgramInfo>
  readonly until: number
}

/** The presence at one gateway, which announces it repeatedly. */
export interface Announcement {
  /** Participants connected to the announcing gateway. */
  readonly people: readonly PresentParticipant[]
  /** States of programs that the supervisor of the announcing gateway starts and restarts. */
  readonly programs: readonly (readonly [id: string, program: ProgramInfo])[]
}

/** Presence at the other gateways of a space, as long as they renew their announcements. */
export class PresentElsewhere {
  readonly #leases = new Map<string, Lease>()
  #fresh = new Set<string>()

  /** Stores an announcement until a time by this machine's clock. */
  renew(gateway: string, { people, programs }: Announcement, until: number): void {
    const known = this.#leases.get(gateway)?.people
    for (const [id, , sessions] of people) {
      for (const session of sessions) {
        if (known?.get(id)?.[2].includes(session) !== true) this.#fresh.add(keyOf(id, session))
      }
    }
    const byId = new Map(people.map((person) => [person[0], person]))
    this.#leases.set(gateway, { people: byId, programs: new Map(programs), until })
  }

  /** Drops announcements that were not renewed in time. */
  expire(now: number): void {
    for (const [gateway, { until }] of this.#leases) if (until <= now) this.#leases.delete(gateway)
  }

  /**
   * Keys of programs that have appeared at other gateways since the last call. Only these are new: an announcement may still
   * list a program that has ended.
   */
  takeFresh(): ReadonlySet<string> {
    const fresh = this.#fresh
    this.#fresh = new Set()
    return fresh
  }

  /** Whether a participant, or this program of it, is connected elsewhere. */
  has(id: string, session?: string): boolean {
    for (const { people } of this.#leases.values()) {
      const person = people.get(id)
      if (person !== undefined && (session === undefined || person[2].includes(session))) return true
    }
    return false
  }

  program(id: string): ProgramInfo | undefined {
    for (const { programs } of this.#leases.values()) {
      const program = programs.get(id)
      if (program !== undefined) return program
    }
    return undefined
  }

  *all(): Generator<PresentParticipant> {
    for (const { people } of this.#leases.values()) yield* people.values()
  }
}
