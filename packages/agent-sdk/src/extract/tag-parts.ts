interface Part {
  kind: Kind
  /** The text as received, without tags. */
  raw: string
  isBlank: boolean
  readonly isAfterTag: boolean
  /**
   * The opening tag of a thought that may turn out to be text, because the tag is within a line or is an ordinary word;
   * otherwise empty.
   */
  readonly opener: string
  /** The closing tag, if the part is a thought. */
  closer: string
}

/** The parsed parts of a text: thoughts, answer and calls. Later text may reclassify parts. */
export class Parts {
  readonly #all: Part[] = []
  readonly #trim = new Trim()
  #given: Piece[] = []
  /** Text of a possible call, held back while it may still turn out to be a thought. */
  #heldCall = ''
  #last: Part

  constructor(kind: Kind) {
    this.#last = this.#begin(kind, false, '')
  }

  /** Whether the current part is blank. */
  get isBlank(): boolean {
    return this.#last.isBlank
  }

  /** Kind of the current part. */
  get kind(): Kind {
    return this.#last.kind
  }

  /** Whether the current part, a possible call, ends like a call. */
  get looksCalled(): boolean {
    return /[>\])}]\s*$/.test(this.#last.raw)
  }

  /** Number of characters of the current part. */
  get length(): number {
    return this.#last.raw.length
  }

  /** Thoughts as received, without their tags. */
  get thoughts(): string[] {
    return this.#all.flatMap(({ kind, raw, isBlank }) => (kind === 'reasoning' && !isBlank ? [raw] : []))
  }

  get isEmpty(): boolean {
    return this.#all.length === 1 && this.#last.isBlank
  }

  say(raw: string): void {
    this.#last.raw += raw
    this.#last.isBlank &&= raw.trim() === ''
    if (this.#last.kind === 'call') this.#heldCall += raw
    else this.#given.push(...this.#trim.say(raw))
  }

  beginCall(): void {
    this.#last = this.#begin('call', false, '')
  }

  /** Begins a thought. `opener`: its tag, if it may turn out that the text only mentions the tag. */
  beginThought(opener: string): void {
    this.#last = this.#begin('reasoning', false, opener)
  }

  beginText(closer: string): void {
    this.#giveCall()
    this.#last.closer = closer
    this.#last = this.#begin('text', true, '')
  }

  /**
   * Turns the current text into a thought, or into the continuation of the thought before it; `false` = there is none before
   * it.
   */
  textWasThought(): boolean {
    const [before, text] = [this.#all.at(-2), this.#last]
    if (text.kind === 'call') this.#trim.begin('reasoning', false)
    this.#giveCall()
    text.kind = 'reasoning'
    if (before?.kind !== 'reasoning') return false
    before.raw += before.closer + text.raw
    this.#all.pop()
    this.#last = before
    return true
  }

  /** Ends the thought at its closing tag, which is at `from` to `to`. The text after the tag is not part of the thought. */
  thoughtEndedAt(from: number, to: number): void {
    const { raw } = this.#last
    this.#last.raw = raw.slice(0, from)
    this.#begin('text', true, '').raw = raw.slice(to)
  }

  /**
   * Turns the current thought into text, because its tag was a word or only mentioned in a sentence; `false` = the tag is
   * certain.
   */
  thoughtWasText(): boolean {
    const thought = this.#last
    if (bareHeader.test(thought.opener) && gluedWord.test(thought.raw)) return false
    const before = this.#all.at(-2)?.raw ?? ''
    const isSentence = /[^\s.!?:;…]\s$/u.test(before) && /^[ ,.;)][^\n]*$/.test(thought.raw)
    const isSpokenOf = before.trim() === '' || isSentence
    if (thought.opener === '' || !isSpokenOf) return false
    thought.kind = 'text'
    thought.raw = thought.opener + thought.raw
    return true
  }

  /** Returns the pieces that have become certain since the last call. */
  drain(isLast: boolean): Piece[] {
    if (isLast) this.#giveCall()
    const given = isLast ? [...this.#given, ...this.#trim.end()] : this.#given
    this.#given = []
    return given
  }

  /** Joins the parts to the final texts. `called`: the calls at the end, which only blanks and thoughts follow. */
  joinTexts(): { readonly reasoning: string; readonly text: string; readonly called: string } {
    const trim = new Trim()
    const end = this.#all.findLastIndex(({ kind, isBlank }) => kind === 'text' && !isBlank)
    let isCalled = false
    for (const [index, { kind, raw, isAfterTag }] of this.#all.entries()) {
      isCalled ||= kind === 'call' && index > end
      trim.begin(kind === 'reasoning' ? kind : isCalled ? 'call' : 'text', isAfterTag)
      trim.say(raw)
    }
    trim.end()
    return { reasoning: trim.reasoning, text: trim.text, called: trim.call }
  }

  #giveCall(): void {
    if (this.#heldCall !== '') this.#given.push(...this.#trim.say(this.#heldCall))
    this.#heldCall = ''
  }

  #begin(kind: Kind, isAfterTag: boolean, opener: string): Part {
    const part: Part = { kind, raw: '', isBlank: true, isAfterTag, opener, closer: '' }
    this.#all.push(part)
    this.#trim.begin(kind, isAfterTag)
    return part
  }
}

