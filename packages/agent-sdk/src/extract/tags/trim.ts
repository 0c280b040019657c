export type Kind = 'reasoning' | 'text'

export interface Piece {
  readonly type: Kind
  readonly text: string
}

/**
 * Takes away the white space around thoughts, as the text comes: what is around them is for the eye of nobody. Thoughts
 * are put a blank line apart. A text without thoughts stays as it is.
 */
export class Trim {
  reasoning = ''
  text = ''
  #kind: Kind = 'text'
  /** White space that counts only if more follows. */
  #waiting = ''
  /** Nothing of the present part has been given out. */
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

  /** Nothing follows: white space that is the whole text is given out. */
  end(): Piece[] {
    if (this.#kind === 'reasoning' || this.#waiting === '') return []
    return this.#give('text', this.#waiting)
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
    return this.#give('text', this.#waiting + text)
  }

  #give(type: Kind, text: string): Piece[] {
    this[type] += text
    this.#waiting = ''
    this.#isFresh = false
    return [{ type, text }]
  }
}
