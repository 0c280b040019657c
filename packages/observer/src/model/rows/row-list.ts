import type { Block } from './blocks.js'
import type { LogRow, Slot, Sources } from './row.js'
import { getRow } from './row-content.js'

/** Creates the rows of a block; `getHeight`: pixels, if the row with this key was measured. */
export type CreateSlots = (
  block: Block,
  sources: Sources,
  getHeight: (key: string) => number | undefined,
) => readonly Slot[]

/** The rows of a view and their positions. A row's content is created when it is first drawn. */
export class RowList {
  readonly #blocks: () => readonly Block[]
  readonly #sources: Sources
  readonly #createSlots: CreateSlots
  readonly #slots: Slot[] = []
  #slotsByBlock = new Map<Block, readonly Slot[]>()
  /** Index of the first row of each block. */
  readonly #starts: number[] = []
  /** Index in the log of the first block with outdated rows. */
  #staleFrom = 0
  /** The positions of rows. Read `slots` first, which updates it. */
  readonly layout = new Layout()
  /** Measured heights in pixels, by row key. */
  readonly #heights = new Map<string, number>()
  /** Index of the first row with an outdated height. */
  #resized = 0
  /** Changes whenever rows change. */
  version = 0

  /** `blocks`: in log order. */
  constructor(blocks: () => readonly Block[], sources: Sources, createSlots: CreateSlots) {
    this.#blocks = blocks
    this.#sources = sources
    this.#createSlots = createSlots
  }

  /** The same array each time, updated. */
  get slots(): readonly Slot[] {
    const first = this.#updateSlots()
    this.layout.update(this.#slots, Math.min(first, this.#resized))
    this.#resized = Number.POSITIVE_INFINITY
    return this.#slots
  }

  /** The slots at the last read, matching `layout`. */
  get drawn(): readonly Slot[] {
    return this.#slots
  }

  /** The contents of all rows, created on demand. */
  get rows(): readonly LogRow[] {
    return this.slots.map((slot) => this.getRow(slot))
  }

  /** Index of the first row that shows this envelope, or of the row with this key; -1 = none does. */
  indexOf(id: string): number {
    return this.slots.findIndex(
      ({ key, calls }) => key === id || calls?.some((call) => call.envelope.id === id) === true,
    )
  }

  /** The content; the same object until it changes. */
  getRow(slot: Slot): LogRow {
    slot.row ??= getRow(slot, this.#sources)
    return slot.row
  }

  /** Sets the measured height of a row, in pixels. */
  setHeight(index: number, height: number): void {
    const slot = this.#slots[index]
    if (slot === undefined || slot.height === height) return
    slot.height = height
    this.#heights.set(slot.key, height)
    this.#resized = Math.min(this.#resized, index)
  }

  /** The rows of a block by these sources; default: those of the list. */
  slotsFor(block: Block, sources = this.#sources): readonly Slot[] {
    return this.#createSlots(block, sources, (key) => this.#heights.get(key))
  }

  /** Caches the rows of a block that was touched. */
  setSlots(block: Block, slots: readonly Slot[]): void {
    this.#slotsByBlock.set(block, slots)
  }

  /** Call for new or changed blocks. */
  touch(blocks: readonly Block[]): void {
    for (const block of blocks) {
      this.#slotsByBlock.delete(block)
      this.#staleFrom = Math.min(this.#staleFrom, block.index)
    }
  }

  /** Some blocks are gone; the others are unchanged. */
  shorten(): void {
    const kept = new Map<Block, readonly Slot[]>()
    for (const block of this.#blocks()) {
      const slots = this.#slotsByBlock.get(block)
      if (slots !== undefined) kept.set(block, slots)
    }
    this.clear(kept)
  }

  /** Replaces all blocks. `prepared`: known rows. */
  clear(prepared = new Map<Block, readonly Slot[]>()): void {
    this.#slotsByBlock = prepared
    this.#staleFrom = 0
  }

  /** Returns the index of the first row that may have changed; the number of rows if none has. */
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

/** Index of the first block at or after this index in the log. */
function firstFrom(blocks: readonly Block[], place: number): number {
  let [low, high] = [0, blocks.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((blocks[middle]?.index ?? 0) < place) low = middle + 1
    else high = middle
  }
  return low
}

/** Shared until first drawn, because most lists never are. */
const none = new Float64Array(0)

/** Positions of rows with different heights. */
export class Layout {
  /** Top of each row in pixels, and of the position after the last. */
  #tops = none
  #count = 0

  /** Call after rows or heights have changed, with the index of the first. */
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

  /** The row at this offset in pixels; the last one beyond the end, -1 if empty. */
  indexAt(offset: number): number {
    let [low, high] = [0, this.#count]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.getTop(middle + 1) <= offset) low = middle + 1
      else high = middle
    }
    return Math.min(low, this.#count - 1)
  }

  /** The rows within `margin` pixels of the visible part; `end` is exclusive. */
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
