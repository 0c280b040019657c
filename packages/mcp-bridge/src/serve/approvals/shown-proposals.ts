import { Bounded } from '@meup/folds'

/** Maximum entries. If an entry was dropped, its proposal has to be shown again. */
const maxEntries = 10_000

/** The number of characters that were shown from the beginning of each proposal, by client. */
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
