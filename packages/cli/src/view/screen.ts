import { type AnyEnvelope, isThought } from '@meup/protocol'
import { Conversation } from '../render/conversation.js'

/** What a screen draws on. */
export interface Surface {
  /** Lines that fit on it. */
  readonly rows: number
  print(lines: readonly string[]): void
  clear(): void
}

/** Envelopes that can be drawn again. */
const remembered = 1000

/** A conversation for people, of which the end can be drawn anew, with or without thoughts. */
export class Screen {
  readonly #surface: Surface
  readonly #showsThoughts: () => boolean
  #conversation = new Conversation()
  #recent: AnyEnvelope[] = []

  constructor(surface: Surface, showsThoughts: () => boolean) {
    this.#surface = surface
    this.#showsThoughts = showsThoughts
  }

  show(envelope: AnyEnvelope): void {
    // What is in no log was for this moment.
    if (envelope.seq !== undefined) this.#recent.push(envelope)
    if (this.#recent.length > 2 * remembered) this.#recent.splice(0, remembered)
    this.#surface.print(this.#linesOf(envelope))
  }

  /** Draws what is known as far as it fits, below it a line of its own, and leaves room for one to type in. */
  draw(status: string): void {
    this.#conversation = new Conversation()
    const lines = this.#recent.flatMap((envelope) => this.#linesOf(envelope))
    this.#surface.clear()
    this.#surface.print([...lines.slice(2 - this.#surface.rows), status])
  }

  /** Puts what a log has in its place among what has been seen. */
  add(logged: readonly AnyEnvelope[]): void {
    const bySeq = new Map([...logged, ...this.#recent].map((envelope) => [envelope.seq ?? 0, envelope]))
    this.#recent = [...bySeq]
      .sort(([a], [b]) => a - b)
      .map(([, envelope]) => envelope)
      .slice(-remembered)
  }

  #linesOf(envelope: AnyEnvelope): string[] {
    return isThought(envelope.kind) && !this.#showsThoughts() ? [] : this.#conversation.lines(envelope)
  }
}
