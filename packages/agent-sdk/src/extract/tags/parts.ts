import { type Kind, type Piece, Trim } from './trim.js'

interface Part {
  kind: Kind
  /** As it came, without tags. */
  raw: string
  isBlank: boolean
  readonly isAfterTag: boolean
  /** The tag that began a thought in the midst of a line. */
  readonly opener: string
  /** The tag that ended a thought. */
  closer: string
}

/** What was read of a text: thoughts and answer by turns. Some of it turns out to be the other, later on. */
export class Parts {
  readonly #all: Part[] = []
  readonly #trim = new Trim()
  #given: Piece[] = []
  #last: Part

  constructor(kind: Kind) {
    this.#last = this.#begin(kind, false, '')
  }

  /** Of the last part. */
  get isBlank(): boolean {
    return this.#last.isBlank
  }

  /** Of the last part, in characters. */
  get length(): number {
    return this.#last.raw.length
  }

  get isEmpty(): boolean {
    return this.#all.length === 1 && this.#last.isBlank
  }

  say(raw: string): void {
    this.#last.raw += raw
    this.#last.isBlank &&= raw.trim() === ''
    this.#given.push(...this.#trim.say(raw))
  }

  /** `opener`: the tag, if it may be that the text only speaks of it. */
  beginThought(opener: string): void {
    this.#last = this.#begin('reasoning', false, opener)
  }

  beginText(closer: string): void {
    this.#last.closer = closer
    this.#last = this.#begin('text', true, '')
  }

  /** The text was a thought, or more of the thought before it. */
  textWasThought(): void {
    const [before, text] = [this.#all.at(-2), this.#last]
    text.kind = 'reasoning'
    if (before?.kind !== 'reasoning') return
    before.raw += before.closer + text.raw
    this.#all.pop()
    this.#last = before
  }

  /** The thought ended before: what follows on the tag between the two places is text. */
  thoughtEndedAt(from: number, to: number): void {
    const { raw } = this.#last
    this.#last.raw = raw.slice(0, from)
    this.#begin('text', true, '').raw = raw.slice(to)
  }

  /** The tag that began the thought was only spoken of; `false` = it certainly began it. */
  thoughtWasText(): boolean {
    const thought = this.#last
    if (thought.opener === '') return false
    thought.kind = 'text'
    thought.raw = thought.opener + thought.raw
    return true
  }

  /** What can be given out since the last time. */
  take(isLast: boolean): Piece[] {
    const given = isLast ? [...this.#given, ...this.#trim.end()] : this.#given
    this.#given = []
    return given
  }

  /** All of it, as it turned out to be. */
  told(): Record<Kind, string> {
    const trim = new Trim()
    for (const { kind, raw, isAfterTag } of this.#all) {
      trim.begin(kind, isAfterTag)
      trim.say(raw)
    }
    trim.end()
    return { reasoning: trim.reasoning, text: trim.text }
  }

  #begin(kind: Kind, isAfterTag: boolean, opener: string): Part {
    const part: Part = { kind, raw: '', isBlank: true, isAfterTag, opener, closer: '' }
    this.#all.push(part)
    this.#trim.begin(kind, isAfterTag)
    return part
  }
}
