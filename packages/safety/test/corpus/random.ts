/** Random numbers (mulberry32). The same seed gives the same numbers on every machine. */
export class Random {
  #state: number

  constructor(seed: string) {
    this.#state = hash(seed)
  }

  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** Returns an integer between the two bounds, both included. */
  integer(least: number, maximum: number): number {
    return least + Math.floor(this.next() * (maximum - least + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(list: readonly T[]): T {
    const index = this.integer(0, list.length - 1)
    if (index >= list.length) throw new Error('There is nothing to pick from.')
    return list[index] as T
  }

  characters(alphabet: string, count: number): string {
    return Array.from({ length: count }, () => alphabet[this.integer(0, alphabet.length - 1)]).join('')
  }
}

/** Hashes a text: FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  return value
}
