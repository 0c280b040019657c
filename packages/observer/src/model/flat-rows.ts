import type { Block } from './entry.js'
import type { Row } from './row.js'

/** The rows of all blocks, one after the other. What stands before a change is left as it is. */
export class FlatRows {
  readonly rows: Row[] = []
  /** Changes whenever the rows do. */
  version = 0
  readonly #cached = new Map<Block, readonly Row[]>()
  /** Index of the first row of each block. */
  readonly #starts: number[] = []
  /** Index of the first block whose rows are not as they are here. */
  #from = 0

  /** These blocks are new or different. */
  touch(blocks: readonly Block[]): void {
    for (const block of blocks) {
      this.#cached.delete(block)
      this.#from = Math.min(this.#from, block.index)
    }
  }

  /** Other blocks, or all of them different. */
  clear(): void {
    this.#cached.clear()
    this.#from = 0
  }

  /** Gives the index of the first row that may be another one than before. */
  update(blocks: readonly Block[], rowsOf: (block: Block) => readonly Row[]): number {
    const first = this.#starts[this.#from] ?? this.rows.length
    if (this.#from >= blocks.length && this.#starts.length <= blocks.length) return this.rows.length
    this.rows.length = first
    this.#starts.length = Math.min(this.#from, this.#starts.length)
    for (const block of blocks.slice(this.#from)) {
      this.#starts.push(this.rows.length)
      let rows = this.#cached.get(block)
      if (rows === undefined) {
        rows = rowsOf(block)
        this.#cached.set(block, rows)
      }
      for (const row of rows) this.rows.push(row)
    }
    this.#from = blocks.length
    this.version++
    return first
  }
}
