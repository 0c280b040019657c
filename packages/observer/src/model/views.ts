import { contextRoot, type Envelope } from '@meup/protocol'
import {
  type ContextFold,
  type ContextView,
  createContextFold,
  createProposalFoldWith,
  createTranscript,
  type ProposalFold,
} from '@meup/views'
import { Blocks } from './blocks.js'
import type { Block } from './entry.js'
import { asSaid } from './text.js'

/** Characters of messages that the conversation may still be told about. */
const remembered = 16e6

/** Whether the fold begins anew with a context that it knew before. */
const isForgotten = (view: ContextView, known: ContextView | undefined): boolean =>
  view.state === 'free' && known !== undefined && known.state !== 'free'

/** Is told which contexts begin and end. */
interface Listener {
  began(context: string): void
  ended(context: string): void
}

/** What is known of a part of the log: folds over it, and the blocks in which it shows. */
export class Views {
  readonly #contexts: ContextFold
  /** The fold forgets contexts that are long over; their runs may still be shown. */
  readonly #known = new Map<string, ContextView>()
  readonly proposals: ProposalFold = createProposalFoldWith(asSaid)
  readonly blocks = new Blocks()
  /** Runs that go on, and whose they are. */
  readonly runs = new Map<string, string>()
  readonly #transcript = createTranscript(remembered)
  readonly #folding: Listener

  /** `isKnown` tells whether an envelope of this id was loaded. */
  constructor(folding: Listener, isKnown: (id: string) => boolean) {
    this.#contexts = createContextFold({ isKnown })
    this.#folding = folding
  }

  /** Also a welcome, which tells of contexts that are open. */
  apply(envelope: Envelope): void {
    for (const view of this.#contexts.apply(envelope).contexts) {
      const { context, state, owner } = view
      if (!isForgotten(view, this.#known.get(context))) this.#known.set(context, view)
      this.#turn(context, state, owner)
      this.blocks.touchContext(context)
    }
    for (const { id } of this.proposals.apply(envelope)) this.blocks.touchProposal(id)
    const messages = this.#transcript.apply(envelope)
    if (envelope.seq !== undefined) this.blocks.take(envelope, messages)
  }

  contextOf(context: string): ContextView | undefined {
    return this.#known.get(context)
  }

  /** Every context that was not forgotten. */
  get contexts(): Iterable<string> {
    return this.#known.keys()
  }

  /** Drops what began before this envelope, but for what goes on and these. */
  forget(seq: number, isNeeded: (block: Block) => boolean): void {
    this.blocks.forget(seq, (block) =>
      block.type === 'context' ? this.runs.has(block.root) : isNeeded(block),
    )
    for (const context of this.#known.keys()) {
      if (!this.blocks.has(contextRoot(context)) && !this.runs.has(contextRoot(context)))
        this.#known.delete(context)
    }
  }

  #turn(context: string, state: string, owner: string | null): void {
    const isRun = contextRoot(context) === context
    if (state === 'open') {
      this.#folding.began(context)
      if (isRun && owner !== null) this.runs.set(context, owner)
    } else {
      this.#folding.ended(context)
      this.runs.delete(context)
    }
  }
}
