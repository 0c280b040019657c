/**
 * The keys of a map or set, the oldest first, for one that forgets: each key that it gives is to be deleted. It goes on where
 * it was, since to find the oldest anew leads past all that has been deleted there.
 */
export class Oldest<Key> {
  readonly #keyed: { keys(): Iterator<Key> }
  #at: Iterator<Key>

  constructor(keyed: { keys(): Iterator<Key> }) {
    this.#keyed = keyed
    this.#at = keyed.keys()
  }

  /** `undefined` = nothing is left. */
  next(): Key | undefined {
    const { done, value } = this.#at.next()
    if (done !== true) return value
    this.#at = this.#keyed.keys()
    return this.#at.next().value
  }
}
