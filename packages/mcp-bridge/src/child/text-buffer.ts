import { isUtf8 } from 'node:buffer'

/** Bytes that are kept of the beginning and of the end of a text over the limit. */
const maxExcerptBytes = 64 * 1024
const firstCapacity = 4096

/** A text over the limit, of which only the ends were kept. */
export interface DroppedText {
  readonly bytes: number
  /** The first 64 KiB. */
  readonly head: string
  /** The last 64 KiB. */
  readonly tail: string
}

/** Collects a UTF-8 text from pieces of any size. If the text exceeds the limit, keeps only its length and both ends. */
export class TextBuffer {
  readonly #maxBytes: number
  #bytes = 0
  #held = Buffer.alloc(0)
  #heldBytes = 0
  /** The beginning of a text over the limit; `#held` then contains its end. */
  #head: Buffer | undefined
  #isReplaced = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Bytes of the text so far, including bytes that were not kept. */
  get bytes(): number {
    return this.#bytes
  }

  get isTooLong(): boolean {
    return this.#bytes > this.#maxBytes
  }

  /** The beginning of a text over the limit; otherwise `''`. */
  get head(): string {
    return this.#head?.toString() ?? ''
  }

  /** Whether the last text that was taken contained invalid UTF-8, which was replaced by U+FFFD. */
  get isReplaced(): boolean {
    return this.#isReplaced
  }

  add(part: Uint8Array): void {
    this.#bytes += part.length
    if (this.isTooLong && this.#head === undefined) {
      const begun = this.#held.subarray(0, this.#heldBytes)
      const missing = Math.max(0, maxExcerptBytes - begun.length)
      this.#head = Buffer.concat([begun.subarray(0, maxExcerptBytes), part.subarray(0, missing)])
      this.#held = Buffer.from(begun.subarray(-maxExcerptBytes))
      this.#heldBytes = this.#held.length
    }
    this.#append(this.#head === undefined ? part : part.subarray(Math.max(0, part.length - maxExcerptBytes)))
  }

  /** Appends to one growing buffer, because a buffer per piece would need a multiple of the memory. */
  #append(part: Uint8Array): void {
    if (this.#head !== undefined && this.#heldBytes + part.length > 2 * maxExcerptBytes) {
      this.#held.copyWithin(0, this.#heldBytes - maxExcerptBytes, this.#heldBytes)
      this.#heldBytes = maxExcerptBytes
    }
    const needed = this.#heldBytes + part.length
    if (needed > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(firstCapacity, needed, 2 * this.#held.length))
      larger.set(this.#held.subarray(0, this.#heldBytes))
      this.#held = larger
    }
    this.#held.set(part, this.#heldBytes)
    this.#heldBytes = needed
  }

  /** Returns the text and starts the next one. */
  take(): string | DroppedText {
    const [bytes, head] = [this.#bytes, this.#head]
    const held = this.#held.subarray(0, this.#heldBytes)
    this.#bytes = 0
    this.#heldBytes = 0
    this.#head = undefined
    if (this.#held.length > maxExcerptBytes) this.#held = Buffer.alloc(0) // Large texts are rare, so the buffer is released.
    this.#isReplaced = head === undefined && !isUtf8(held)
    if (head === undefined) return held.toString('utf8')
    return { bytes, head: head.toString(), tail: held.subarray(-maxExcerptBytes).toString() }
  }
}
