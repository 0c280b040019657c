import { Bounded } from './bounded.js'

interface Rules<Value> {
  readonly isOpen: (value: Value) => boolean
  readonly weigh?: (value: Value) => number
  /** How much of the open and of the ended values is kept, in units of `weigh`. */
  readonly capacity: { readonly open: number; readonly over: number }
}

export type RegisterSnapshot<Value> = readonly (readonly [key: string, value: Value])[]

/** Keeps open values, and the latest that have ended, since later envelopes may refer to them. */
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

  /** Call it after each change of the value. */
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
