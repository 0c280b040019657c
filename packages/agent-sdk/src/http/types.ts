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

/** Which log it is, and the seq of its last envelope. */
export interface LogPosition {
  readonly epoch: string
  readonly head: number
}

/** A part of the log. Of lists, each value matches. */
export interface LogQuery {
  /** Only envelopes with a greater seq. */
  readonly after?: number | undefined
  /** Only envelopes with a smaller seq. */
  readonly before?: number | undefined
  /** By seq; default `asc`, the oldest first. */
  readonly order?: 'asc' | 'desc'
  /** Envelopes in one answer, at most 1000; default 1000. */
  readonly limit?: number
  readonly kind?: string | readonly string[]
  /** Ids of the senders. */
  readonly from?: string | readonly string[]
  /** This context, and what is nested in it. */
  readonly context?: string
  /** Only what answers this envelope. */
  readonly correlationId?: string
  /** How much of the reasoning; default `full`. */
  readonly reasoning?: Exclude<Detail, 'summary'>
}

/** A page of the log. One scans a bounded part of it: it may be empty, and others follow. */
export interface LogPage extends LogPosition {
  readonly envelopes: readonly AnyEnvelope[]
  /** The `after` of the next page, or its `before` in descending order; absent = this is the last. */
  readonly next?: number
}

export interface ProposalList extends LogPosition {
  /** Oldest first. */
  readonly proposals: readonly OpenProposal[]
}

export interface ParticipantList extends LogPosition {
  readonly participants: readonly ParticipantDetails[]
}

/** A context that reasoning opened, and what is nested in it. */
export interface ContextNode extends ContextInfo {
  /** In it and below it, of what everyone may read. */
  readonly counts: ContextCounts
  readonly children: readonly (ContextNode | FreePath)[]
}

export interface ContextCounts {
  readonly envelopes: number
  readonly thoughts: number
  readonly contributors: number
}

/** A path that groups envelopes, and that no reasoning opened [MEUP-2.5]. */
export interface FreePath {
  readonly context: string
  readonly state: 'free'
  readonly startedAt: string
  readonly counts: ContextCounts
  readonly children: readonly FreePath[]
}

export interface ContextList extends LogPosition {
  /** The roots, oldest first; the latest free paths are among them. */
  readonly contexts: readonly (ContextNode | FreePath)[]
}

export interface TurnQuery {
  /** Only turns with a smaller number. */
  readonly before?: number | undefined
  /** Turns in one answer, at most 1000; default 20. */
  readonly limit?: number
  /** Only turns that this envelope belongs to: its id, the beginning of that, or `#seq`. */
  readonly of?: string
  /** Adds the size of the result to each tool decision, and the id of its answer to each turn. */
  readonly sizes?: boolean
}

/** A turn; it has an `answer_id`, and its decisions a `size`, if the query asked for `sizes`. */
export type Turn = TurnInfo<ToolDecisionInfo & Partial<DetailedDecision>> & Pick<TurnDetail, 'answer_id'>

export interface TurnPage {
  readonly thread_id: string
  /** In the order of their numbers. */
  readonly turns: readonly Turn[]
  /** The `before` of the page of earlier turns; absent = there are none. */
  readonly next?: number
}

export interface AuditQuery {
  /** Only steps with a smaller seq. */
  readonly before?: number | undefined
  /** Steps in one answer, at most 1000; default 100. */
  readonly limit?: number
  /** An agent, or its thread. */
  readonly thread?: string | undefined
  /** Number of a turn of that thread. */
  readonly turn?: number | string | undefined
  readonly phase?: string | undefined
  /** Ids of agents. */
  readonly from?: readonly string[] | undefined
  /** RFC 3339: from then on, and before then. */
  readonly since?: string | undefined
  readonly until?: string | undefined
}

