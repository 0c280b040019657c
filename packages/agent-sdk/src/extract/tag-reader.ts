import { Parts, type Piece } from './tag-parts.js'
import { anyCloser, loneClosers, nextPlace, type OpenToken, type Token, tokenAt } from './tag-tokens.js'

export interface TagTexts {
  readonly reasoning: string
  readonly text: string
  /** The last thought has no end. */
  readonly isTruncated: boolean
}

/**
 * Separates thoughts in tags from the answer while the text streams in, in pieces of any size. A tag counts at the beginning
 * of the text, or after an earlier thought; in code it is text.
 *
 * Three things are known late, and correct what was streamed: that the text was a thought without an opening tag, that a
 * thought ended within a code fence that was never closed, and that a tag within a line was only mentioned.
 */
export class TagReader {
  readonly #parts: Parts
  #code = new Code()
  /** What may be the beginning of a tag. */
  #held = ''
  /** What ends the present thought; `undefined` = this is no thought. */
  #closers: ReadonlySet<string> | undefined
  /** A tag has counted, so that others count as well. */
  #counts: boolean
  /** The present text speaks of thoughts that begin. */
  #isMentioned = false
  /** The last thought was ended by a tool call. */
  #isCalling = false
  /** An end of the present thought within a fence. */
  #spare: { readonly from: number; readonly to: number } | undefined

  constructor({ prefilled }: { readonly prefilled: boolean }) {
    this.#parts = new Parts(prefilled ? 'reasoning' : 'text')
    this.#counts = prefilled
    this.#closers = prefilled ? anyCloser : undefined
  }

  push(raw: string): Piece[] {
    this.#read(this.#held + raw, false)
    return this.#parts.drain(false)
  }

  /** Returns what was held back, except for an incomplete closing tag. */
  flush(): Piece[] {
    const half = this.#held.toLowerCase()
    const isHalfEnd = [...(this.#closers ?? [])].some((closer) => half !== closer && closer.startsWith(half))
    if (!isHalfEnd) this.#read(this.#held, true)
    return this.#parts.drain(true)
  }

  /** To be called once. */
  end(): TagTexts {
    this.flush()
    const isOpen = this.#closers !== undefined && !this.#parts.isEmpty
    if (isOpen && this.#spare !== undefined) this.#parts.thoughtEndedAt(this.#spare.from, this.#spare.to)
    const isTruncated = isOpen && this.#spare === undefined && !this.#parts.thoughtWasText()
    return { ...this.#parts.joinTexts(), isTruncated }
  }

  /** Each thought to the letter, once all is read. */
  get thoughts(): readonly string[] {
    return this.#parts.thoughts
  }

  #read(text: string, isLast: boolean): void {
    let from = 0
    let at = nextPlace(text, 0)
    while (at >= 0) {
      const token = tokenAt(text, at)
      if (token === 'unsure' && !isLast) break
      if (token === undefined || token === 'unsure') {
        at = nextPlace(text, at + 1)
        continue
      }
      this.#say(text.slice(from, at))
      from = at
      const end = at + token.length
      // Whether it is in backticks depends on what follows.
      if (this.#code.isAfterTick && end === text.length && !isLast) break
      const tag = text.slice(at, end)
      const isQuoted = this.#code.isAfterTick && text[end] === '`'
      const isMarkup =
        this.#closers === undefined ? this.#readInText(token, tag) : this.#readInThought(token, tag, isQuoted)
      if (!isMarkup) this.#say(tag)
      from = end
      at = nextPlace(text, from)
    }
    const rest = at < 0 ? text.length : at
    this.#say(text.slice(from, rest))
    this.#held = text.slice(rest)
  }

  #say(raw: string): void {
    if (raw === '') return
    this.#parts.say(raw)
    this.#code.see(raw)
  }

  /** Does what a tag says; `false` = it says nothing, it is text. */
  #readInThought(token: Token, tag: string, isQuoted: boolean): boolean {
    if (token.type === 'open') return this.#opensAgain(token)
    if (isQuoted) return false
    const isFenced = this.#code.isFenced
    if (token.type === 'call') {
      if (isFenced) return false
      this.#beginText('')
      this.#isCalling = true
      return false
    }
    if (!this.#closers?.has(token.name)) return false
    if (isFenced) {
      const from = this.#parts.length
      this.#spare ??= { from, to: from + tag.length }
    } else this.#beginText(tag)
    return !isFenced
  }

  /** A model may begin what its template has begun already. */
  #opensAgain({ closers }: OpenToken): boolean {
    if (!this.#parts.isBlank) return false
    this.#closers = closers
    return true
  }

  /** As `#readInThought`. */
  #readInText(token: Token, tag: string): boolean {
    if (token.type === 'call') return false
    const isBeginning = !this.#counts && this.#parts.isBlank
    const mayCount = isBeginning || (this.#counts && !this.#code.isInside)
    if (token.type === 'open') {
      if (mayCount) this.#beginThought(token, tag)
      else this.#isMentioned = true
      return mayCount
    }
    if (isBeginning) {
      this.#beginText(tag)
      return true
    }
    if (token.type === 'wrapper') return mayCount
    return loneClosers.has(token.name) && !this.#code.isInside && this.#endsUnmarked(tag)
  }

  /** A closing tag without an opening one: the text before it was a thought. */
  #endsUnmarked(tag: string): boolean {
    if (this.#isMentioned) return false
    if (this.#isCalling || this.#parts.isBlank) return true
    this.#parts.textWasThought()
    this.#beginText(tag)
    return true
  }

  #beginThought({ closers }: OpenToken, tag: string): void {
    const isWithinLine = !this.#parts.isBlank && !this.#code.isLineBlank
    this.#parts.beginThought(isWithinLine ? tag : '')
    this.#closers = closers
    this.#beginPart()
  }

  #beginText(closer: string): void {
    this.#parts.beginText(closer)
    this.#closers = undefined
    this.#beginPart()
  }

  #beginPart(): void {
    this.#counts = true
    this.#code = new Code()
    this.#isMentioned = false
    this.#isCalling = false
    this.#spare = undefined
  }
}

const pieces = /\n|`+|~+|[^\n`~]+/g
/** What may stand before a fence on its line: the marks of quotes and lists. */
const beyondMarks = /[^\s>*+\-.\d)]/

