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

/** The epoch of the log, an id that changes when the log is replaced, and the seq of its last envelope. */
export interface LogPosition {
  readonly epoch: string
  readonly head: number
}

/** Selects a part of the log. A field with a list matches any of its values. */
export interface LogQuery {
  /** Returns only envelopes with a greater seq. */
  readonly after?: number | undefined
  /** Returns only envelopes with a smaller seq. */
  readonly before?: number | undefined
  /** Order by seq; default `asc`, oldest first. */
  readonly order?: 'asc' | 'desc'
  /** Maximum envelopes in the response, at most 1000; default 1000. */
  readonly limit?: number
  readonly kind?: string | readonly string[]
  /** Ids of the senders. */
  readonly from?: string | readonly string[]
  /** Path of a context. Selects it and the contexts nested in it. */
  readonly context?: string
  /** Returns only envelopes that correlate with this one, given by id. */
  readonly correlationId?: string
  /** How much reasoning to return; default `full`. */
  readonly reasoning?: Exclude<Detail, 'summary'>
}

/**
 * A page of the log. The gateway scans a limited part of the log per request, so a page may be empty although more pages
 * follow.
 */
export interface LogPage extends LogPosition {
  readonly envelopes: readonly AnyEnvelope[]
  /** `after` of the next page, or its `before` in descending order; absent = last page. */
  readonly next?: number
}

export interface ProposalList extends LogPosition {
  /** The proposals, oldest first. */
  readonly proposals: readonly OpenProposal[]
}

export interface ParticipantList extends LogPosition {
  readonly participants: readonly ParticipantDetails[]
}

/** A context opened by reasoning, with the contexts nested in it. */
export interface ContextNode extends ContextInfo {
  /** Numbers of public envelopes in this context and those nested in it. */
  readonly counts: ContextCounts
  readonly children: readonly (ContextNode | FreePath)[]
}

export interface ContextCounts {
  readonly envelopes: number
  readonly thoughts: number
  readonly contributors: number
}

/** A context path that groups envelopes, but was not opened by reasoning [MEUP-2.5]. */
export interface FreePath {
  readonly context: string
  readonly state: 'free'
  readonly startedAt: string
  readonly counts: ContextCounts
  readonly children: readonly FreePath[]
}

export interface ContextList extends LogPosition {
  /** The root contexts, oldest first, including the latest free paths. */
  readonly contexts: readonly (ContextNode | FreePath)[]
}

export interface TurnQuery {
  /** Returns only turns with a smaller number. */
  readonly before?: number | undefined
  /** Maximum turns in the response, at most 1000; default 20. */
  readonly limit?: number
  /** Returns only turns that contain this envelope, given by its id, a unique prefix, or `#seq`. */
  readonly of?: string
  /** Adds to each tool call of a turn the size of its result, and to each turn the id of its answer. */
  readonly sizes?: boolean
}

/**
 * A turn with its decisions, which are the tool calls. With the query option `sizes` it has an `answer_id`, and each decision a
 * `size`.
 */
export type Turn = TurnInfo<ToolDecisionInfo & Partial<DetailedDecision>> & Pick<TurnDetail, 'answer_id'>

export interface TurnPage {
  readonly thread_id: string
  /** The turns, in order of their numbers. */
  readonly turns: readonly Turn[]
  /** `before` of the page with earlier turns; absent = last page. */
  readonly next?: number
}

export interface AuditQuery {
  /** Returns only steps with a smaller seq. */
  readonly before?: number | undefined
  /** Maximum steps in the response, at most 1000; default 100. */
  readonly limit?: number
  /** Id of an agent, or of its thread. */
  readonly thread?: string | undefined
  /** Number of a turn in `thread`. */
  readonly turn?: number | string | undefined
  readonly phase?: string | undefined
  /** Ids of agents. */
  readonly from?: readonly string[] | undefined
  /** Range of times, RFC 3339: `since` is inclusive, `until` exclusive. */
  readonly since?: string | undefined
  readonly until?: string | undefined
}

/**
 * A row of the audit: a step of an agent, such as a thought, a call or its result, with fields of its turn. The result of a
 * call includes the capability that allowed the call, if logged.
 */
