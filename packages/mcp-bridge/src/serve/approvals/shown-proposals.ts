import { Bounded } from '@meup/folds'

/** Maximum pairs of a client and a proposal. If a pair was dropped, the proposal has to be shown to the client again. */
const maxEntries = 10_000

/**
 * For each client and proposal, the number of characters that were shown from its beginning: a client may approve only what it
 * was shown completely.
 */
export class ShownProposals {
  readonly #ends = new Bounded<number>(maxEntries)

  /** Records that the characters from `start` to `end` were shown. Ignored unless all characters before `start` were. */
  add(client: string, id: string, start: number, end: number): void {
    const key = keyOf(client, id)
    const known = this.#ends.get(key) ?? 0
    if (start <= known) this.#ends.set(key, Math.max(known, end))
  }

  isWhole(client: string, id: string, length: number): boolean {
    return (this.#ends.get(keyOf(client, id)) ?? 0) >= length
  }
}

const keyOf = (client: string, id: string): string => JSON.stringify([client, id])