/** A step of the audit, with the fields of its turn. The result of a call says which right let it pass, if the log does. */
export interface AuditStep extends Omit<ReasoningStep, 'source'>, RightInfo {
  readonly seq: number
  readonly thread_id: string
  /** `null` for a job. */
  readonly turn_number: number | null
  /** When the turn began. */
  readonly timestamp: string
  /** Of the turn. */
  readonly state: string
  readonly input_source: string
  /** Sender of the message that the turn is about; `null` = it has none, or it may not be read. */
  readonly asked_by: string | null
  /** The reason of the call that the step is about; absent if it gave none. */
  readonly rationale?: string
  /** The arguments of the call that the step is about, masked and cut. */
  readonly parameters?: unknown
  /** The rules that masked it: `redaction` of `system.space configured`; absent for what was masked before it was logged. */
  readonly redacted_by?: string
}

export interface AuditPage {
  /** The newest first. */
  readonly steps: readonly AuditStep[]
  /** The `before` of the next page; absent = this is the last. */
  readonly next?: number
}

export interface SearchQuery {
  /** Words that are all said, in any case. */
  readonly text?: string | undefined
  /** Ids of the senders. */
  readonly from?: readonly string[] | undefined
  readonly kind?: readonly string[] | undefined
  /** Name of a tool: its calls, their results, and what was proposed or refused of it. */
  readonly tool?: string | undefined
  readonly outcome?: SearchOutcome | undefined
  /** RFC 3339: from then on, and before then. */
  readonly since?: string | undefined
  readonly until?: string | undefined
  /** Only envelopes with a smaller seq. */
  readonly before?: number | undefined
  /** Hits in one answer, at most 1000; default 20. */
  readonly limit?: number
}

/** `rejected`: proposals that were rejected, and what the gateway refused. */
export type SearchOutcome = 'success' | 'error' | 'rejected'

/** An envelope that says what was searched for. */
export interface SearchHit extends Match {
  readonly seq: number
  readonly id: string
  readonly ts: string
  readonly from: string
  readonly kind: string
  readonly context?: string
  /** That was called, proposed or refused, or whose call it answers. */
  readonly tool?: string
}

/** A page looks at a bounded part of the log: it may be empty, and others follow. */
export interface SearchPage {
  /** The newest first. */
  readonly hits: readonly SearchHit[]
  /** Time of the oldest envelope that was looked at. */
  readonly searched_to: string | null
  /** The `before` of the next page; absent = this is the last. */
  readonly next?: number
}

/** What was erased, and where the log says so. */
export interface ErasureReceipt {
  readonly seq: number
  /** Seq of the record. */
  readonly recordedAt: number
  /** Whether the bytes are gone; if not, they go as soon as the log can remove them. */
  readonly removed: boolean
}

/** What the gateway found when it checked the hash chain of its log. */
export interface LogVerification extends LogPosition {
  readonly ok: boolean
  /** Hexadecimal, of the last row that holds. */
  readonly hash: string
  /** Rows that hold, from the oldest on. */
  readonly checked: number
  /** Seq of the first row that is missing or not what was chained. */
  readonly brokenAt?: number
  /** The column of that row that differs from its body. */
  readonly column?: string
  /** Rows with a smaller seq have been pruned. */
  readonly prunedBefore?: number
  /** The latest records of what was erased. */
  readonly erased?: readonly Erasure[]
}

/** What is exported, and how. */
export interface ExportQuery {
  /** `jsonl` proves that the log is whole; `markdown` is for people. Default `jsonl`. */
  readonly format?: 'jsonl' | 'markdown'
  /** Only what comes after this seq; `jsonl` only. */
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

/** What a one-time code stands for. */
export interface ExchangedLink {
  readonly space: string
  readonly participant: string
  readonly token: string
}

export interface WhyQuery {
  /** Steps: those that rank first, 200 at most. Default: 200. */
  readonly limit?: number
}

/** The steps that led to an envelope, across agents. */
export interface WhyAnswer extends Why {
  /** The place of the envelope in the hash chain, to compare with `meup audit verify`; `head`: the last seq of the log. */
  readonly proof: { readonly seq: number; readonly hash: string; readonly head: number }
}