export interface AuditStep extends Omit<ReasoningStep, 'source'>, RightInfo {
  readonly seq: number
  readonly thread_id: string
  /** `null` if the step belongs to a job: work of an agent that no message triggered. */
  readonly turn_number: number | null
  /** RFC 3339: when the turn began. */
  readonly timestamp: string
  readonly state: string
  readonly input_source: string
  /** Sender of the message that triggered the turn; `null` = none, or this token may not read it. */
  readonly asked_by: string | null
  /** The reason that was given for the call; absent = none. */
  readonly rationale?: string
  /** The arguments of the call, masked and shortened. */
  readonly parameters?: unknown
  /**
   * Digest of the rules that masked this step for the response, as in the field `redaction` of the envelope `system.space` with
   * the event `configured`; absent for steps whose text was masked before it was logged, such as thoughts.
   */
  readonly redacted_by?: string
}

export interface AuditPage {
  /** The steps, newest first. */
  readonly steps: readonly AuditStep[]
  /** `before` of the next page; absent = last page. */
  readonly next?: number
}

export interface SearchQuery {
  /** Words that the envelope must contain, ignoring case. */
  readonly text?: string | undefined
  /** Ids of the senders. */
  readonly from?: readonly string[] | undefined
  readonly kind?: readonly string[] | undefined
  /** Name of a tool. Finds its calls, their results, and proposals and refusals of such calls. */
  readonly tool?: string | undefined
  readonly outcome?: SearchOutcome | undefined
  /** Range of times, RFC 3339: `since` is inclusive, `until` exclusive. */
  readonly since?: string | undefined
  readonly until?: string | undefined
  /** Returns only envelopes with a smaller seq. */
  readonly before?: number | undefined
  /** Maximum hits in the response, at most 1000; default 20. */
  readonly limit?: number
}

/** `rejected` = proposals that were rejected, and calls that the gateway refused. */
export type SearchOutcome = 'success' | 'error' | 'rejected'

/** A matching envelope. */
export interface SearchHit extends Match {
  readonly seq: number
  readonly id: string
  readonly ts: string
  readonly from: string
  readonly kind: string
  readonly context?: string
  /** Name of the tool that was called, proposed or refused. For a result, the tool of its call. */
  readonly tool?: string
}

/**
 * A page of hits. The gateway searches a limited part of the log per request, so a page may be empty although more pages
 * follow.
 */
export interface SearchPage {
  /** The hits, newest first. */
  readonly hits: readonly SearchHit[]
  /** Time of the oldest searched envelope. */
  readonly searched_to: string | null
  /** `before` of the next page; absent = last page. */
  readonly next?: number
}

/** The erased envelope, and the envelope that records the erasure. */
export interface ErasureReceipt {
  readonly seq: number
  /** Seq of the envelope that records the erasure. */
  readonly recordedAt: number
  /** Whether the bytes are already removed; otherwise the log removes them as soon as it can. */
  readonly removed: boolean
}

/** The result of verifying the hash chain of a log. */
export interface LogVerification extends LogPosition {
  readonly ok: boolean
  /** Hexadecimal hash of the last valid row. */
  readonly hash: string
  /** Number of valid rows, starting from the oldest. */
  readonly checked: number
  /** Seq of the first row that is missing or does not match its hash. */
  readonly brokenAt?: number
  /** The column of the broken row that differs from its body. */
  readonly column?: string
  /** Rows with a smaller seq were pruned. */
  readonly prunedBefore?: number
  /** The latest erasures. */
  readonly erased?: readonly Erasure[]
}

/** The range and format of an export. */
export interface ExportQuery {
  /** `jsonl` can be verified, `markdown` is for reading; default `jsonl`. */
  readonly format?: 'jsonl' | 'markdown'
  /** Exports only envelopes after this seq; only for `jsonl`. */
  readonly after?: number
  /** Only for `markdown`: selects an agent or its thread, one of its turns, or a context, and the number of latest turns. */
  readonly thread?: string
  readonly turn?: number | string
  readonly context?: string
  readonly limit?: number
}

/** A one-time code, which can be exchanged for the token of the client that created it. */
export interface Link {
  readonly code: string
  /** Time when the code expires, RFC 3339. */
  readonly expiresAt: string
}

/** The token that a one-time code was exchanged for. */
export interface ExchangedLink {
  readonly space: string
  readonly participant: string
  readonly token: string
}

export interface WhyQuery {
  /** Maximum steps, highest rank first; at most 200, default 200. */
  readonly limit?: number
}

/** The steps that led to an envelope, including those of other agents. */
export interface WhyAnswer extends Why {
  /** The position of the envelope in the hash chain, to compare with `meup audit verify`. `head`: the last seq of the log. */
  readonly proof: { readonly seq: number; readonly hash: string; readonly head: number }
}
