import type { Capability, ProgramInfo } from '@meup/protocol'

/** Of a program, among those of all participants. */
export const keyOf = (participant: string, session: string): string => `${participant} ${session}`

/** Somebody who is connected, what it may do, and its programs. */
export type Person = readonly [id: string, capabilities: readonly Capability[], sessions: readonly string[]]

interface Lease {
  readonly people: ReadonlyMap<string, Person>
  readonly programs: ReadonlyMap<string, ProgramInfo>
  readonly until: number
}

/** What a gateway says of itself. */
export interface Announcement {
  /** Who is connected to it. */
  readonly people: readonly Person[]
  /** How the programs are doing that run beside it. */
  readonly programs: readonly (readonly [id: string, program: ProgramInfo])[]
}

/** Who is connected to the other gateways of a space, and what runs beside them, as long as those renew what they say. */
export class PresentElsewhere {
  readonly #leases = new Map<string, Lease>()
  #fresh = new Set<string>()

  /** Takes what a gateway says until a time by this machine's clock. */
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

  /** Forgets what was not renewed in time. */
  expire(now: number): void {
    for (const [gateway, { until }] of this.#leases) if (until <= now) this.#leases.delete(gateway)
  }

  /** Keys of the programs that have connected to another gateway since the last call: who ended is said to be there for a while. */
  takeFresh(): ReadonlySet<string> {
    const fresh = this.#fresh
    this.#fresh = new Set()
    return fresh
  }

  /** Whether somebody is there; with this program, where one is given. */
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

  *all(): Generator<Person> {
    for (const { people } of this.#leases.values()) yield* people.values()
  }
}
