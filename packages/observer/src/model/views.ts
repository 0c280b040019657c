import { contextRoot, type Envelope } from '@meup/protocol'
import {
  type ContextFold,
  createContextFold,
  createProposalFoldWith,
  createTranscript,
  type ProposalFold,
} from '@meup/views'
import { Blocks } from './blocks.js'
import type { Folding } from './folding.js'
import { asSaid } from './text.js'

/** Characters of messages that the conversation may still be told about. */
const remembered = 16e6

/** What is known of a part of the log: folds over it, and the blocks in which it shows. */
export class Views {
  readonly contexts: ContextFold
  readonly proposals: ProposalFold = createProposalFoldWith(asSaid)
  readonly blocks = new Blocks()
  /** Runs that go on, and whose they are. */
  readonly runs = new Map<string, string>()
  readonly #transcript = createTranscript(remembered)
  readonly #folding: Folding

  /** `isKnown` tells whether an envelope of this id was loaded. */
  constructor(folding: Folding, isKnown: (id: string) => boolean) {
    this.contexts = createContextFold({ isKnown })
    this.#folding = folding
  }

  /** Also a welcome, which tells of contexts that are open. */
  apply(envelope: Envelope): void {
    const { contexts } = this.contexts.apply(envelope)
    for (const { context, state, owner } of contexts) {
      this.#turn(context, state, owner)
      this.blocks.touchContext(context)
    }
    for (const { id } of this.proposals.apply(envelope)) this.blocks.touchProposal(id)
    const messages = this.#transcript.apply(envelope)
    if (envelope.seq !== undefined) this.blocks.take(envelope, messages)
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
