import type { EnvelopeLog, Query, Row } from '../../ports/envelope-log.js'

/** Each is a slice of `LogReads`: all of them come to some megabytes. */
const maxSlices = 16

type SliceOfAll = Omit<Query, 'filter'> & { readonly after: number; readonly before: number }

/**
 * Reads a slice once for all who ask for it at about the same time: after an outage everybody comes back to the same
 * place. Rows of a log do not change, so what was read is good until it has been pruned. Kept while somebody reads.
 */
export class SharedSlices {
  /** By what was asked for, the latest use last. */
  readonly #slices = new Map<string, Promise<readonly Row[]>>()
  #oldest = 0
  #readers = 0

  enter(): void {
    this.#readers++
  }

  leave(): void {
    if (--this.#readers === 0) this.#slices.clear()
  }

  read(log: EnvelopeLog, query: SliceOfAll): Promise<readonly Row[]> {
    const { oldest } = log
    if (oldest !== this.#oldest) this.#slices.clear()
    this.#oldest = oldest
    const { order, after, before } = query
    // Seqs have no gaps: where the other end is further away than the limit, it makes no difference.
    const limit = Math.min(query.limit, before - after - 1)
    const key = `${order} ${order === 'desc' ? before : after} ${limit}`
    const slice = this.#slices.get(key) ?? this.#keepGood(key, log.read(query))
    this.#slices.delete(key)
    this.#slices.set(key, slice)
    const [leastUsed] = this.#slices.keys()
    if (this.#slices.size > maxSlices && leastUsed !== undefined) this.#slices.delete(leastUsed)
    return slice
  }

  #keepGood(key: string, slice: Promise<readonly Row[]>): Promise<readonly Row[]> {
    slice.catch(() => {
      // The next to ask may be luckier.
      if (this.#slices.get(key) === slice) this.#slices.delete(key)
    })
    return slice
  }
}
