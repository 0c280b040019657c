import { type AGUIEvent, EventType } from '@ag-ui/core'
import { remainingAnswer } from '@meup/folds'

/** An answer that starts over more often is shown when it is there. */
const maxMessages = 16

interface AnswerMessageOptions {
  /** Id of the chat that is answered. */
  readonly question: string
  /** Who answers. */
  readonly agent: string
  /** Texts of the messages that the client has, by id. */
  readonly known: ReadonlyMap<string, string>
}

/**
 * An answer as it is written, as messages of AG-UI. What was sent cannot be taken back: text that the answer does not
 * begin with stays a message of its own, and no text is sent twice.
 */
export class AnswerMessage {
  readonly #options: AnswerMessageOptions
  /** Texts of the messages; the last one may grow. */
  readonly #texts: string[] = []
  #isOpen = false

  /** Goes on with the messages that an earlier run has sent. */
  constructor(options: AnswerMessageOptions) {
    this.#options = options
    for (
      let text = options.known.get(this.#nextId);
      text !== undefined;
      text = options.known.get(this.#nextId)
    ) {
      this.#texts.push(text)
    }
  }

  /** What is written so far has become this. */
  grow(text: string): AGUIEvent[] {
    const shown = this.#texts.at(-1)
    if (shown?.startsWith(text)) return []
    if (shown !== undefined && text.startsWith(shown)) return this.#extend(text.slice(shown.length))
    const closing = this.close()
    if (this.#texts.length >= maxMessages) return closing
    this.#texts.push('')
    return [...closing, ...this.#extend(text)]
  }

  /** The answer is this: sends what of it the client does not have, as the message `id` where that is all of it. */
  complete(id: string, text: string): AGUIEvent[] {
    const shown = this.#texts.at(-1)
    const rest = shown === undefined ? undefined : remainingAnswer(text, shown)
    if (rest !== undefined) return [...(rest === '' ? [] : this.#extend(rest)), ...this.close()]
    return [
      ...this.close(),
      this.#start(id),
      // Older clients reject an empty delta.
      ...(text === '' ? [] : [contentEvent(id, text)]),
      endEvent(id),
    ]
  }

  /** Call before another event is sent. */
  close(): AGUIEvent[] {
    if (!this.#isOpen) return []
    this.#isOpen = false
    return [endEvent(this.#id)]
  }

  /** Whether this text was sent: a thought is, if it was written as an answer at first. */
  has(text: string): boolean {
    return this.#texts.some((sent) => sent.trim() === text.trim())
  }

  /** A message that has ended goes on under its id. */
  #extend(delta: string): AGUIEvent[] {
    const opening = this.#isOpen ? [] : [this.#start(this.#id)]
    this.#isOpen = true
    this.#texts.push(`${this.#texts.pop() ?? ''}${delta}`)
    return [...opening, contentEvent(this.#id, delta)]
  }

  #start(messageId: string): AGUIEvent {
    return { type: EventType.TEXT_MESSAGE_START, messageId, role: 'assistant', name: this.#options.agent }
  }

  get #id(): string {
    return this.#idOf(this.#texts.length)
  }

  get #nextId(): string {
    return this.#idOf(this.#texts.length + 1)
  }

  #idOf(count: number): string {
    return `${this.#options.question}-answer${count === 1 ? '' : `-${count}`}`
  }
}

const contentEvent = (messageId: string, delta: string): AGUIEvent => ({
  type: EventType.TEXT_MESSAGE_CONTENT,
  messageId,
  delta,
})

const endEvent = (messageId: string): AGUIEvent => ({ type: EventType.TEXT_MESSAGE_END, messageId })
