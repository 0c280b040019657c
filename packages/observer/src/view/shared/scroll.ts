import type { RowList } from '../../model/index.js'

/** Pixels from the end at which scrolling down reaches the live end: from then on, the newest row stays in view. */
const nearEndPx = 24
/** Pixels drawn above and below the visible part, once that part is drawn. */
const marginPx = 400

interface Anchor {
  readonly key: string
  /** Last known index of the row. */
  index: number
  /** Distance from the row's top to the top of the visible part, in pixels. */
  readonly above: number
}

/**
 * Target position of a row: `third`, a third of the way down, so that its surroundings are visible; `near`, the nearest visible
 * position; or `top`. Only `top` moves a row that is visible already.
 */
export type Place = 'third' | 'near' | 'top'

/** Share of the visible part above a row with `third`, and distance to the edges with `near`. */
const [shareAbove, edgePx] = [0.3, 8]

interface Scrolled {
  readonly list: RowList
  /** Called when the reader reaches the newest row (the live end), and when the reader scrolls away from it. */
  follow(isFollowing: boolean): void
}

/** Scroll position of a list, and range of rows to draw. At the live end, it follows new rows until the reader scrolls away. */
export class Scroll {
  readonly #scrolled: () => Scrolled
  #box: HTMLElement | undefined
  #expected = 0
  #anchor: Anchor | undefined
  /** Row to which the reader jumped: it stays in place while rows around it are measured, until the reader scrolls. */
  #held: Anchor | undefined
  isFollowing = true
  /** Whether rows just outside of the visible part are drawn as well. */
  hasMargin = false

  constructor(scrolled: () => Scrolled) {
    this.#scrolled = scrolled
  }

  attach(box: HTMLElement | null): void {
    this.#box = box ?? undefined
  }

  /** Range of rows to draw; `end` is exclusive. */
  range(around = this.hasMargin ? marginPx : 0): { readonly start: number; readonly end: number } {
    const { slots, layout } = this.#scrolled().list
    const near = layout.near(this.#getTop(), this.#seen, around)
    return this.isFollowing ? { ...near, end: slots.length } : near
  }

  get #seen(): number {
    return this.#box?.clientHeight ?? 800
  }

  /**
   * Pixels from the top of the layout to the visible part. Not the `scrollTop` of the box, whose rows may not be drawn or
   * measured yet.
   */
  #getTop(): number {
    const { slots, layout } = this.#scrolled().list
    const end = Math.max(layout.height - this.#seen, 0)
    const anchor = this.#held ?? this.#anchor
    if (this.isFollowing || slots.length === 0) return end
    const index = anchor === undefined ? -1 : this.#indexOf(anchor)
    if (anchor === undefined || index === -1) return this.#box?.scrollTop ?? 0
    return Math.max(layout.getTop(index) + anchor.above, 0)
  }

  /** Handles `scroll`. Returns `true` if the reader reached or left the newest row (the live end). */
  scrolled(): boolean {
    const box = this.#box
    if (box === undefined || Math.abs(box.scrollTop - this.#expected) <= 1) return false
    this.#held = undefined
    this.#remember()
    return this.#moved(box, box.scrollTop - this.#expected)
  }

  /**
   * Must be called before rows change: records scrolling whose `scroll` event is still pending. Later it would be
   * indistinguishable from scrolling that the change causes.
   */
  look(): void {
    const box = this.#box
    if (box === undefined || (this.#held ?? this.#anchor) === undefined || !box.isConnected) return
    const top = box.scrollTop
    const by = top - this.#expected
    if (Math.abs(by) <= 1) return
    this.#held = undefined
    const { drawn, layout } = this.#scrolled().list
    const index = layout.indexAt(top)
    const slot = drawn[index]
    this.#anchor = slot && { key: slot.key, index, above: top - layout.getTop(index) }
    this.#moved(box, by)
  }

  /** Handles `wheel`: scrolling up leaves the live end immediately, even while rows are appended. */
  turned(by: number, over: EventTarget | null): boolean {
    const box = this.#box
    if (box === undefined || by >= 0 || box.scrollTop === 0 || isScrolledInside(over, box)) return false
    this.#held = undefined
    this.#remember()
    return this.#follow(false)
  }

  /** Returns to the live end: the newest row stays in view until the reader scrolls away. */
  toEnd(): void {
    this.#held = undefined
    this.#follow(true)
    this.settle()
  }

  /** Brings a row into view. The caller must redraw and call `settle`. */
  toRow(index: number, place: Place): void {
    const { slots, layout } = this.#scrolled().list
    const slot = slots[index]
    if (slot === undefined) return
    const [top, bottom, from] = [layout.getTop(index), layout.getTop(index + 1), this.#getTop()]
    const isInView = top >= from && bottom <= from + this.#seen
    if (isInView && this.isFollowing && place !== 'top') return
    const above = { third: -shareAbove * this.#seen, near: -edgePx, top: 0 }[place]
    const isBelow = place === 'near' && bottom > from + this.#seen && bottom - top < this.#seen - 2 * edgePx
    this.#held = {
      ...{ key: slot.key, index },
      above: isInView && place !== 'top' ? from - top : isBelow ? bottom - top + edgePx - this.#seen : above,
    }
    this.#follow(false)
  }

  /** Must be called after rows or heights have changed: keeps the rows that the reader is looking at in place. */
  settle(): void {
    const box = this.#box
    if (box === undefined) return
    const { slots } = this.#scrolled().list
    const held = this.#held && this.#indexOf(this.#held)
    if (held === -1) this.#held = undefined
    box.scrollTop = this.isFollowing ? box.scrollHeight : this.#getTop()
    this.#expected = box.scrollTop
    const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight <= 1
    if (this.#held === undefined) this.#remember()
    else if (isAtEnd && held === slots.length - 1) {
      this.#held = undefined
      this.#follow(true)
    }
  }

  /** Handles scrolling by the reader. Returns `true` if the reader reached or left the newest row (the live end). */
  #moved(box: HTMLElement, by: number): boolean {
    this.#expected = box.scrollTop
    const left = box.scrollHeight - box.scrollTop - box.clientHeight
    // `left <= 1` even without scrolling down: the content may have become shorter.
    return this.#follow(left <= 1 || (by > 0 && left <= nearEndPx))
  }

  /** Sets whether the reader is at the live end; returns `true` if that has changed. */
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

  /** Current index of the anchor: rows may have been inserted before it. */
  #indexOf(anchor: Anchor): number {
    const { slots } = this.#scrolled().list
    if (slots[anchor.index]?.key !== anchor.key)
      anchor.index = slots.findIndex((slot) => slot.key === anchor.key)
    return anchor.index
  }
}

/** Whether scrolling up here scrolls an element inside the box, rather than the box. */
function isScrolledInside(over: EventTarget | null, box: HTMLElement): boolean {
  for (let at = over; at instanceof Element && at !== box; at = at.parentElement) {
    if (at.scrollTop > 0) return true
  }
  return false
}
