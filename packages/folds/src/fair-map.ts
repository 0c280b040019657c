import { Oldest } from './bounded.js'

interface Share {
  readonly ids: Set<string>
  readonly oldest: Oldest<string>
}

/**
 * A bounded map. Beyond its capacity it forgets the oldest entry of the participant with the most entries, so that a
 * participant cannot displace entries of others. Deterministic: equal entries in equal order are forgotten alike [MEUP-3.4].
 */
export class FairMap<Value> {
  readonly #capacity: number
  readonly #getOwner: (value: Value) => string
  readonly #entries = new Map<string, Value>()
  readonly #shares = new Map<string, Share>()

  constructor(capacity: number, getOwner: (value: Value) => string) {
    this.#capacity = capacity
    this.#getOwner = getOwner
  }

  get(id: string): Value | undefined {
    return this.#entries.get(id)
  }

  set(id: string, value: Value): void {
    this.delete(id)
    this.#entries.set(id, value)
    const owner = this.#getOwner(value)
    const share = this.#shares.get(owner) ?? newShare()
    this.#shares.set(owner, share)
    share.ids.add(id)
    if (this.#entries.size > this.#capacity) this.delete(this.#largestShare()?.oldest.next() ?? '')
  }

  /** Replaces the value of an existing entry, which keeps its age. */
  update(id: string, value: Value): void {
    if (this.#entries.has(id)) this.#entries.set(id, value)
  }

  delete(id: string): void {
    const value = this.#entries.get(id)
    if (value === undefined) return
    this.#entries.delete(id)
    const owner = this.#getOwner(value)
    const share = this.#shares.get(owner)
    share?.ids.delete(id)
    if (share?.ids.size === 0) this.#shares.delete(owner)
  }

  keys(): IterableIterator<string> {
    return this.#entries.keys()
  }

  [Symbol.iterator](): IterableIterator<[id: string, value: Value]> {
    return this.#entries.entries()
  }

  /** The entries of the participant with the most; on a tie, of the one with the smallest id. */
  #largestShare(): Share | undefined {
    let largest: [owner: string, share: Share] | undefined
    for (const [owner, share] of this.#shares) {
      const more = share.ids.size - (largest?.[1].ids.size ?? 0)
      if (more > 0 || (more === 0 && owner < (largest?.[0] ?? ''))) largest = [owner, share]
    }
    return largest?.[1]
  }
}

function newShare(): Share {
  const ids = new Set<string>()
  return { ids, oldest: new Oldest(ids) }
}
