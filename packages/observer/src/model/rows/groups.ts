import type { Block } from './blocks.js'
import type { Slot, Sources } from './row.js'
import { type CreateSlots, RowList } from './row-list.js'

/** Blocks (messages, runs, events) with the same key, such as the participant or the question, in log order. */
export interface Group<Key> {
  readonly key: Key
  readonly list: RowList
  readonly blocks: readonly Block[]
  /** Number of blocks: runs, messages and events. */
  readonly size: number
}

interface Filled<Key> extends Group<Key> {
  blocks: Block[]
  /** Whether the group has visible rows; `undefined` if not determined since its last change. */
  isThere: boolean | undefined
}

export interface GroupOptions<Key> {
  readonly blocks: () => readonly Block[]
  readonly sources: Sources
  /** The key of the group that a block belongs to, such as its participant; `undefined` if it is in no group. */
  readonly keyOf: (block: Block, sources: Sources) => Key | undefined
  readonly createSlots: CreateSlots
}

/** Blocks grouped by a key, such as the participant; each group has its own rows. */
export class Groups<Key> {
  readonly #options: GroupOptions<Key>
  readonly #groups = new Map<Key, Filled<Key>>()
  /** Group of each assigned block; `undefined` if it is in none. */
  #groupByBlock = new Map<Block, Filled<Key> | undefined>()
  /** Number of blocks that were assigned to groups so far; later ones are assigned on the next access. */
  #assigned = 0
  #prepared: Map<Block, readonly Slot[]> | undefined

  constructor(options: GroupOptions<Key>) {
    this.#options = options
  }

  /** Groups with visible rows, ordered by their first blocks. */
  get all(): readonly Group<Key>[] {
    const blocks = this.#options.blocks()
    for (; this.#assigned < blocks.length; this.#assigned++) {
      const block = blocks[this.#assigned]
      if (block !== undefined) this.#assign(block)
    }
    this.#prepared = undefined
    const there = [...this.#groups.values()].filter((group) => {
      group.isThere ??= isThere(group)
      return group.isThere
    })
    return there.sort((one, other) => (one.blocks[0]?.index ?? 0) - (other.blocks[0]?.index ?? 0))
  }

  /** Must be called with new and changed blocks (messages, runs, events): their rows are created again. */
  touch(blocks: readonly Block[]): void {
    for (const block of blocks) {
      const group = this.#groupByBlock.get(block)
      if (group === undefined) continue
      group.list.touch([block])
      group.isThere = undefined
    }
  }

  /** Creates the rows of a block, but does not show them. `sources`: the state to create them from. */
  slotsFor(block: Block, sources: Sources): readonly Slot[] {
    const key = this.#options.keyOf(block, sources)
    return key === undefined ? [] : this.#get(key).list.slotsFor(block, sources)
  }

  /** Must be called after blocks were removed from the list. Keeps the rows of the other blocks. */
  shorten(): void {
    const kept = new Set(this.#options.blocks())
    for (const block of this.#groupByBlock.keys()) if (!kept.has(block)) this.#groupByBlock.delete(block)
    for (const [key, group] of this.#groups) {
      group.blocks = group.blocks.filter((block) => kept.has(block))
      if (group.blocks.length === 0) this.#groups.delete(key)
      group.list.shorten()
      group.isThere = undefined
    }
    const next = this.#options.blocks().findIndex((block) => !this.#groupByBlock.has(block))
    this.#assigned = next === -1 ? kept.size : next
  }

  /** Starts over, because all blocks may have changed. `prepared`: rows that are up to date already. */
  clear(prepared?: Map<Block, readonly Slot[]>): void {
    this.#prepared = prepared
    for (const group of this.#groups.values()) {
      group.blocks = []
      group.list.clear()
      group.isThere = undefined
    }
    this.#groupByBlock = new Map()
    this.#assigned = 0
  }

  #assign(block: Block): void {
    const { keyOf, sources } = this.#options
    const key = keyOf(block, sources)
    const group = key === undefined ? undefined : this.#get(key)
    this.#groupByBlock.set(block, group)
    if (group === undefined) return
    group.blocks.push(block)
    group.list.touch([block])
    group.isThere = undefined
    const known = this.#prepared?.get(block)
    if (known !== undefined) group.list.setSlots(block, known)
  }

  #get(key: Key): Filled<Key> {
    const known = this.#groups.get(key)
    if (known !== undefined) return known
    const { sources, createSlots } = this.#options
    const group: Filled<Key> = {
      key,
      blocks: [],
      isThere: undefined,
      list: new RowList(() => group.blocks, sources, createSlots),
      get size() {
        return group.blocks.length
      },
    }
    this.#groups.set(key, group)
    return group
  }
}

/** Whether a group has a visible row: fast, because usually one of its first blocks has one. */
const isThere = <Key>({ blocks, list }: Filled<Key>): boolean =>
  blocks.some((block) => list.slotsFor(block).length > 0)
