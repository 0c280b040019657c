import type { Message } from '@meup/folds'
import type { Envelope } from '@meup/protocol'

/** What stands on its own inside of a block, in log order. */
export type Entry = SaidEntry | NestedEntry | CallEntry | ProposalEntry

/** A thought, a chat in a context, a decision about it, or anything else that has a line of its own. */
interface SaidEntry {
  readonly type: 'said'
  readonly envelope: Envelope
}

/** A start that opens a context in another. */
interface NestedEntry {
  readonly type: 'nested'
  readonly envelope: Envelope
  readonly context: string
}

/** A request, and what came of it. */
export interface CallEntry {
  readonly type: 'call'
  readonly envelope: Envelope
  response?: Envelope
  /** Whether it failed. */
  isError?: boolean
}

interface ProposalEntry {
  readonly type: 'proposal'
  readonly envelope: Envelope
}

/** What follows each other in the stream: a message, all of one run, or a single event outside of any. */
export type Block = MessageBlock | ContextBlock | EventBlock | ArrivalsBlock

interface Placed {
  /** Its first. */
  readonly envelope: Envelope
  /** Its place among the blocks. */
  index: number
}

export interface MessageBlock extends Placed {
  readonly type: 'message'
  message: Message
}

/** A run and what is nested in it, or a free path. */
export interface ContextBlock extends Placed {
  readonly type: 'context'
  readonly root: string
  readonly entries: Entry[]
}

interface EventBlock extends Placed {
  readonly type: 'event'
  readonly entry: Entry
}

/** Who came and went, with nothing in between. */
export interface ArrivalsBlock extends Placed {
  readonly type: 'arrivals'
  readonly envelopes: Envelope[]
}
