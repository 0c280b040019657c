import type { RowList } from '../../model/index.js'

/** Pixels from the end within which a reader who scrolls down is at the live end. */
const nearEndPx = 24
/** Pixels that are drawn above and below what is seen. */
const marginPx = 400

interface Anchor {
  readonly key: string
  readonly index: number
  /** Pixels that are above the view. */
  readonly above: number
}

/** What is scrolled. */
interface Scrolled {
  readonly list: RowList
  /** The reader has come to the live end, or left it. */
  follow(isFollowing: boolean): void
}

/** Scroll position and range of drawn rows. Only the reader's own scrolling leaves the live end. */
export class Scroll {
  readonly #scrolled: () => Scrolled
  #box: HTMLElement | undefined
  #expected = 0
  #anchor: Anchor | undefined
  isFollowing = true

  constructor(scrolled: () => Scrolled) {
    this.#scrolled = scrolled
  }

  attach(box: HTMLElement | null): void {
    this.#box = box ?? undefined
  }

  /** The rows to draw: from the first to before the end. */
  range(around = marginPx): { readonly start: number; readonly end: number } {
    const { list } = this.#scrolled()
    const { length } = list.slots
    const { layout } = list
    const seen = this.#box?.clientHeight ?? 800
    if (!this.isFollowing) return layout.near(this.#box?.scrollTop ?? 0, seen, around)
    return { ...layout.near(Math.max(layout.height - seen, 0), seen, around), end: length }
  }

  /** Handles `scroll`. Returns whether the reader reached or left the live end. */
  scrolled(): boolean {
    const box = this.#box
    if (box === undefined || Math.abs(box.scrollTop - this.#expected) <= 1) return false
    this.#remember()
    return this.#moved(box, box.scrollTop - this.#expected)
  }

  /**
   * Call before other rows are drawn: records the reader's scrolling whose `scroll` event may be still to
   * come. Later it could not be distinguished from scrolling that the change causes.
   */
  look(): void {
    const box = this.#box
    if (box === undefined || this.#anchor === undefined || !box.isConnected) return
    const top = box.scrollTop
    const by = top - this.#expected
    if (Math.abs(by) <= 1) return
    const { drawn, layout } = this.#scrolled().list
    const index = layout.indexAt(top)
    const slot = drawn[index]
    this.#anchor = slot && { key: slot.key, index, above: top - layout.getTop(index) }
    this.#moved(box, by)
  }

  /** Handles `wheel`: scrolling up leaves the live end at once, even while rows are appended. */
  turned(by: number, over: EventTarget | null): boolean {
    const box = this.#box
    if (box === undefined || by >= 0 || box.scrollTop === 0 || isScrolledInside(over, box)) return false
    this.#remember()
    return this.#follow(false)
  }

  /** Back to the live end. */
  toEnd(): void {
    this.#follow(true)
    this.settle()
  }

  /** Brings a row into view; `isFirst`: as the first that is. */
  toRow(index: number, isFirst = false): void {
    const box = this.#box
    if (box === undefined) return
    const { layout } = this.#scrolled().list
    const [top, bottom] = [layout.getTop(index), layout.getTop(index + 1)]
    if (isFirst) box.scrollTop = top
    else if (top < box.scrollTop) box.scrollTop = top - 8
    else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight + 8
    else return
    this.scrolled()
  }

  /** Call after rows or heights have changed: keeps the rows the reader looks at in place. */
  settle(): void {
    const box = this.#box
    if (box === undefined) return
    const { layout } = this.#scrolled().list
    if (this.isFollowing) box.scrollTop = box.scrollHeight
    else if (this.#anchor !== undefined) {
      const index = this.#indexOf(this.#anchor)
      if (index !== -1) box.scrollTop = layout.getTop(index) + this.#anchor.above
    }
    this.#expected = box.scrollTop
    this.#remember()
  }

  /** The reader has scrolled by so many pixels. Whether that led to the live end, or away from it. */
  #moved(box: HTMLElement, by: number): boolean {
    this.#expected = box.scrollTop
    const left = box.scrollHeight - box.scrollTop - box.clientHeight
    // Where there is less than there was, the end has come to the reader.
    return this.#follow(left <= 1 || (by > 0 && left <= nearEndPx))
  }

  /** Whether that is new. */
  #follow(isFollowing: boolean): boolean {
    if (isFollowing === this.isFollowing) return false
    this.isFollowing = isFollowing
    this.#scrolled().follow(isFollowing)
    return true
  }

  #remember(): void {
    const { slots, layout } = this.#scrolled().list
    const top = this.#box?.scrollTop ?? 0
    const index = layout.indexAt(top)
    const slot = slots[index]
    this.#anchor = slot && { key: slot.key, index, above: top - layout.getTop(index) }
  }

  /** Rows may have come before it. */
  #indexOf({ key, index }: Anchor): number {
    const { slots } = this.#scrolled().list
    return slots[index]?.key === key ? index : slots.findIndex((slot) => slot.key === key)
  }
}

/** Whether something in the box scrolls instead of it. */
function isScrolledInside(over: EventTarget | null, box: HTMLElement): boolean {
  for (let at = over; at instanceof Element && at !== box; at = at.parentElement) {
    if (at.scrollTop > 0) return true
  }
  return false
}
