import type {
  DetailedDecision,
  Match,
  ReasoningStep,
  RightInfo,
  ToolDecisionInfo,
  TurnDetail,
  TurnInfo,
  Why,
} from '@meup/folds'
import type { AnyEnvelope, ContextInfo, Detail, Erasure, ParticipantDetails } from '@meup/protocol'
import type { OpenProposal } from '../client/proposal.js'

/** The epoch of the log, and the seq of its last envelope. */
export interface LogPosition {
  readonly epoch: string
  readonly head: number
}

/** A part of the log. A list matches any of its values. */
export interface LogQuery {
  /** Only envelopes with a greater seq. */
  readonly after?: number | undefined
  /** Only envelopes with a smaller seq. */
  readonly before?: number | undefined
  /** Order by seq; default `asc`, the oldest first. */
  readonly order?: 'asc' | 'desc'
  /** Envelopes in one answer, at most 1000; default 1000. */
  readonly limit?: number
  readonly kind?: string | readonly string[]
  /** Ids of the senders. */
  readonly from?: string | readonly string[]
  /** This context, and those nested in it. */
  readonly context?: string
  /** Only envelopes that correlate to this one. */
  readonly correlationId?: string
  /** Amount of reasoning; default `full`. */
  readonly reasoning?: Exclude<Detail, 'summary'>
}

/** A page of the log. A request scans a bounded part of it, so a page may be empty although more follow. */
export interface LogPage extends LogPosition {
  readonly envelopes: readonly AnyEnvelope[]
  /** The `after` of the next page, or its `before` in descending order; absent = last page. */
  readonly next?: number
}

export interface ProposalList extends LogPosition {
  /** Oldest first. */
  readonly proposals: readonly OpenProposal[]
}

export interface ParticipantList extends LogPosition {
  readonly participants: readonly ParticipantDetails[]
}

/** A context opened by reasoning, and those nested in it. */
export interface ContextNode extends ContextInfo {
  /** Counts of public envelopes in it and below it. */
  readonly counts: ContextCounts
  readonly children: readonly (ContextNode | FreePath)[]
}

export interface ContextCounts {
  readonly envelopes: number
  readonly thoughts: number
  readonly contributors: number
}

/** A path that groups envelopes without reasoning that opened it [MEUP-2.5]. */
export interface FreePath {
  readonly context: string
  readonly state: 'free'
  readonly startedAt: string
  readonly counts: ContextCounts
  readonly children: readonly FreePath[]
}

export interface ContextList extends LogPosition {
  /** The roots, oldest first, including the latest free paths. */
  readonly contexts: readonly (ContextNode | FreePath)[]
}

export interface TurnQuery {
  /** Only turns with a smaller number. */
  readonly before?: number | undefined
  /** Turns in one answer, at most 1000; default 20. */
  readonly limit?: number
  /** Only turns that contain this envelope: its id, a unique prefix, or `#seq`. */
  readonly of?: string
  /** Adds the size of the result to each tool decision, and the id of its answer to each turn. */
  readonly sizes?: boolean
}

/** A turn; with `sizes`, it has an `answer_id` and its decisions a `size`. */
export type Turn = TurnInfo<ToolDecisionInfo & Partial<DetailedDecision>> & Pick<TurnDetail, 'answer_id'>

export interface TurnPage {
  readonly thread_id: string
  /** Ordered by number. */
  readonly turns: readonly Turn[]
  /** The `before` of the page of earlier turns; absent = none. */
  readonly next?: number
}

export interface AuditQuery {
  /** Only steps with a smaller seq. */
  readonly before?: number | undefined
  /** Steps in one answer, at most 1000; default 100. */
  readonly limit?: number
  /** An agent, or its thread. */
  readonly thread?: string | undefined
  /** Number of a turn in that thread. */
  readonly turn?: number | string | undefined
  readonly phase?: string | undefined
  /** Ids of agents. */
  readonly from?: readonly string[] | undefined
  /** RFC 3339: start (inclusive) and end (exclusive). */
  readonly since?: string | undefined
  readonly until?: string | undefined
}

