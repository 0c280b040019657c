import type { Block } from './entry.js'
import type { Slot } from './slot.js'

/** The rows of some blocks, one after the other. What stands before a change is left as it is. */
export class FlatRows {
  readonly slots: Slot[] = []
  #cached = new Map<Block, readonly Slot[]>()
  /** Index of the first row of each block. */
  readonly #starts: number[] = []
  /** Place of the first block in the log whose rows are not as they are here. */
  #from = 0

  /** These blocks are new or different. */
  touch(blocks: readonly Block[]): void {
    for (const block of blocks) {
      this.#cached.delete(block)
      this.#from = Math.min(this.#from, block.index)
    }
  }

  /** There are these blocks alone; they are as they were. */
  keep(blocks: readonly Block[]): void {
    const kept = new Map<Block, readonly Slot[]>()
    for (const block of blocks) {
      const slots = this.#cached.get(block)
      if (slots !== undefined) kept.set(block, slots)
    }
    this.clear(kept)
  }

  /** Other blocks, or all of them different. `prepared`: rows that are known already. */
  clear(prepared = new Map<Block, readonly Slot[]>()): void {
    this.#cached = prepared
    this.#from = 0
  }

  /** The rows of a block that was touched, where they are known already. */
  know(block: Block, slots: readonly Slot[]): void {
    this.#cached.set(block, slots)
  }

  /** Gives the index of the first row that may be another one than before; the number of rows where none is. */
  update(blocks: readonly Block[], slotsOf: (block: Block) => readonly Slot[]): number {
    const from = firstFrom(blocks, this.#from)
    this.#from = (blocks.at(-1)?.index ?? -1) + 1
    if (from >= blocks.length && this.#starts.length <= blocks.length) return this.slots.length
    const first = this.#starts[from] ?? this.slots.length
    this.slots.length = first
    this.#starts.length = Math.min(from, this.#starts.length)
    for (let at = from; at < blocks.length; at++) {
      const block = blocks[at]
      if (block === undefined) break
      this.#starts.push(this.slots.length)
      let slots = this.#cached.get(block)
      if (slots === undefined) {
        slots = slotsOf(block)
        this.#cached.set(block, slots)
      }
      for (const slot of slots) this.slots.push(slot)
    }
    return first
  }
}

/** Index of the first block that stands at this place in the log, or after it. */
function firstFrom(blocks: readonly Block[], place: number): number {
  let [low, high] = [0, blocks.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((blocks[middle]?.index ?? 0) < place) low = middle + 1
    else high = middle
  }
  return low
}
