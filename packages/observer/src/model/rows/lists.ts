import { GATEWAY } from '@meup/protocol'
import type { Block } from './blocks.js'
import { type Group, type GroupOptions, Groups } from './groups.js'
import type { Totals } from './questions.js'
import type { Slot, Sources } from './row.js'
import { type CreateSlots, RowList } from './row-list.js'
import { createSlotsInBatches, getOrigin } from './slots.js'
import { createTimedSlots, withOpenContexts } from './trace.js'

/** The thoughts and acts of one participant; `null` = the conversation. */
export type Lane = Group<string | null>
/** A question, or a run without one, with everything that it led to, by its id. */
export type QuestionGroup = Group<string>
type Rows = RowList | Groups<string | null> | Groups<string>

/** Rows that are prepared before blocks are shown, by list. */
export type Prepared = ReadonlyMap<Rows, Map<Block, readonly Slot[]>>

/** Blocks whose rows are created at once. */
const maxBlocksAtOnce = 2000
/** Blocks between two checks of the clock. */
const blocksPerStep = 16

/** The rows of each view. Hidden views are not kept up to date. */
export class Lists {
  readonly stream: RowList
  readonly #blocks: () => readonly Block[]
  readonly sources: Sources
  #lanes: Groups<string | null> | undefined
  #questions: Groups<string> | undefined
  /** Totals of blocks that are unchanged: see `countQuestion`. */
  readonly totals = new WeakMap<Block, Totals>()
  /** Recreates all rows gradually, while the previous ones are shown. */
  #renewal: Generator<undefined, Prepared> | undefined
  /** Blocks that changed during the renewal. */
  readonly #touched = new Set<Block>()

  /** `blocks`: in log order. */
  constructor(blocks: () => readonly Block[], sources: Sources) {
    this.#blocks = blocks
    this.sources = sources
    this.stream = new RowList(blocks, sources, createSlotsInBatches)
  }

  /** The conversation first; maintained from first use. */
  get lanes(): readonly Lane[] {
    this.#lanes ??= this.#newGroups(getOwner, createSlotsInBatches)
    const lanes = this.#lanes.all
    return [...lanes.filter(({ key }) => key === null), ...lanes.filter(({ key }) => key !== null)]
  }

  /** Questions that led to work; kept from the first access on. */
  get questions(): readonly QuestionGroup[] {
    this.#questions ??= this.#newGroups(
      (block, sources) => (block.type === 'arrivals' ? undefined : getOrigin(block, sources)),
      createTimedSlots,
      withOpenContexts(this.sources),
    )
    return this.#questions.all
  }

  #newGroups<Key>(
    keyOf: GroupOptions<Key>['keyOf'],
    createSlots: CreateSlots,
    sources = this.sources,
  ): Groups<Key> {
    return new Groups({ blocks: this.#blocks, sources, keyOf, createSlots })
  }

  /** Frees the rows of a view that is no longer shown. */
  drop(view: 'lanes' | 'questions'): void {
    if (view === 'lanes') this.#lanes = undefined
    else this.#questions = undefined
  }

  /** Call for new or changed blocks. */
  touch(blocks: readonly Block[]): void {
    if (this.isBehind) for (const block of blocks) this.#touched.add(block)
    for (const block of blocks) this.totals.delete(block)
    for (const list of this.#kept) list.touch(blocks)
  }

  /** Call after blocks were removed; the others are unchanged. */
  shorten(): void {
    for (const list of this.#kept) list.shorten()
    if (this.isBehind) this.renew()
  }

  /** Invalidates all rows. If there are many, the previous rows show until `work` has replaced them. */
  renew(): void {
    const blocks = this.#blocks()
    if (blocks.length <= maxBlocksAtOnce) this.clear()
    else {
      this.#touched.clear()
      this.#renewal = this.prepare([...blocks], this.sources, blocksPerStep)
    }
  }

  /** Whether outdated rows are shown. */
  get isBehind(): boolean {
    return this.#renewal !== undefined
  }

  /** Continues the renewal until the time is up. Returns whether it is complete. */
  work(isTimeUp: () => boolean): boolean {
    while (this.#renewal !== undefined) {
      const { done, value } = this.#renewal.next()
      if (done === true) {
        for (const known of value.values()) for (const block of this.#touched) known.delete(block)
        this.clear(value)
      } else if (isTimeUp()) break
    }
    return !this.isBehind
  }

  /** Replaces all blocks. `prepared`: known rows. */
  clear(prepared?: Prepared): void {
    this.#renewal = undefined
    for (const list of this.#kept) list.clear(prepared?.get(list))
  }

  /** The rows of these blocks by these sources, `perStep` blocks at a time. */
  *prepare(blocks: readonly Block[], sources: Sources, perStep: number): Generator<undefined, Prepared> {
    const prepared = new Map(this.#kept.map((list) => [list, new Map<Block, readonly Slot[]>()]))
    for (const [list, known] of prepared) {
      for (const [index, block] of blocks.entries()) {
        known.set(block, list.slotsFor(block, sources))
        if (index % perStep === 0) yield
      }
    }
    return prepared
  }

  get #kept(): readonly Rows[] {
    return [this.stream, this.#lanes ?? [], this.#questions ?? []].flat()
  }
}

/** The owner of a block's lane; `undefined` = none, as for lines of the gateway, joins and leaves. */
function getOwner(block: Block, { getContext }: Sources): string | null | undefined {
  const { type, envelope } = block
  if (type === 'message') return null
  if (type === 'arrivals') return undefined
  if (type === 'event') return envelope.from === GATEWAY ? undefined : envelope.from
  const view = getContext(block.root)
  return view?.owner ?? view?.contributors[0] ?? envelope.from
}
