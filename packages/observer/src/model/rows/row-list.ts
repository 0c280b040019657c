import type { Block } from './blocks.js'
import type { LogRow, Slot, Sources } from './row.js'
import { getRow } from './row-content.js'

/** Creates the rows of a block: of a message, a run or an event. `getHeight`: measured height of a row in pixels, if known. */
export type CreateSlots = (
  block: Block,
  sources: Sources,
  getHeight: (key: string) => number | undefined,
) => readonly Slot[]

/** The rows of a view with their positions. A row's content is created only when it is drawn. */
export class RowList {
  readonly #blocks: () => readonly Block[]
  readonly #sources: Sources
  readonly #createSlots: CreateSlots
  readonly #slots: Slot[] = []
  #slotsByBlock = new Map<Block, readonly Slot[]>()
  /** Index of each block's first row. */
  readonly #starts: number[] = []
  /** `Block.index` of the first block of which rows have to be created again. */
  #staleFrom = 0
  /** Positions of the rows. Up to date after `slots` is read. */
  readonly layout = new Layout()
  /** Measured heights in pixels, by row key. */
  readonly #heights = new Map<string, number>()
  /** Index of the first row whose height has changed. */
  #resized = 0
  /** Increases whenever rows change. */
  version = 0

  /** `blocks` returns the view's blocks, in log order. */
  constructor(blocks: () => readonly Block[], sources: Sources, createSlots: CreateSlots) {
    this.#blocks = blocks
    this.#sources = sources
    this.#createSlots = createSlots
  }

  /** All rows. Always the same array, brought up to date on access. */
  get slots(): readonly Slot[] {
    const first = this.#updateSlots()
    this.layout.update(this.#slots, Math.min(first, this.#resized))
    this.#resized = Number.POSITIVE_INFINITY
    return this.#slots
  }

  /** All rows as of the last access of `slots`, without bringing them up to date: `layout` has the positions of these. */
  get drawn(): readonly Slot[] {
    return this.#slots
  }

  /** Contents of all rows. */
  get rows(): readonly LogRow[] {
    return this.slots.map((slot) => this.getRow(slot))
  }

  /** Index of the row with this key, or of the row that shows this call together with others; -1 if there is none. */
  indexOf(id: string): number {
    return this.slots.findIndex(
      ({ key, calls }) => key === id || calls?.some((call) => call.envelope.id === id) === true,
    )
  }

  /** Content of a row; the same object until it changes. */
  getRow(slot: Slot): LogRow {
    slot.row ??= getRow(slot, this.#sources)
    return slot.row
  }

  /** Records the measured height of a row, in pixels. */
  setHeight(index: number, height: number): void {
    const slot = this.#slots[index]
    if (slot === undefined || slot.height === height) return
    slot.height = height
    this.#heights.set(slot.key, height)
    this.#resized = Math.min(this.#resized, index)
  }

  /** Creates the rows of a block. `sources`: the state to create them from; default: that of the list. */
  slotsFor(block: Block, sources = this.#sources): readonly Slot[] {
    return this.#createSlots(block, sources, (key) => this.#heights.get(key))
  }

  /** Sets the rows of a changed block, created earlier by `slotsFor`. */
  setSlots(block: Block, slots: readonly Slot[]): void {
    this.#slotsByBlock.set(block, slots)
  }

  /** Must be called with new and changed blocks (messages, runs, events): their rows are created again. */
  touch(blocks: readonly Block[]): void {
    for (const block of blocks) {
      this.#slotsByBlock.delete(block)
      this.#staleFrom = Math.min(this.#staleFrom, block.index)
    }
  }

  /** Must be called after blocks were removed from the list. Keeps the rows of the other blocks. */
  shorten(): void {
    const kept = new Map<Block, readonly Slot[]>()
    for (const block of this.#blocks()) {
      const slots = this.#slotsByBlock.get(block)
      if (slots !== undefined) kept.set(block, slots)
    }
    this.clear(kept)
  }

  /** Starts over, because all blocks may have changed. `prepared`: rows that are up to date already. */
  clear(prepared = new Map<Block, readonly Slot[]>()): void {
    this.#slotsByBlock = prepared
    this.#staleFrom = 0
  }

  /** Updates the rows; returns the index of the first that may have changed, or their number if none has. */
  #updateSlots(): number {
    const [blocks, slots, starts] = [this.#blocks(), this.#slots, this.#starts]
    const from = firstFrom(blocks, this.#staleFrom)
    this.#staleFrom = (blocks.at(-1)?.index ?? -1) + 1
    if (from >= blocks.length && starts.length <= blocks.length) return slots.length
    this.version++
    const first = starts[from] ?? slots.length
    slots.length = first
    starts.length = Math.min(from, starts.length)
    for (const block of blocks.slice(from)) {
      starts.push(slots.length)
      const known = this.#slotsByBlock.get(block) ?? this.slotsFor(block)
      this.#slotsByBlock.set(block, known)
      for (const slot of known) slots.push(slot)
    }
    return first
  }
}

/** Position of the first block whose `index` is at least `place`. */
function firstFrom(blocks: readonly Block[], place: number): number {
  let [low, high] = [0, blocks.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((blocks[middle]?.index ?? 0) < place) low = middle + 1
    else high = middle
  }
  return low
}

/** Shared by all empty layouts, because most lists are never drawn. */
const none = new Float64Array(0)

/** Vertical positions of rows with different heights. */
export class Layout {
  /** Top of each row in pixels; the last entry is the total height. */
  #tops = none
  #count = 0

  /** Must be called after rows or heights have changed; `from`: index of the first one. */
  update(rows: readonly { readonly height: number }[], from = 0): void {
    this.#count = rows.length
    if (this.#tops.length <= rows.length) this.#grow(rows.length * 2)
    for (let index = from; index < rows.length; index++) {
      this.#tops[index + 1] = this.getTop(index) + (rows[index]?.height ?? 0)
    }
  }

  get height(): number {
    return this.getTop(this.#count)
  }

  getTop(index: number): number {
    return this.#tops[index] ?? 0
  }

  /** Index of the row at this offset in pixels; the last row beyond the end, -1 without rows. */
  indexAt(offset: number): number {
    let [low, high] = [0, this.#count]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.getTop(middle + 1) <= offset) low = middle + 1
      else high = middle
    }
    return Math.min(low, this.#count - 1)
  }

  /** Range of rows within `margin` pixels of the visible part; `end` is exclusive. */
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
