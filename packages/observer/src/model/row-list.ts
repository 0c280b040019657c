import type { Block } from './entry.js'
import { FlatRows } from './flat-rows.js'
import type { Row } from './row.js'
import { rowOf, type Sources } from './rows.js'
import type { Slot } from './slot.js'
import { Layout } from './window.js'

/** The rows of a block; `heightOf`: pixels, where a row of this key was measured already. */
type SlotsOf = (
  block: Block,
  sources: Sources,
  heightOf: (key: string) => number | undefined,
) => readonly Slot[]

/** Rows one below the other, and where each is. Only those that are looked at are made. */
export class RowList {
  readonly #blocks: () => readonly Block[]
  readonly #sources: Sources
  readonly #slotsOf: SlotsOf
  readonly #flat = new FlatRows()
  readonly #layout = new Layout()
  /** Pixels, by the keys of rows that were on the screen. */
  readonly #heights = new Map<string, number>()
  /** Index of the first row whose height the layout does not know. */
  #resized = 0
  #rows = new WeakMap<Slot, Row>()

  /** `blocks`: in the order of the log. */
  constructor(blocks: () => readonly Block[], sources: Sources, slotsOf: SlotsOf) {
    this.#blocks = blocks
    this.#sources = sources
    this.#slotsOf = slotsOf
  }

  /** The same array each time, brought up to date. */
  get slots(): readonly Slot[] {
    const first = this.#flat.update(this.#blocks(), (block) => this.slotsFor(block))
    this.#layout.update(this.#flat.slots, Math.min(first, this.#resized))
    this.#resized = Number.POSITIVE_INFINITY
    return this.#flat.slots
  }

  /** What stands in all of them, made whether anybody looks at it or not. */
  get rows(): readonly Row[] {
    return this.slots.map((slot) => this.rowOf(slot))
  }

  /** Index of the row that shows this envelope; -1 = none does. */
  indexOf(id: string): number {
    return this.slots.findIndex(
      ({ envelope, calls }) => envelope.id === id || calls?.some((call) => call.envelope.id === id) === true,
    )
  }

  /** Where the rows are, from the top. Ask for the slots first. */
  get layout(): Layout {
    return this.#layout
  }

  /** What stands there; the same object until it is different. */
  rowOf(slot: Slot): Row {
    const known = this.#rows.get(slot)
    if (known !== undefined) return known
    const row = rowOf(slot, this.#sources)
    this.#rows.set(slot, row)
    return row
  }

  /** A row turned out to be so many pixels high. */
  measured(index: number, height: number): void {
    const slot = this.#flat.slots[index]
    if (slot === undefined || slot.height === height) return
    slot.height = height
    this.#heights.set(slot.key, height)
    this.#resized = Math.min(this.#resized, index)
  }

  /** The rows of a block by what these sources say; default: those of the list. */
  slotsFor(block: Block, sources = this.#sources): readonly Slot[] {
    return this.#slotsOf(block, sources, (key) => this.#heights.get(key))
  }

  /** The rows of a block that was touched, where they are known already. */
  know(block: Block, slots: readonly Slot[]): void {
    this.#flat.know(block, slots)
  }

  /** These blocks are new or different. */
  touch(blocks: readonly Block[]): void {
    this.#flat.touch(blocks)
  }

  /** Some of the blocks are gone; the others are as they were. */
  shorten(): void {
    this.#flat.keep(this.#blocks())
  }

  /** Other blocks, or all of them different. `prepared`: rows that are known already. */
  clear(prepared?: Map<Block, readonly Slot[]>): void {
    this.#flat.clear(prepared)
  }
}
