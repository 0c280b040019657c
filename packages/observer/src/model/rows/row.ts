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

/** A line of the stream, immutable: a change replaces it. */
export type LogRow = MessageRow | HeadingRow | SaidRow | CallRow | BatchRow | ProposalRow | EndRow | MoreRow

interface Placed {
  /** Identifies the row as long as it exists. */
  readonly key: string
  /** The envelope that the inspector shows for this row. */
  readonly envelope: Envelope
  /** Depth of the context; 0 outside of runs. */
  readonly depth: number
  /** Height in pixels, measured or estimated. */
  height: number
  /** Id of the question or run that ultimately caused the row, see `findOrigin`. */
  readonly origin: string | undefined
}

export interface MessageRow extends Placed {
  readonly type: 'message'
  readonly message: TranscriptMessage
  /** Text of the whole message. */
  readonly text: string
  readonly part: MessagePart
}

/** The part of a message that a row shows; a long message has several rows. */
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
  /** Counts of thoughts that the gateway did not send. */
  readonly summary: ThoughtSummary | undefined
  readonly calls: number
  /** Summary of the calls, such as `edited 1 file, ran 2 commands`. */
  readonly did: string
  readonly late: number
  readonly opening: string | null
  /** Text of the conclusion or cancellation. */
  readonly ending: string | null
  readonly isWithheld: boolean
  /** Whether the reader has muted the owner. */
  readonly isMuted: boolean
  readonly references: readonly Reference[]
  /** Ids of proposals that the context led to. */
  readonly proposals: readonly string[]
  /** Confidence stated by the owner, from 0 to 1. */
  readonly confidence: number | null
  /** Id of the message that answers with the run's result. */
  readonly answer: string | null
  /** Id of the envelope that ended the context; `null` while it is open. */
  readonly end: string | null
}

export interface SaidRow extends Placed {
  readonly type: 'said'
  /** Kind of thought or message, if more specific than the tone: `hypothesis`, `deploy.asked`. */
  readonly name: string
  /** `null` if the gateway's guard withheld the text. */
  readonly text: string | null
  readonly tone: 'thought' | 'plan' | 'event' | 'problem'
  /** Whether the sender is not the run's owner. */
  readonly isByAnother: boolean
  /** Whether the envelope was sent after the end of its context [MEUP-2.7]. */
  readonly isLate: boolean
  /** Author of the thought that this one replies to. */
  readonly replyTo: string | null
}

export interface CallRow extends Placed {
  readonly type: 'call'
  readonly tool: string
  readonly parameters: string
  readonly summary: CallSummary
  /** `null` if there is none, or the reader has muted the caller. */
  readonly rationale: string | null
  readonly result: Result | null
  /** Size such as `180 lines`; `''` for a result of at most one line. */
  readonly size: string
  /** Whether the call failed, or the command that it ran. */
  readonly hasFailed: boolean
  /** Exit code of a command, if its tool reports one. */
  readonly exitCode: number | undefined
  readonly response: Envelope | null
  /** Timestamp of the response. */
  readonly answeredAt: string | null
  /** For a call that fulfilled a proposal: its approver; `proposedBy`: the proposer. */
  readonly approvedBy: string | null
  readonly proposedBy: string | null
  /** Whether this is an elicitation without an answer. */
  readonly isOpenElicitation: boolean
}

/** Calls that were sent together; shown side by side. */
export interface BatchRow extends Placed {
  readonly type: 'batch'
  readonly calls: readonly CallRow[]
}

export interface ProposalRow extends Placed {
  readonly type: 'proposal'
  readonly proposal: ProposalView
  readonly summary: CallSummary
}

/** The line of a context's conclusion or cancellation. */
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

/** A row before it is drawn: position and estimated height. `getRow` creates the content. */
export interface Slot {
  readonly type: LogRow['type']
  /** Identifies the row as long as it exists. */
  readonly key: string
  /** The envelope that the inspector shows for this row. */
  readonly envelope: Envelope
  /** Depth of the context; 0 outside of runs. */
  readonly depth: number
  /** Height in pixels, measured or estimated. */
  height: number
  /** Id of the question or run that ultimately caused the row, see `findOrigin`. */
  origin: string | undefined
  readonly of: Block | BlockEntry
  /** Context of a heading, or of hidden lines. */
  readonly context?: string | undefined
  /** The calls of a row that shows several calls, because they were sent together. */
  readonly calls?: readonly Slot[] | undefined
  /** Number of hidden lines. */
  readonly count?: number | undefined
  /** Index of the shown part, for a message with several rows. */
  readonly part?: number | undefined
  /** The content, once the row was drawn. */
  row: LogRow | undefined
}

/** Access to the state of the space and the view settings that determine the rows. */
export interface Sources {
  readonly folding: Pick<Folding, 'getLevel' | 'choices'>
  getContext(context: string): ContextView | undefined
  /** Counts of thoughts in a context that the gateway did not send. */
  getSummary(context: string): ThoughtSummary | undefined
  /** Whether the run of a context is open. A run that is not may still lack an end in the loaded log. */
  isGoingOn(context: string): boolean
  getProposal(id: string): ProposalView | undefined
  /** Whether this is an elicitation without an answer. */
  isOpenElicitation(id: string): boolean
  isLoaded(id: string): boolean
  /** Id of the question or run that ultimately caused an envelope, see `findOrigin`. */
  getOrigin(envelope: Envelope): string | undefined
  /** Author of the thought that this one replies to; `undefined` if not loaded. */
  getAnsweredThinker(envelope: Envelope): string | undefined
  isMuted(participant: string): boolean
  readonly logFilter: Pick<LogFilter, 'isShown' | 'isHeadingOf'>
}