/** Knows where a text, as it comes, is code in the eyes of Markdown. */
class Code {
  /** The run of backticks or tildes that the text ends in: what it means shows when it is over. */
  #mark = ''
  #length = 0
  #fence: { readonly mark: string; readonly length: number } | undefined
  /** Length of the run that opened code on this line; 0 = none. */
  #ticks = 0
  #isLineBlank = true

  see(text: string): void {
    for (const [piece] of text.matchAll(pieces)) this.#see(piece, piece.charAt(0))
  }

  get isAfterTick(): boolean {
    return this.#mark === '`'
  }

  /** Nothing but marks stands before this on its line. */
  get isLineBlank(): boolean {
    return this.#mark === '' && this.#isLineBlank
  }

  get isFenced(): boolean {
    this.#settle()
    return this.#fence !== undefined
  }

  /** In a fence, or behind backticks that are still open on this line. */
  get isInside(): boolean {
    return this.isFenced || this.#ticks > 0
  }

  #see(piece: string, first: string): void {
    if (first === this.#mark) {
      this.#length += piece.length
      return
    }
    this.#settle()
    if (first === '`' || first === '~') {
      this.#mark = first
      this.#length = piece.length
    } else if (first === '\n') {
      this.#isLineBlank = true
      this.#ticks = 0
    } else if (beyondMarks.test(piece)) this.#isLineBlank = false
  }

  #settle(): void {
    const [mark, length] = [this.#mark, this.#length]
    if (mark === '') return
    this.#mark = ''
    const mayFence = this.#isLineBlank && length >= 3
    this.#isLineBlank = false
    if (this.#fence !== undefined) {
      const closes = mayFence && mark === this.#fence.mark && length >= this.#fence.length
      if (closes) this.#fence = undefined
    } else if (mayFence) this.#fence = { mark, length }
    else if (mark === '`' && this.#ticks === 0) this.#ticks = length
    else if (mark === '`' && this.#ticks === length) this.#ticks = 0
  }
}
