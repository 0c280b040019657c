import type { SpaceModel } from '../model/index.js'

/** Pixels from the end within which a reader is at the live end. */
const nearEnd = 24
/** Pixels that are drawn above and below what is seen. */
const margin = 600

interface Anchor {
  readonly key: string
  readonly index: number
  /** Pixels that are above the view. */
  readonly above: number
}

/** Which rows are drawn, and where the reader is: nothing but the reader's own scrolling leaves the live end. */
export class Scroll {
  readonly #model: () => SpaceModel
  #box: HTMLElement | undefined
  #expected = 0
  #anchor: Anchor | undefined
  isFollowing = true

  constructor(model: () => SpaceModel) {
    this.#model = model
  }

  attach(box: HTMLElement | null): void {
    this.#box = box ?? undefined
  }

  /** The rows to draw: from the first to before the end. */
  range(): { readonly start: number; readonly end: number } {
    const { rows, layout } = this.#model()
    const seen = this.#box?.clientHeight ?? 800
    if (this.isFollowing)
      return { ...layout.near(Math.max(layout.height - seen, 0), seen, margin), end: rows.length }
    return layout.near(this.#box?.scrollTop ?? 0, seen, margin)
  }

  /** For the `scroll` event. Whether the reader has come to the live end, or left it. */
  scrolled(): boolean {
    const box = this.#box
    if (box === undefined || Math.abs(box.scrollTop - this.#expected) <= 1) return false
    this.#expected = box.scrollTop
    const isAtEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - nearEnd
    this.#remember()
    if (isAtEnd === this.isFollowing) return false
    this.#follow(isAtEnd)
    return true
  }

  /** Back to the live end. */
  toEnd(): void {
    this.#follow(true)
    this.settle()
  }

  /** Brings a row into view. */
  toRow(index: number): void {
    const box = this.#box
    if (box === undefined) return
    const { layout } = this.#model()
    const [top, bottom] = [layout.topOf(index), layout.topOf(index + 1)]
    if (top < box.scrollTop) box.scrollTop = top - 8
    else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight + 8
    else return
    this.scrolled()
  }

  /** After rows or heights have changed: what the reader looks at stays where it is. */
  settle(): void {
    const box = this.#box
    if (box === undefined) return
    const { layout } = this.#model()
    if (this.isFollowing) box.scrollTop = box.scrollHeight
    else if (this.#anchor !== undefined) {
      const index = this.#indexOf(this.#anchor)
      if (index !== -1) box.scrollTop = layout.topOf(index) + this.#anchor.above
    }
    this.#expected = box.scrollTop
    this.#remember()
  }

  #follow(isFollowing: boolean): void {
    this.isFollowing = isFollowing
    this.#model().follow(isFollowing)
  }

  #remember(): void {
    const { rows, layout } = this.#model()
    const top = this.#box?.scrollTop ?? 0
    const index = layout.indexAt(top)
    const row = rows[index]
    this.#anchor = row && { key: row.key, index, above: top - layout.topOf(index) }
  }

  /** Rows may have come before it. */
  #indexOf({ key, index }: Anchor): number {
    const { rows } = this.#model()
    return rows[index]?.key === key ? index : rows.findIndex((row) => row.key === key)
  }
}
