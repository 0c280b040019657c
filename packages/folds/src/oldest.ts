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
