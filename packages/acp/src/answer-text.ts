import { head } from '@meup/folds'

const maxAnswerChars = 250_000

/** Collects the text of an answer, up to `maxAnswerChars` and to the bytes that an envelope has room for. */
export class AnswerText {
  readonly #maxBytes: number
  #text = ''
  #bytes = 0
  #messageId: string | undefined
  #isFull = false

  /** `maxBytes`: limit of the text in JSON encoding. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get isEmpty(): boolean {
    return this.#text.trim() === ''
  }

  /** Whether text was cut off because of one of the limits. Later text is dropped. */
  get isFull(): boolean {
    return this.#isFull
  }

  get length(): number {
    return this.#text.length
  }

  /** Appends text, and returns the part within the limit. A new `messageId` starts a new paragraph. */
  add(text: string, messageId?: string): string {
    if (this.#isFull) return ''
    const isNext = messageId !== undefined && this.#messageId !== undefined && messageId !== this.#messageId
    if (messageId !== undefined) this.#messageId = messageId
    const wanted = isNext && !this.isEmpty ? `\n\n${text}` : text
    const taken = this.#cut(wanted)
    this.#isFull = taken.length < wanted.length
    this.#text += taken
    this.#bytes += countBytes(taken)
    return taken
  }

  clear(): void {
    this.#text = ''
    this.#bytes = 0
    this.#messageId = undefined
    this.#isFull = false
  }

  toString(): string {
    return this.#text.trim()
  }

  #cut(text: string): string {
    let taken = head(text, maxAnswerChars - this.#text.length)
    while (taken !== '' && this.#bytes + countBytes(taken) > this.#maxBytes)
      taken = head(taken, Math.floor(taken.length / 2))
    return taken
  }
}

/** Bytes of a text in JSON encoding, without the quotes. */
const countBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2
