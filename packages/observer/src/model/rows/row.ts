import type {
  ContextView,
  ProposalView,
  Reference,
  Result,
  ThoughtSummary,
  TranscriptMessage,
} from '@meup/folds'
import type { Envelope } from '@meup/protocol'
import type { CallSummary } from '../call-summary.js'
import type { LogFilter } from '../filter/log-filter.js'
import type { Block, BlockEntry } from './blocks.js'
import type { Folding, Level } from './folding.js'

/** One line of the stream. Replaced on each change. */
export type LogRow = MessageRow | HeadingRow | SaidRow | CallRow | BatchRow | ProposalRow | EndRow | MoreRow

interface Placed {
  /** Stable while the row exists. */
  readonly key: string
  /** The envelope that is inspected when the row is selected. */
  readonly envelope: Envelope
  /** 0 outside of runs. */
  readonly depth: number
  /** Pixels, measured or estimated. */
  height: number
  /** Id of its block's origin; see `findOrigin`. */
  readonly origin: string | undefined
}

export interface MessageRow extends Placed {
  readonly type: 'message'
  readonly message: TranscriptMessage
  /** The complete text. */
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
export interface HeadingRow extends Placed, RowHeading {
  readonly type: 'heading'
}

export interface RowHeading
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
  /** The opening text. */
  readonly opening: string | null
  /** The conclusion, or the reason of the cancellation. */
  readonly ending: string | null
  readonly isWithheld: boolean
  /** Whether this reader has muted the owner's thoughts. */
  readonly isMuted: boolean
  readonly references: readonly Reference[]
  /** Ids of the proposals that are based on it or were made in it. */
  readonly proposals: readonly string[]
  /** From 0 to 1, as stated by the owner. */
  readonly confidence: number | null
  /** Id of the answer of the run. */
  readonly answer: string | null
  /** Id of the envelope that ended the context; `null` = none. */
  readonly end: string | null
}

export interface SaidRow extends Placed {
  readonly type: 'said'
  /** The kind of thought or message, if more specific than its tone: `hypothesis`, `deploy.asked`. */
  readonly name: string
  /** `null` = withheld. */
  readonly text: string | null
  readonly tone: 'thought' | 'plan' | 'event' | 'problem'
  /** Whether the sender is not the owner of the run. */
  readonly isByAnother: boolean
  /** Whether its context had already ended [MEUP-2.7]. */
  readonly isLate: boolean
  /** Author of the thought that it answers. */
  readonly replyTo: string | null
}

export interface CallRow extends Placed {
  readonly type: 'call'
  readonly tool: string
  readonly parameters: string
  readonly summary: CallSummary
  /** `null` = none given, or muted by this reader. */
  readonly rationale: string | null
  readonly result: Result | null
  /** `180 lines`; `''` for at most one line. */
  readonly size: string
  /** The call, or the command that it ran, failed. */
  readonly hasFailed: boolean
  /** Exit code of a command, if its tool reports one. */
  readonly exitCode: number | undefined
  /** The response. */
  readonly response: Envelope | null
  /** Time of the response. */
  readonly answeredAt: string | null
  /** The fulfilling participant and the proposer of a fulfilled proposal. */
  readonly approvedBy: string | null
  readonly proposedBy: string | null
  /** Whether it is an elicitation that waits for the caller. */
  readonly isOpenElicitation: boolean
}

/** Calls that were sent together, shown side by side. */
export interface BatchRow extends Placed {
  readonly type: 'batch'
  readonly calls: readonly CallRow[]
}

export interface ProposalRow extends Placed {
  readonly type: 'proposal'
  readonly proposal: ProposalView
  readonly summary: CallSummary
}

/** The result of an open context. */
export interface EndRow extends Placed {
  readonly type: 'end'
  readonly text: string
  readonly isCancelled: boolean
}

/** A placeholder for hidden lines of a context. */
export interface MoreRow extends Placed {
  readonly type: 'more'
  readonly context: string
  readonly count: number
}

/** A row before its content is needed: its position and estimated height. `rowOf` returns the content. */
export interface Slot {
  readonly type: LogRow['type']
  /** Stable while the row exists. */
  readonly key: string
  /** The envelope that is inspected when the row is selected. */
  readonly envelope: Envelope
  /** 0 outside of runs. */
  readonly depth: number
  /** Pixels, measured or estimated. */
  height: number
  /** Id of its block's origin; see `findOrigin`. */
  origin: string | undefined
  readonly of: Block | BlockEntry
  /** The context that a heading opens, or with hidden lines. */
  readonly context?: string | undefined
  /** The calls of a batch. */
  readonly calls?: readonly Slot[] | undefined
  /** Number of hidden lines. */
  readonly count?: number | undefined
  /** For a message with several rows, the shown part. */
  readonly part?: number | undefined
  /** Its content, once created. */
  row: LogRow | undefined
}

/** The sources of rows. */
export interface Sources {
  readonly folding: Pick<Folding, 'getLevel' | 'choices'>
  getContext(context: string): ContextView | undefined
  /** Thoughts of a context that were not sent. */
  getSummary(context: string): ThoughtSummary | undefined
  /** Whether the run of an open context continues: its end may not be loaded yet. */
  isGoingOn(context: string): boolean
  getProposal(id: string): ProposalView | undefined
  /** Whether this is an elicitation that waits for its caller. */
  isOpenElicitation(id: string): boolean
  isLoaded(id: string): boolean
  /** Id of an envelope's origin; see `findOrigin`. */
  getOrigin(envelope: Envelope): string | undefined
  /** Author of the thought that another one answers; `undefined` if not loaded. */
  getAnsweredThinker(envelope: Envelope): string | undefined
  /** Whether this reader has muted a participant's thoughts. */
  isMuted(participant: string): boolean
  /** This reader's filter. */
  readonly logFilter: Pick<LogFilter, 'isShown' | 'isHeadingOf'>
}
