import { type Capability, Coverage, WorkError, WorkMeter } from '@meup/protocol'

/** Capabilities that one participant has given another [MEUP-4.14]. */
export interface Grant {
  /** Of the envelope that gave them: a grant, or an invitation. */
  readonly id: string
  readonly grantor: string
  readonly recipient: string
  readonly capabilities: readonly Capability[]
  /** Milliseconds since the epoch; absent = no end. */
  readonly expiresAt?: number
  /** What its grantor was configured with alone has proven it: it needs no other proof until that changes [MEUP-4.14]. */
  readonly isGrounded?: true
}

/** What grants rest on in the end: what the operator gave a participant; nothing for those who are unknown. */
interface Ground {
  configured(participant: string): readonly Capability[]
}

/**
 * Units of work for proving what one grantor has given, after it lost something: what takes more falls, so that nobody
 * makes a revocation, or the end of a grant, dear. It is no setting, as a replay must decide the same [MEUP-4.16].
 */
const provingWork = 5_000
/** The same for finding out, when something is given, whether configured capabilities alone prove it. */
const groundingWork = 1_000

const lengths = new WeakMap<readonly Capability[], number>()

/** Characters of a list as JSON. */
export function measureCapabilities(capabilities: readonly Capability[]): number {
  const length = lengths.get(capabilities) ?? JSON.stringify(capabilities).length
  lengths.set(capabilities, length)
  return length
}

const notGrounded = ({ isGrounded, ...grant }: Grant): Grant => grant

/** The grants that stand, in log order. */
export class Grants {
  readonly #ground: Ground
  readonly #standing = new Map<string, Grant>()
  /** Units that it has taken to find out what falls, ever since. */
  work = 0

  constructor(ground: Ground) {
    this.#ground = ground
  }

  get size(): number {
    return this.#standing.size
  }

  get(id: string): Grant | undefined {
    return this.#standing.get(id)
  }

  /** How many of this grantor stand. */
  count(grantor: string): number {
    let count = 0
    for (const grant of this.#standing.values()) if (grant.grantor === grantor) count++
    return count
  }

  /** Characters of JSON that stand, but for those of one recipient: of this grantor, and in all. */
  textBeside(recipient: string | undefined, grantor: string): { readonly own: number; readonly all: number } {
    let [own, all] = [0, 0]
    for (const grant of this.#standing.values()) {
      if (grant.recipient === recipient) continue
      const length = measureCapabilities(grant.capabilities)
      all += length
      if (grant.grantor === grantor) own += length
    }
    return { own, all }
  }

  /** What stands for a recipient. */
  to(recipient: string): Grant[] {
    return [...this.#standing.values()].filter((grant) => grant.recipient === recipient)
  }

  list(): Grant[] {
    return [...this.#standing.values()]
  }

  add(grant: Grant): void {
    this.#standing.set(grant.id, this.#isGrounded(grant) ? { ...grant, isGrounded: true } : grant)
  }

  /** As it was listed. */
  restore(grants: readonly Grant[]): void {
    for (const grant of grants) this.#standing.set(grant.id, grant)
  }

  #isGrounded({ grantor, capabilities }: Grant): boolean {
    const meter = new WorkMeter(groundingWork)
    try {
      return new Coverage().firstGap([this.#ground.configured(grantor)], capabilities, meter) === -1
    } catch (error) {
      if (error instanceof WorkError) return false
      throw error
    } finally {
      this.work += meter.spent
    }
  }

  /**
   * Lets the grants fall that `ends` picks, and with them all that no longer stands without them. `poorer`: who has lost
   * something else. Gives the recipients of what fell.
   *
   * One walk in log order is enough, because a grant rests on what its grantor was given before it, and never on what
   * came later: so two grants cannot hold each other up, and nothing that was passed can fall after all.
   */
  fall(ends: (grant: Grant) => boolean, poorer: Iterable<string> = []): Set<string> {
    const losers = new Set<string>()
    const changed = new Set(poorer)
    const doubtful = new Set(changed)
    const given = new Map<string, (readonly Capability[])[]>()
    const coverage = new Coverage()
    const meters = new Map<string, WorkMeter>()
    const isBacked = ({ grantor, capabilities, isGrounded }: Grant): boolean => {
      if (isGrounded && !changed.has(grantor)) return true
      const held = [this.#ground.configured(grantor), ...(given.get(grantor) ?? [])]
      const meter = meters.get(grantor) ?? new WorkMeter(provingWork)
      meters.set(grantor, meter)
      try {
        return meter.left > 0 && coverage.firstGap(held, capabilities, meter) === -1
      } catch (error) {
        if (error instanceof WorkError) return false
        throw error
      }
    }
    for (const grant of this.#standing.values()) {
      const { id, recipient, capabilities } = grant
      if (ends(grant) || (doubtful.has(grant.grantor) && !isBacked(grant))) {
        this.#standing.delete(id)
        losers.add(recipient)
        doubtful.add(recipient)
      } else {
        if (changed.has(grant.grantor) && grant.isGrounded) this.#standing.set(id, notGrounded(grant))
        const earlier = given.get(recipient)
        if (earlier === undefined) given.set(recipient, [capabilities])
        else earlier.push(capabilities)
      }
    }
    for (const { spent } of meters.values()) this.work += spent
    return losers
  }
}
