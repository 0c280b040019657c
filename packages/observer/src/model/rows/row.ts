import type { ContextView, Message, ProposalView, Reference, Result, ThoughtSummary } from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import type { CallSummary } from '../call-summary.js'
import type { LogFilter } from '../filter/log-filter.js'
import type { Block, Entry } from './blocks.js'
import type { Folding, Level } from './folding.js'

/** One line of the stream. It is replaced with each change. */
export type Row = MessageRow | HeadingRow | SaidRow | CallRow | BatchRow | ProposalRow | EndRow | MoreRow

interface Placed {
  /** The same for as long as the row is there. */
  readonly key: string
  /** What is looked at when the row is chosen. */
  readonly envelope: Envelope
  /** 0 for what stands in no run. */
  readonly depth: number
  /** Pixels: what it was measured to be, or about what it will be. */
  height: number
  /** Id of what its block goes back to; see `findOrigin`. */
  readonly origin: string | undefined
}

export interface MessageRow extends Placed {
  readonly type: 'message'
  readonly message: Message
  /** All of it. */
  readonly text: string
  readonly part: MessagePart
}

/** The part of a message that a row shows: a long message has several rows. */
export interface MessagePart {
  readonly text: string
  readonly isFirst: boolean
  readonly isLast: boolean
}

/** The first line of a run or of a nested context. */
export interface HeadingRow extends Placed, Heading {
  readonly type: 'heading'
}

export interface Heading
  extends Pick<
    ContextView,
    'context' | 'state' | 'reasoningVisible' | 'hiddenBy' | 'startedAt' | 'expiresAt' | 'duration'
  > {
  readonly owner: string
  readonly level: Level
  readonly isNested: boolean
  readonly isLive: boolean
  readonly thoughts: number
  /** Thoughts that were not sent. */
  readonly summary: ThoughtSummary | undefined
  readonly calls: number
  /** A summary of the calls: `edited 1 file, ran 2 commands`. */
  readonly did: string
  readonly late: number
  /** What it began with. */
  readonly opening: string | null
  /** What it came to, or why it was broken off. */
  readonly ending: string | null
  readonly isWithheld: boolean
  /** Whether this reader does not want to see what the owner thinks. */
  readonly isMuted: boolean
  readonly references: readonly Reference[]
  /** Ids of the proposals that are based on it or were made in it. */
  readonly proposals: readonly string[]
  /** From 0 to 1, as the owner says. */
  readonly confidence: number | null
  /** Id of the answer that the run led to. */
  readonly answer: string | null
  /** Id of what ended it. */
  readonly end: string | null
}

export interface SaidRow extends Placed {
  readonly type: 'said'
  /** What kind of thought or message it is, where that says more than its tone: `hypothesis`, `deploy.asked`. */
  readonly name: string
  /** `null`: it was withheld. */
  readonly text: string | null
  readonly tone: 'thought' | 'plan' | 'event' | 'problem'
  /** Whether another participant than the owner of the run says it. */
  readonly isByAnother: boolean
  /** Whether its context was over already [MEUP-2.7]. */
  readonly isLate: boolean
  /** Author of the thought that it answers. */
  readonly replyTo: string | null
}

export interface CallRow extends Placed {
  readonly type: 'call'
  readonly tool: string
  readonly parameters: string
  readonly summary: CallSummary
  /** `null`: none was given, or this reader does not want to see it. */
  readonly rationale: string | null
  readonly result: Result | null
  /** `180 lines`; `''` = it has one line, or none. */
  readonly size: string
  /** The call failed, or the command that it ran did. */
  readonly hasFailed: boolean
  /** Of a command, as far as its tool says. */
  readonly exitCode: number | undefined
  /** What brought it. */
  readonly response: Envelope | null
  /** When the result came. */
  readonly answeredAt: string | null
  /** The participant that fulfils another one's proposal, and the one that made it. */
  readonly approvedBy: string | null
  readonly proposedBy: string | null
  /** Whether it is a question about a call, and waits for its caller. */
  readonly isOpenElicitation: boolean
}

/** Calls that were sent off together, where they stand side by side. */
export interface BatchRow extends Placed {
  readonly type: 'batch'
  readonly calls: readonly CallRow[]
}

export interface ProposalRow extends Placed {
  readonly type: 'proposal'
  readonly proposal: ProposalView
  readonly summary: CallSummary
}

/** What an open context came to. */
export interface EndRow extends Placed {
  readonly type: 'end'
  readonly text: string
  readonly isCancelled: boolean
}

/** Stands for the lines of a context that are not shown. */
export interface MoreRow extends Placed {
  readonly type: 'more'
  readonly context: string
  readonly count: number
}

/** A row before anybody has looked at it: where it stands and about how high it is. `rowOf` says what it shows. */
export interface Slot {
  readonly type: Row['type']
  /** The same for as long as the row is there. */
  readonly key: string
  /** What is looked at when the row is chosen. */
  readonly envelope: Envelope
  /** 0 for what stands in no run. */
  readonly depth: number
  /** Pixels: what it was measured to be, or about what it will be. */
  height: number
  /** Id of what its block goes back to; see `findOrigin`. */
  origin: string | undefined
  readonly of: Block | Entry
  /** The context that a heading opens, or that has hidden lines. */
  readonly context?: string | undefined
  /** What a batch is made of. */
  readonly calls?: readonly Slot[] | undefined
  /** Lines that are not shown. */
  readonly count?: number | undefined
  /** Of a message with several rows, which of its parts it shows. */
  readonly part?: number | undefined
  /** What it shows, once somebody has looked. */
  row: Row | undefined
}

/** What rows are made from. */
export interface Sources {
  readonly folding: Pick<Folding, 'getLevel' | 'choices'>
  getContext(context: string): ContextView | undefined
  /** How much was thought there that was not sent. */
  getSummary(context: string): ThoughtSummary | undefined
  /** Whether the run of an open context goes on: its end may not be loaded yet. */
  isGoingOn(context: string): boolean
  getProposal(id: string): ProposalView | undefined
  /** Whether this is a question about a call that waits for its caller. */
  isOpenElicitation(id: string): boolean
  isLoaded(id: string): boolean
  /** Id of what an envelope goes back to; see `findOrigin`. */
  getOrigin(envelope: Envelope): string | undefined
  /** Author of the thought that another one answers; `undefined` if that is not loaded. */
  getAnsweredThinker(envelope: Envelope): string | undefined
  /** Whether this reader does not want to see what a participant thinks. */
  isMuted(participant: string): boolean
  /** What of the log this reader wants to see. */
  readonly logFilter: Pick<LogFilter, 'isShown' | 'isHeadingOf'>
}
