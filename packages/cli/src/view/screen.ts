import { type AnyEnvelope, isThought } from '@meup/protocol'
import { Conversation, type Lines } from '../render/conversation.js'

/** What a screen draws on. */
export interface Surface {
  /** Lines that fit on it. */
  readonly rows: number
  print(lines: readonly string[]): void
  clear(): void
}

/** Envelopes that can be drawn again. */
const remembered = 1000

/** An envelope, and the reasoning that is shown behind it. */
interface Shown {
  readonly envelope: AnyEnvelope
  reasoning: readonly string[]
}

/** A conversation for people, of which the end can be drawn anew, with or without thoughts. */
export class Screen {
  readonly #surface: Surface
  readonly #showsThoughts: () => boolean
  readonly #begin: () => Lines
  #conversation: Lines
  #recent: Shown[] = []

  /** `begin` makes what gives the lines, each time that the conversation is drawn. */
  constructor(surface: Surface, showsThoughts: () => boolean, begin: () => Lines = () => new Conversation()) {
    this.#surface = surface
    this.#showsThoughts = showsThoughts
    this.#begin = begin
    this.#conversation = begin()
  }

  show(envelope: AnyEnvelope): void {
    const shown = { envelope, reasoning: [] }
    // What is in no log was for this moment.
    if (envelope.seq !== undefined) this.#recent.push(shown)
    if (this.#recent.length > 2 * remembered) this.#recent.splice(0, remembered)
    this.#surface.print(this.#linesOf(shown))
  }

  /** Puts reasoning behind what was shown last. It is hidden and shown as thoughts are. */
  append({ seq }: AnyEnvelope, reasoning: readonly string[]): void {
    const shown = this.#recent.findLast(({ envelope }) => envelope.seq === seq)
    if (shown !== undefined) shown.reasoning = reasoning
    if (this.#showsThoughts()) this.#surface.print(reasoning)
  }

  /** Draws what is known as far as it fits, below it a line of its own, and leaves room for one to type in. */
  draw(status: string): void {
    this.#conversation = this.#begin()
    const lines = this.#recent.flatMap((shown) => this.#linesOf(shown))
    this.#surface.clear()
    this.#surface.print([...lines.slice(2 - this.#surface.rows), status])
  }

  /** Puts what a log has in its place among what has been seen. */
  add(logged: readonly AnyEnvelope[]): void {
    const found = logged.map((envelope): Shown => ({ envelope, reasoning: [] }))
    const bySeq = new Map([...found, ...this.#recent].map((shown) => [shown.envelope.seq ?? 0, shown]))
    this.#recent = [...bySeq]
      .sort(([a], [b]) => a - b)
      .map(([, shown]) => shown)
      .slice(-remembered)
  }

  #linesOf({ envelope, reasoning }: Shown): readonly string[] {
    const isHidden = !this.#showsThoughts()
    if (isThought(envelope.kind) && isHidden) return []
    const lines = this.#conversation.lines(envelope)
    return isHidden ? lines : [...lines, ...reasoning]
  }
}
