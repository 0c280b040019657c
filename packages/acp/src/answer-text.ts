import { head } from '@meup/folds'

/** Maximum characters of an answer. */
const maxAnswerChars = 250_000

/** The text of an answer as it is written, within the limits of an envelope. */
export class AnswerText {
  readonly #maxBytes: number
  #text = ''
  #bytes = 0
  #messageId: string | undefined
  #isFull = false

  /** `maxBytes`: encoded as JSON. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get isEmpty(): boolean {
    return this.#text.trim() === ''
  }

  /** Whether more was written than fits. */
  get isFull(): boolean {
    return this.#isFull
  }

  get length(): number {
    return this.#text.length
  }

  /** Returns the accepted part. A message with another id starts a new paragraph. */
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

/** As JSON, without quotes. */
const countBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2
