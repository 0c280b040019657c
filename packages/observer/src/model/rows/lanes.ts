import { GATEWAY } from '@meup/protocol'
import type { Block } from './blocks.js'
import type { Slot, Sources } from './row.js'
import { RowList } from './row-list.js'
import { createSlots } from './slots.js'

/** What one participant thinks and does, in its order. */
export interface Lane {
  /** `null`: the conversation. */
  readonly owner: string | null
  readonly list: RowList
  /** How many runs, calls and messages there are in it. */
  readonly size: number
}

interface Filled extends Lane {
  blocks: Block[]
}

/** One lane per participant that reasons or calls tools, after one for the conversation. */
export class Lanes {
  readonly #blocks: () => readonly Block[]
  readonly #sources: Sources
  readonly #lanes = new Map<string | null, Filled>()
  /** `undefined`: it is in none. */
  #laneByBlock = new Map<Block, Filled | undefined>()
  /** Blocks that have their lane. */
  #assigned = 0
  #prepared: Map<Block, readonly Slot[]> | undefined

  constructor(blocks: () => readonly Block[], sources: Sources) {
    this.#blocks = blocks
    this.#sources = sources
  }

  /** Those in which there is something to see: the conversation, then the others in the order in which they were met. */
  get all(): readonly Lane[] {
    const blocks = this.#blocks()
    for (; this.#assigned < blocks.length; this.#assigned++) {
      const block = blocks[this.#assigned]
      if (block !== undefined) this.#assign(block)
    }
    this.#prepared = undefined
    const first = this.#lanes.get(null)
    const others = [...this.#lanes.values()].filter((lane) => lane !== first)
    return [...(first ? [first] : []), ...others].filter(isThere)
  }

  /** These blocks are new or different. */
  touch(blocks: readonly Block[]): void {
    for (const block of blocks) this.#laneByBlock.get(block)?.list.touch([block])
  }

  /** The rows of a block by what these sources say. */
  slotsFor(block: Block, sources: Sources): readonly Slot[] {
    const owner = getOwner(block, sources)
    return owner === undefined
      ? []
      : (this.#lanes.get(owner) ?? this.#open(owner)).list.slotsFor(block, sources)
  }

  /** Some of the blocks are gone; the others are as they were. */
  shorten(): void {
    const kept = new Set(this.#blocks())
    for (const block of this.#laneByBlock.keys()) if (!kept.has(block)) this.#laneByBlock.delete(block)
    for (const lane of this.#lanes.values()) {
      lane.blocks = lane.blocks.filter((block) => kept.has(block))
      lane.list.shorten()
    }
    const next = this.#blocks().findIndex((block) => !this.#laneByBlock.has(block))
    this.#assigned = next === -1 ? kept.size : next
  }

  /** Other blocks, or all of them different. `prepared`: rows that are known already. */
  clear(prepared?: Map<Block, readonly Slot[]>): void {
    this.#prepared = prepared
    for (const lane of this.#lanes.values()) {
      lane.blocks = []
      lane.list.clear()
    }
    this.#laneByBlock = new Map()
    this.#assigned = 0
  }

  #assign(block: Block): void {
    const owner = getOwner(block, this.#sources)
    if (owner === undefined) {
      this.#laneByBlock.set(block, undefined)
      return
    }
    const lane = this.#lanes.get(owner) ?? this.#open(owner)
    lane.blocks.push(block)
    lane.list.touch([block])
    const known = this.#prepared?.get(block)
    if (known !== undefined) lane.list.setSlots(block, known)
    this.#laneByBlock.set(block, lane)
  }

  #open(owner: string | null): Filled {
    const list = new RowList(
      () => lane.blocks,
      this.#sources,
      (...given) => inBatches(createSlots(...given)),
    )
    const lane: Filled = {
      owner,
      blocks: [],
      list,
      get size() {
        return lane.blocks.length
      },
    }
    this.#lanes.set(owner, lane)
    return lane
  }
}

/** Whether there is something to see in it: as a rule its first block shows, and the others need not be looked at. */
function isThere({ blocks: [first], list }: Filled): boolean {
  return first !== undefined && (list.slotsFor(first).length > 0 || list.slots.length > 0)
}

/** Whose lane it is in; `undefined`: in none, such as the lines of the gateway, and who came and went. */
function getOwner(block: Block, { getContext }: Sources): string | null | undefined {
  const { type, envelope } = block
  if (type === 'message') return null
  if (type === 'arrivals') return undefined
  if (type === 'event') return envelope.from === GATEWAY ? undefined : envelope.from
  const view = getContext(block.root)
  return view?.owner ?? view?.contributors[0] ?? envelope.from
}

/** Groups parallel calls, so that they show side by side. */
function inBatches(slots: readonly Slot[]): readonly Slot[] {
  const arranged: Slot[] = []
  for (const slot of slots) {
    const last = arranged.at(-1)
    if (last === undefined || !isTogether(last, slot)) {
      arranged.push(slot)
      continue
    }
    const calls = [...(last.calls ?? [last]), slot]
    arranged[arranged.length - 1] = { ...last, type: 'batch', key: last.key, calls }
  }
  return arranged
}

function isTogether({ type, envelope }: Slot, next: Slot): boolean {
  if ((type !== 'call' && type !== 'batch') || next.type !== 'call') return false
  const { parallelGroup, context } = envelope
  return (
    parallelGroup !== undefined &&
    parallelGroup === next.envelope.parallelGroup &&
    context === next.envelope.context
  )
}
