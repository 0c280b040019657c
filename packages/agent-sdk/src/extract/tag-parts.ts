interface Part {
  kind: Kind
  /** The text as received, without tags. */
  raw: string
  isBlank: boolean
  readonly isAfterTag: boolean
  /** The tag that began a thought within a line, or is an ordinary word. */
  readonly opener: string
  /** The tag that ended a thought. */
  closer: string
}

/** The parsed parts of a text: thoughts, answer and calls. Later text may reclassify parts. */
export class Parts {
  readonly #all: Part[] = []
  readonly #trim = new Trim()
  #given: Piece[] = []
  /** Text of a possible call. Released once nothing can reclassify it. */
  #heldCall = ''
  #last: Part

  constructor(kind: Kind) {
    this.#last = this.#begin(kind, false, '')
  }

  /** Whether the last part is blank. */
  get isBlank(): boolean {
    return this.#last.isBlank
  }

  /** Kind of the last part. */
  get kind(): Kind {
    return this.#last.kind
  }

  /** Whether the last part, a possible call, ends like one. */
  get looksCalled(): boolean {
    return /[>\])}]\s*$/.test(this.#last.raw)
  }

  /** Characters of the last part. */
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

  /** `opener`: the tag, if the text may only mention it. */
  beginThought(opener: string): void {
    this.#last = this.#begin('reasoning', false, opener)
  }

  beginText(closer: string): void {
    this.#giveCall()
    this.#last.closer = closer
    this.#last = this.#begin('text', true, '')
  }

  /** Reclassifies the text as a thought, or as more of the previous one; `false` = there is none before it. */
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

  /** Moves the end of the thought: the text after the tag at `from` to `to` is not part of it. */
  thoughtEndedAt(from: number, to: number): void {
    const { raw } = this.#last
    this.#last.raw = raw.slice(0, from)
    this.#begin('text', true, '').raw = raw.slice(to)
  }

  /** Reclassifies the thought as text, because its tag was a word or only mentioned in a sentence; `false` = the tag is certain. */
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

  /** Returns the text that can be released since the last call. */
  drain(isLast: boolean): Piece[] {
    if (isLast) this.#giveCall()
    const given = isLast ? [...this.#given, ...this.#trim.end()] : this.#given
    this.#given = []
    return given
  }

  /** The final texts. A call is only followed by blanks and thoughts. */
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

/** A header without marks, and a word that follows it without a space, unless it is part of a name in code. */
const [bareHeader, gluedWord] = [/^(?:assistant)?analysis$/, /^["'“‘«(]?(?![\w$]*[.([_$]\S)\p{L}/u]

type Kind = 'reasoning' | 'text' | 'call'

export interface Piece {
  readonly type: Kind
  readonly text: string
}

/**
 * Trims white space around thoughts in a stream, and separates thoughts by a blank line. Leaves a text without thoughts
 * unchanged.
 */
class Trim {
  reasoning = ''
  text = ''
  call = ''
  #kind: Kind = 'text'
  /** White space that is kept only if text follows. */
  #waiting = ''
  /** Nothing of this part was released yet. */
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

  /** End of input: releases white space if it is the whole text. */
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
