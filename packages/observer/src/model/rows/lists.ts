import { GATEWAY } from '@meup/protocol'
import type { Block } from './blocks.js'
import { type Group, type GroupOptions, Groups } from './groups.js'
import type { Totals } from './questions.js'
import type { Slot, Sources } from './row.js'
import { type CreateSlots, RowList } from './row-list.js'
import { createSlotsInBatches, getOrigin } from './slots.js'
import { createTimedSlots, withOpenContexts } from './trace.js'

/** A column with the runs and events of one participant; `null` for the column with all messages. */
export type Lane = Group<string | null>
/** A question, or a run without one, with everything that it caused; the key is its id. */
export type QuestionGroup = Group<string>
type Rows = RowList | Groups<string | null> | Groups<string>

/** Rows that were created in advance, by the list that shows them and by their block (message, run or event). */
export type Prepared = ReadonlyMap<Rows, Map<Block, readonly Slot[]>>

/** Maximum number of blocks (messages, runs, events) whose rows are created at once; with more, `work` does it in steps. */
const maxBlocksAtOnce = 2000
/** Number of blocks between two checks of the time left in a frame. */
const blocksPerStep = 16

/** The rows of each view. Only views in use are kept up to date. */
export class Lists {
  readonly stream: RowList
  readonly #blocks: () => readonly Block[]
  readonly sources: Sources
  #lanes: Groups<string | null> | undefined
  #questions: Groups<string> | undefined
  /** Calls, errors, tokens and cost of each block, which `countQuestion` caches until the block changes. */
  readonly totals = new WeakMap<Block, Totals>()
  /** Creates all rows again in steps, after a view setting has changed; until it is done, the previous rows are shown. */
  #renewal: Generator<undefined, Prepared> | undefined
  /** Blocks that changed since `#renewal` began: their rows from it are outdated. */
  readonly #touched = new Set<Block>()

  /** `blocks` returns all messages, runs and events of the space, in log order. */
  constructor(blocks: () => readonly Block[], sources: Sources) {
    this.#blocks = blocks
    this.sources = sources
    this.stream = new RowList(blocks, sources, createSlotsInBatches)
  }

  /** The lanes, the conversation first. Kept up to date from the first access on. */
  get lanes(): readonly Lane[] {
    this.#lanes ??= this.#newGroups(getOwner, createSlotsInBatches)
    const lanes = this.#lanes.all
    return [...lanes.filter(({ key }) => key === null), ...lanes.filter(({ key }) => key !== null)]
  }

  /** Questions with everything that they caused. Kept up to date from the first access on. */
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

  /** Frees the rows of a view that is not shown any more. */
  drop(view: 'lanes' | 'questions'): void {
    if (view === 'lanes') this.#lanes = undefined
    else this.#questions = undefined
  }

  /** Must be called with new and changed blocks (messages, runs, events): their rows are created again. */
  touch(blocks: readonly Block[]): void {
    if (this.isBehind) for (const block of blocks) this.#touched.add(block)
    for (const block of blocks) this.totals.delete(block)
    for (const list of this.#kept) list.touch(blocks)
  }

  /** Must be called after blocks were removed from the list. Keeps the rows of the other blocks. */
  shorten(): void {
    for (const list of this.#kept) list.shorten()
    if (this.isBehind) this.renew()
  }

  /** Creates all rows again. If there are many, leaves that to `work`, and the previous rows are shown until then. */
  renew(): void {
    const blocks = this.#blocks()
    if (blocks.length <= maxBlocksAtOnce) this.clear()
    else {
      this.#touched.clear()
      this.#renewal = this.prepare([...blocks], this.sources, blocksPerStep)
    }
  }

  /** Whether outdated rows are still shown. */
  get isBehind(): boolean {
    return this.#renewal !== undefined
  }

  /** Continues to recreate rows until done or out of time; returns `true` if done. */
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

  /** Starts over, because all blocks may have changed. `prepared`: rows that are up to date already. */
  clear(prepared?: Prepared): void {
    this.#renewal = undefined
    for (const list of this.#kept) list.clear(prepared?.get(list))
  }

  /**
   * Creates the rows of these blocks for all lists, but does not show them: `clear` does. Yields after every `perStep` blocks.
   */
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

/** The participant in whose lane a block is, `null` for messages; `undefined` for events of the gateway, joins and leaves. */
function getOwner(block: Block, { getContext }: Sources): string | null | undefined {
  const { type, envelope } = block
  if (type === 'message') return null
  if (type === 'arrivals') return undefined
  if (type === 'event') return envelope.from === GATEWAY ? undefined : envelope.from
  const view = getContext(block.root)
  return view?.owner ?? view?.contributors[0] ?? envelope.from
}
