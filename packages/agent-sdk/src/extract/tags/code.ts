const pieces = /\n|`+|~+|[^\n`~]+/g
/** What may stand before a fence on its line: the marks of quotes and lists. */
const beyondMarks = /[^\s>*+\-.\d)]/

/** Knows where a text, as it comes, is code in the eyes of Markdown. */
export class Code {
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
