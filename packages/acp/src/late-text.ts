import { getErrorMessage } from '@meup/protocol'
import { AnswerText } from './answer-text.js'

/** Milliseconds without new text until the collected text is sent. */
const quietMs = 500
/** Maximum messages of a turn after its answer; later text becomes thoughts. */
const maxMessages = 5

interface LateParts {
  readonly maxBytes: number
  /** Sends the text as another message of the turn. */
  readonly send: (text: string) => Promise<unknown>
  readonly log: (line: string) => void
}

/** Sends text that arrives after the answer as further messages. */
export class LateText {
  readonly #parts: LateParts
  #text: AnswerText
  #timer: NodeJS.Timeout | undefined
  #sent = 0

  constructor(parts: LateParts) {
    this.#parts = parts
    this.#text = new AnswerText(parts.maxBytes)
  }

  /** Collects late text. Returns `false` if the turn has too many late messages already. */
  push(text: string, messageId: string | undefined): boolean {
    if (this.#sent >= maxMessages) return false
    this.#text.add(text, messageId)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.flush(), quietMs)
    this.#timer.unref()
    return true
  }

  /** Sends the collected text at once. */
  flush(): void {
    clearTimeout(this.#timer)
    const text = this.#text.toString()
    this.#text = new AnswerText(this.#parts.maxBytes)
    if (text === '') return
    this.#sent++
    const { send, log } = this.#parts
    send(text).catch((error: unknown) => log(`text after its answer is missing: ${getErrorMessage(error)}`))
  }
}
