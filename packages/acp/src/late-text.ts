import { AnswerText } from './answer-text.js'
import { getMessage } from './approvals.js'

/** Milliseconds without text after which what came is sent. */
const quietMs = 500
/** Further messages of a turn; what comes after them is thought. */
const maxMessages = 5

interface LateParts {
  readonly maxBytes: number
  /** Sends a further message of the turn. */
  readonly send: (text: string) => Promise<unknown>
  readonly log: (line: string) => void
}

/** Text that an agent writes after its answer becomes further messages. */
export class LateText {
  readonly #parts: LateParts
  #text: AnswerText
  #timer: NodeJS.Timeout | undefined
  #sent = 0

  constructor(parts: LateParts) {
    this.#parts = parts
    this.#text = new AnswerText(parts.maxBytes)
  }

  /** `false`: it takes no more. */
  push(text: string, messageId: string | undefined): boolean {
    if (this.#sent >= maxMessages) return false
    this.#text.add(text, messageId)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.flush(), quietMs)
    this.#timer.unref()
    return true
  }

  /** Sends what has come. */
  flush(): void {
    clearTimeout(this.#timer)
    const text = this.#text.toString()
    this.#text = new AnswerText(this.#parts.maxBytes)
    if (text === '') return
    this.#sent++
    const { send, log } = this.#parts
    send(text).catch((error: unknown) =>
      log(`what it wrote behind its answer is missing: ${getMessage(error)}`),
    )
  }
}
