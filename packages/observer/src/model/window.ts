/** Where rows of different heights are, from the top. */
export class Layout {
  /** Pixels above each row, and above where the next would be. */
  #tops = new Float64Array(1024)
  #count = 0

  /** To be called when rows or heights have changed, with the index of the first that has. */
  update(rows: readonly { readonly height: number }[], from = 0): void {
    this.#count = rows.length
    if (this.#tops.length <= rows.length) this.#grow(rows.length * 2)
    for (let index = from; index < rows.length; index++) {
      this.#tops[index + 1] = this.topOf(index) + (rows[index]?.height ?? 0)
    }
  }

  get height(): number {
    return this.topOf(this.#count)
  }

  topOf(index: number): number {
    return this.#tops[index] ?? 0
  }

  /** The row at so many pixels from the top; the last one beyond the end, -1 where there is none. */
  indexAt(offset: number): number {
    let [low, high] = [0, this.#count]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.topOf(middle + 1) <= offset) low = middle + 1
      else high = middle
    }
    return Math.min(low, this.#count - 1)
  }

  /** The rows within `margin` pixels of what is seen: from the first to before the end. */
  near(offset: number, seen: number, margin: number): { readonly start: number; readonly end: number } {
    const start = Math.max(this.indexAt(Math.max(offset - margin, 0)), 0)
    return { start, end: this.indexAt(offset + seen + margin) + 1 }
  }

  #grow(length: number): void {
    const before = this.#tops
    this.#tops = new Float64Array(length)
    this.#tops.set(before)
  }
}