/**
 * `bareHeader`: the header of a thought of gpt-oss without its special tokens. `gluedWord`: an ordinary word directly after the
 * header, which shows that a thought begins; the rest of a name in code, such as `analysisResult(x)`, does not match.
 */
const [bareHeader, gluedWord] = [/^(?:assistant)?analysis$/, /^["'“‘«(]?(?![\w$]*[.([_$]\S)\p{L}/u]

type Kind = 'reasoning' | 'text' | 'call'

export interface Piece {
  readonly type: Kind
  readonly text: string
}

/**
 * Trims white space around thoughts in a stream, and separates thoughts by a blank line. Does not change a text without
 * thoughts.
 */
class Trim {
  reasoning = ''
  text = ''
  call = ''
  #kind: Kind = 'text'
  /** White space that is released only if text follows. */
  #waiting = ''
  /** No text of the current part was released yet. */
  #isFresh = true
  #skipsBlank = false
  #endsBlank = true

  begin(kind: Kind, isAfterTag: boolean): void {
    this.#skipsBlank = kind === 'text' && isAfterTag && this.#endsBlank
    this.#kind = kind
    this.#isFresh = true
    this.#waiting = ''
  }

  say(raw: string): Piece[] {
    return this.#kind === 'reasoning' ? this.#think(raw) : this.#answer(raw)
  }

  /** At the end of the input, releases white space if the text has no other content. */
  end(): Piece[] {
    if (this.#kind === 'reasoning' || this.#waiting === '') return []
    return this.#give(this.#kind, this.#waiting)
  }

  #think(raw: string): Piece[] {
    if (raw.trim() === '') {
      if (!this.#isFresh) this.#waiting += raw
      return []
    }
    const text = this.#isFresh ? raw.trimStart() : this.#waiting + raw
    const separator = this.#isFresh && this.reasoning !== '' ? '\n\n' : ''
    const trimmed = text.trimEnd()
    const given = this.#give('reasoning', separator + trimmed)
    this.#waiting = text.slice(trimmed.length)
    return given
  }

  #answer(raw: string): Piece[] {
    const text = this.#isFresh && this.#skipsBlank ? raw.trimStart() : raw
    if (text === '') return []
    const isBeginning = this.#isFresh && this.text === '' && this.reasoning === ''
    if (isBeginning && text.trim() === '') {
      this.#waiting += text
      return []
    }
    this.#endsBlank = text.trimEnd().length < text.length
    return this.#give(this.#kind, this.#waiting + text)
  }

  #give(type: Kind, text: string): Piece[] {
    this[type] += text
    this.#waiting = ''
    this.#isFresh = false
    return [{ type, text }]
  }
}
