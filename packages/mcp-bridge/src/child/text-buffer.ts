import { isUtf8 } from 'node:buffer'

/** Kept of a text that is too long, at its beginning and at its end, in bytes. */
const maxExcerptBytes = 64 * 1024
const firstCapacity = 4096

/** A text that was longer than the limit. */
export interface DroppedText {
  readonly bytes: number
  /** Its first 64 KiB. */
  readonly head: string
  /** Its last 64 KiB. */
  readonly tail: string
}

/** Collects a UTF-8 text that arrives in pieces of any size. Of one that is too long, the length and both ends are kept. */
export class TextBuffer {
  readonly #maxBytes: number
  #bytes = 0
  #held = Buffer.alloc(0)
  #heldBytes = 0
  /** The beginning of a text that is too long; `#held` holds its end. */
  #head: Buffer | undefined
  #isReplaced = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Of the text so far, kept or not. */
  get bytes(): number {
    return this.#bytes
  }

  get isTooLong(): boolean {
    return this.#bytes > this.#maxBytes
  }

  /** The beginning of a text that is too long. */
  get head(): string {
    return this.#head?.toString() ?? ''
  }

  /** Whether the text that was taken last had bytes that are no UTF-8: they are U+FFFD now. */
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

  /** In place: one buffer for each piece would need many times its bytes. */
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

  /** Returns the text and begins the next one. */
  take(): string | DroppedText {
    const [bytes, head] = [this.#bytes, this.#head]
    const held = this.#held.subarray(0, this.#heldBytes)
    this.#bytes = 0
    this.#heldBytes = 0
    this.#head = undefined
    if (this.#held.length > maxExcerptBytes) this.#held = Buffer.alloc(0) // A large text is an exception.
    this.#isReplaced = head === undefined && !isUtf8(held)
    if (head === undefined) return held.toString('utf8')
    return { bytes, head: head.toString(), tail: held.subarray(-maxExcerptBytes).toString() }
  }
}
