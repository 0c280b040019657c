/**
 * A map of bounded size: over its capacity it drops the oldest entries, but always keeps the newest. `weigh` gives the share of
 * the capacity that an entry takes; default: 1.
 */
export class Bounded<Value> {
  readonly #capacity: number
  readonly #weigh: (value: Value) => number
  readonly #entries = new Map<string, { readonly value: Value; readonly weight: number }>()
  #weight = 0
  #oldest: Oldest<string> | undefined

  constructor(capacity: number, weigh: (value: Value) => number = () => 1) {
    this.#capacity = capacity
    this.#weigh = weigh
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)?.value
  }

  /** Returns the value like `get`, and makes its entry the newest. */
  use(key: string): Value | undefined {
    const value = this.get(key)
    if (value !== undefined) this.renew(key, value)
    return value
  }

  /** Adds an entry, or replaces the value of one. A replaced entry keeps its age; `renew` makes it the newest. */
  set(key: string, value: Value): void {
    this.#put(key, value, this.#entries.get(key)?.weight ?? 0)
  }

  /** Adds or replaces an entry, and makes it the newest. Weighs the value again. */
  renew(key: string, value: Value): void {
    this.delete(key)
    this.#put(key, value, 0)
  }

  /** Returns whether the key existed. */
  delete(key: string): boolean {
    const known = this.#entries.get(key)
    if (known === undefined) return false
    this.#weight -= known.weight
    return this.#entries.delete(key)
  }

  keys(): Iterable<string> {
    return this.#entries.keys()
  }

  /** Iterates over the values, oldest first. */
  *values(): Iterable<Value> {
    for (const { value } of this.#entries.values()) yield value
  }

  snapshot(): [key: string, value: Value][] {
    return [...this.#entries].map(([key, { value }]) => [key, value])
  }

  restore(entries: readonly (readonly [key: string, value: Value])[]): void {
    for (const [key, value] of entries) this.set(key, value)
  }

  #put(key: string, value: Value, replaced: number): void {
    const weight = this.#weigh(value)
    this.#weight += weight - replaced
    this.#entries.set(key, { value, weight })
    if (this.#weight > this.#capacity) this.#shrink()
  }

  #shrink(): void {
    this.#oldest ??= new Oldest(this.#entries)
    while (this.#weight > this.#capacity && this.#entries.size > 1) this.delete(this.#oldest.next() ?? '')
  }
}

/**
 * Iterates over the keys of a map or set from the oldest on; the caller deletes each key. Keeps its iterator, because a new one
 * would first skip all deleted entries. Holds it weakly, because an idle iterator keeps every table alive that the map has
 * outgrown.
 */
export class Oldest<Key> {
  readonly #keyed: { keys(): IterableIterator<Key> }
  #at: WeakRef<Iterator<Key>> | undefined

  constructor(keyed: { keys(): IterableIterator<Key> }) {
    this.#keyed = keyed
  }

  /** Returns the oldest key; `undefined` if the map or set is empty. */
  next(): Key | undefined {
    const { done, value } = this.#at?.deref()?.next() ?? { done: true }
    if (done !== true) return value
    const anew = this.#keyed.keys()
    this.#at = new WeakRef(anew)
    return anew.next().value
  }
}

interface Rules<Value> {
  readonly isOpen: (value: Value) => boolean
  readonly weigh?: (value: Value) => number
  /** Capacity for the values that `isOpen` selects, and for the others (`over`), in units of `weigh`. */
  readonly capacity: { readonly open: number; readonly over: number }
}

export type RegisterSnapshot<Value> = readonly (readonly [key: string, value: Value])[]

/**
 * A map that keeps the open values and the latest ended ones, such as of calls or contexts, because later envelopes may refer
 * to them.
 */
export class Register<Value> {
  readonly #isOpen: (value: Value) => boolean
  readonly #open: Bounded<Value>
  readonly #over: Bounded<Value>

  constructor({ isOpen, weigh, capacity }: Rules<Value>) {
    this.#isOpen = isOpen
    this.#open = new Bounded(capacity.open, weigh)
    this.#over = new Bounded(capacity.over, weigh)
  }

  get(key: string): Value | undefined {
    return this.#open.get(key) ?? this.#over.get(key)
  }

  /** Stores a value as open or ended. Call it after each change of the value. */
  set(key: string, value: Value): void {
    const [here, there] = this.#isOpen(value) ? [this.#open, this.#over] : [this.#over, this.#open]
    there.delete(key)
    here.renew(key, value)
  }

  open(): Iterable<Value> {
    return this.#open.values()
  }

  *values(): Iterable<Value> {
    yield* this.#over.values()
    yield* this.#open.values()
  }

  snapshot(): RegisterSnapshot<Value> {
    return [...this.#over.snapshot(), ...this.#open.snapshot()]
  }

  restore(entries: RegisterSnapshot<Value>): void {
    for (const [key, value] of entries) this.set(key, value)
  }
}
