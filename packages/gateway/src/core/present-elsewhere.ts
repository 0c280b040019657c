import type { Capability } from '@meup/protocol'

type Person = readonly [id: string, capabilities: readonly Capability[]]

interface Lease {
  readonly people: ReadonlyMap<string, readonly Capability[]>
  readonly until: number
}

/** Who is connected to the other gateways of a space, as long as those renew what they say. */
export class PresentElsewhere {
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
