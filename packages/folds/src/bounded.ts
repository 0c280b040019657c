/**
 * A map that forgets: past its capacity the oldest entries go, but never the last one. `weigh` says how much of the
 * capacity an entry takes; default: 1 each.
 */
export class Bounded<Value> {
  readonly #capacity: number
  readonly #weigh: (value: Value) => number
  readonly #entries = new Map<string, { readonly value: Value; readonly weight: number }>()
  #weight = 0
  readonly #oldest = new Oldest(this.#entries)

  constructor(capacity: number, weigh: (value: Value) => number = () => 1) {
    this.#capacity = capacity
    this.#weigh = weigh
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)?.value
  }

  /** Like `get`; what is used stays longest. */
  use(key: string): Value | undefined {
    const value = this.get(key)
    if (value !== undefined) this.renew(key, value)
    return value
  }

  /** What is there already keeps its place. */
  set(key: string, value: Value): void {
    const weight = this.#weigh(value)
    this.#weight += weight - (this.#entries.get(key)?.weight ?? 0)
    this.#entries.set(key, { value, weight })
    if (this.#weight > this.#capacity) this.#shrink()
  }

  /** Makes it the newest, with the weight it has now. */
  renew(key: string, value: Value): void {
    this.delete(key)
    this.set(key, value)
  }

  delete(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0
    this.#entries.delete(key)
  }

  keys(): Iterable<string> {
    return this.#entries.keys()
  }

  /** Oldest first. */
  *values(): Iterable<Value> {
    for (const { value } of this.#entries.values()) yield value
  }

  snapshot(): [key: string, value: Value][] {
    return [...this.#entries].map(([key, { value }]) => [key, value])
  }

  restore(entries: readonly (readonly [key: string, value: Value])[]): void {
    for (const [key, value] of entries) this.set(key, value)
  }

  #shrink(): void {
    while (this.#weight > this.#capacity && this.#entries.size > 1) this.delete(this.#oldest.next() ?? '')
  }
}

/**
 * The keys of a map or set, the oldest first, for one that forgets: each key that it gives is to be deleted. It goes on where
 * it was, since to find the oldest anew leads past all that has been deleted there. The place is held weakly: an iterator
 * that nobody moves keeps everything that the map has thrown away since.
 */
export class Oldest<Key> {
  readonly #keyed: { keys(): IterableIterator<Key> }
  #at: WeakRef<Iterator<Key>> | undefined

  constructor(keyed: { keys(): IterableIterator<Key> }) {
    this.#keyed = keyed
  }

  /** `undefined` = nothing is left. */
  next(): Key | undefined {
    const { done, value } = this.#at?.deref()?.next() ?? { done: true }
    if (done !== true) return value
    const anew = this.#keyed.keys()
    this.#at = new WeakRef(anew)
    return anew.next().value
  }
}
