import { type AnyEnvelope, type McpResponsePayload, omitUndefined } from '@meup/protocol'

/** The progress of a request, as reported by its receiver. */
export interface Progress {
  /** Increases with every report, up to `total` if known. */
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** A proposal that waits for a decision. */
export interface OpenProposal {
  readonly id: string
  readonly seq: number
  readonly from: string
  /** When it was made, RFC 3339. */
  readonly ts: string
  /** The addressees of the request; absent = everyone. */
  readonly to?: readonly string[]
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
  /** The proposer's reason. */
  readonly rationale?: string
  readonly context?: string
  readonly correlationId?: string | readonly string[]
  readonly parallelGroup?: number
  readonly expiresAt?: string
  /** How often it can still be approved. */
  readonly usesLeft: number
  /** Participants that rejected it; others may still approve it. */
  readonly rejectedBy: readonly string[]
  /** The program that proposed it; absent = unnamed. */
  readonly session?: string
  /** That program has ended, so that nothing waits for the result. */
  readonly programEnded?: true
}

/** How a proposal ended. */
export type Settlement =
  | { readonly state: 'approved'; readonly by: string; readonly requestId: string }
  | { readonly state: 'rejected'; readonly by: string; readonly reason: string; readonly message?: string }
  | { readonly state: 'withdrawn'; readonly reason: string; readonly message?: string }
  | { readonly state: 'expired' }

type Approved = Extract<Settlement, { state: 'approved' }>
type Refused = Exclude<Settlement, Approved>

/** The result for the proposer: the approver and the response, or why there is none. */
export type ProposalOutcome =
  | (Approved & { readonly response: McpResponsePayload; readonly responseId: string })
  | Refused

/** A request for others to approve. */
export interface ProposalDraft {
  /** The addressees of the approved request. */
  readonly to: string | readonly string[]
  readonly method: string
  readonly params?: object
  /** How often it may be approved; default 1. */
  readonly uses?: number
  /** RFC 3339; absent = open until it is settled. */
  readonly expiresAt?: string
  readonly context?: string
  readonly correlationId?: string
  /** The reason, for approvers. */
  readonly rationale?: string
  readonly parallelGroup?: number
}

export interface ProposeOptions {
  /** Milliseconds to wait for the response after the approval; default: no limit. */
  readonly timeoutMs?: number
  /** Called with each progress report. */
  readonly onProgress?: (progress: Progress) => void
}

/** A proposal made by this participant. */
export interface Proposal {
  readonly id: string
  /**
   * Settles with the first decision: the first approval, once its response is there, or the first rejection, after
   * which the proposal is withdrawn so that it cannot be fulfilled later. Rejects with `ConnectionError` when the client
   * is closed or the response takes too long.
   */
  readonly outcome: Promise<ProposalOutcome>
  /** Withdraws the proposal. Rejects with the gateway's `ProtocolError` when it is settled. */
  withdraw(reason?: string): Promise<void>
}

/** A call was proposed, because this participant may not make it, and was not approved. */
export class ProposalError extends Error {
  override readonly name = 'ProposalError'
  constructor(
    readonly proposalId: string,
    readonly outcome: Refused,
  ) {
    super(describe(outcome))
  }
}

function describe(outcome: Refused): string {
  if (outcome.state === 'expired') return 'the proposal was not approved in time'
  const { reason, message } = outcome
  const why = message === undefined ? reason : `${reason} (${message})`
  return outcome.state === 'rejected' ? `rejected by ${outcome.by}: ${why}` : `withdrawn: ${why}`
}

/** The reasons in a rejection or withdrawal. */
export const readReasons = (payload: AnyEnvelope['payload']) =>
  pickReasons(payload as { readonly reason: string; readonly message?: string })

export const pickReasons = ({ reason, message }: { readonly reason: string; readonly message?: string }) => ({
  reason,
  ...omitUndefined({ message }),
})