/** A step of the audit, with fields of its turn. The result of a call includes the right that let it pass, if logged. */
export interface AuditStep extends Omit<ReasoningStep, 'source'>, RightInfo {
  readonly seq: number
  readonly thread_id: string
  /** `null` for a job. */
  readonly turn_number: number | null
  /** When the turn began. */
  readonly timestamp: string
  /** State of the turn. */
  readonly state: string
  readonly input_source: string
  /** Sender of the trigger of the turn; `null` = none, or unreadable. */
  readonly asked_by: string | null
  /** The reason of the call that the step is about; absent = none given. */
  readonly rationale?: string
  /** The arguments of the call that the step is about, masked and cut. */
  readonly parameters?: unknown
  /** The rules that masked it: `redaction` of `system.space configured`; absent if it was masked before it was logged. */
  readonly redacted_by?: string
}

export interface AuditPage {
  /** Newest first. */
  readonly steps: readonly AuditStep[]
  /** The `before` of the next page; absent = last page. */
  readonly next?: number
}

export interface SearchQuery {
  /** Words that the envelope contains, ignoring case. */
  readonly text?: string | undefined
  /** Ids of the senders. */
  readonly from?: readonly string[] | undefined
  readonly kind?: readonly string[] | undefined
  /** Name of a tool: its calls, their results, and proposals or refusals of it. */
  readonly tool?: string | undefined
  readonly outcome?: SearchOutcome | undefined
  /** RFC 3339: start (inclusive) and end (exclusive). */
  readonly since?: string | undefined
  readonly until?: string | undefined
  /** Only envelopes with a smaller seq. */
  readonly before?: number | undefined
  /** Hits in one answer, at most 1000; default 20. */
  readonly limit?: number
}

/** `rejected`: rejected proposals, and refusals of the gateway. */
export type SearchOutcome = 'success' | 'error' | 'rejected'

/** A matching envelope. */
export interface SearchHit extends Match {
  readonly seq: number
  readonly id: string
  readonly ts: string
  readonly from: string
  readonly kind: string
  readonly context?: string
  /** The called, proposed or refused tool, or that of the answered call. */
  readonly tool?: string
}

/** A page searches a bounded part of the log, so it may be empty although more follow. */
export interface SearchPage {
  /** Newest first. */
  readonly hits: readonly SearchHit[]
  /** Time of the oldest searched envelope. */
  readonly searched_to: string | null
  /** The `before` of the next page; absent = last page. */
  readonly next?: number
}

/** The erased envelope, and its record. */
export interface ErasureReceipt {
  readonly seq: number
  /** Seq of the record. */
  readonly recordedAt: number
  /** Whether the bytes are removed; otherwise they are once the log can do so. */
  readonly removed: boolean
}

/** The result of verifying the hash chain of a log. */
export interface LogVerification extends LogPosition {
  readonly ok: boolean
  /** Hexadecimal hash of the last valid row. */
  readonly hash: string
  /** Number of valid rows, from the oldest on. */
  readonly checked: number
  /** Seq of the first row that is missing or does not match its hash. */
  readonly brokenAt?: number
  /** The column of that row that differs from its body. */
  readonly column?: string
  /** Rows with a smaller seq have been pruned. */
  readonly prunedBefore?: number
  /** The latest records of erasures. */
  readonly erased?: readonly Erasure[]
}

/** The content and format of an export. */
export interface ExportQuery {
  /** `jsonl` can be verified; `markdown` is for reading. Default `jsonl`. */
  readonly format?: 'jsonl' | 'markdown'
  /** Only envelopes after this seq; `jsonl` only. */
  readonly after?: number
  /** `markdown` only: an agent or its thread, a turn of it, or a context, and the number of latest turns. */
  readonly thread?: string
  readonly turn?: number | string
  readonly context?: string
  readonly limit?: number
}

/** A one-time code for the token of the client that made it. */
export interface Link {
  readonly code: string
  /** RFC 3339. */
  readonly expiresAt: string
}

/** The token of a one-time code. */
export interface ExchangedLink {
  readonly space: string
  readonly participant: string
  readonly token: string
}

export interface WhyQuery {
  /** Maximum steps, by rank; at most 200, default 200. */
  readonly limit?: number
}

/** The steps that led to an envelope, across agents. */
export interface WhyAnswer extends Why {
  /** The place of the envelope in the hash chain, to compare with `meup audit verify`; `head`: the last seq of the log. */
  readonly proof: { readonly seq: number; readonly hash: string; readonly head: number }
}
