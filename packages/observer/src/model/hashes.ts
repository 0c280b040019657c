/** Bytes of a hash. */
const size = 32

/** The hashes of a chain, by the seq of their envelopes. */
export class Hashes {
  #bytes = new Uint8Array(size * 1024)
  /** Seq of the first that is there. */
  #first = 0
  #count = 0

  /** Begins with the hash that the envelope after this seq links to. */
  begin(seq: number, hash: Uint8Array): void {
    this.#first = seq
    this.#count = 0
    this.add(hash)
  }

  /** The hash of the next envelope. */
  add(hash: Uint8Array): void {
    const start = this.#count * size
    if (start === this.#bytes.length) {
      const before = this.#bytes
      this.#bytes = new Uint8Array(start * 2)
      this.#bytes.set(before)
    }
    this.#bytes.set(hash, start)
    this.#count++
  }

  /** Forgets those of later envelopes. */
  shorten(seq: number): void {
    this.#count = Math.min(Math.max(seq - this.#first + 1, 0), this.#count)
  }

  /** Seq of the first; what it says was taken from the gateway as it is. */
  get first(): number {
    return this.#first
  }

  /** Seq of the last; -1: there is none. */
  get last(): number {
    return this.#count === 0 ? -1 : this.#first + this.#count - 1
  }

  /** Hexadecimal; `undefined` where it is not known. */
  of(seq: number): string | undefined {
    const start = (seq - this.#first) * size
    if (seq < this.#first || seq > this.last) return undefined
    const bytes = this.#bytes.subarray(start, start + size)
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  }
}
