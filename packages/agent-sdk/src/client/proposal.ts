import { type AnyEnvelope, type McpResponsePayload, omitUndefined } from '@meup/protocol'

/** The progress of a request, as reported by its receiver. */
export interface Progress {
  /** Increases with every report; at most `total`, if that is known. */
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** A proposal that waits for a decision. */
export interface OpenProposal {
  readonly id: string
  readonly seq: number
  readonly from: string
  /** When the proposal was sent, RFC 3339. */
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
  /** Number of approvals that are still possible. */
  readonly usesLeft: number
  /** Participants that rejected the proposal, which other participants may still approve. */
  readonly rejectedBy: readonly string[]
  /** Session id of the proposing program; absent if it sent none. */
  readonly session?: string
  /** The proposing program has ended, so that no program waits for the result. */
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

/** The result for the proposer: the approver and the response, or the reason why there is no response. */
export type ProposalOutcome =
  | (Approved & { readonly response: McpResponsePayload; readonly responseId: string })
  | Refused

/** A request that other participants may approve. */
export interface ProposalDraft {
  /** The addressees of the approved request. */
  readonly to: string | readonly string[]
  readonly method: string
  readonly params?: object
  /** Maximum number of approvals; default 1. */
  readonly uses?: number
  /** Time when the proposal expires, RFC 3339; absent = open until it is settled. */
  readonly expiresAt?: string
  readonly context?: string
  readonly correlationId?: string
  /** The reason shown to approvers. */
  readonly rationale?: string
  readonly parallelGroup?: number
}

export interface ProposeOptions {
  /** Milliseconds to wait for the response after the approval; default: no limit. */
  readonly timeoutMs?: number
  /** Called whenever the callee reports progress. */
  readonly onProgress?: (progress: Progress) => void
}

/** A proposal made by this participant. */
export interface Proposal {
  readonly id: string
  /**
   * Settles with the first decision: with the first approval, when its response has arrived; or with the first rejection, after
   * which the proposal is withdrawn so that it cannot be approved later. Rejects with `ConnectionError` when the client is
   * closed or the response takes too long.
   */
  readonly outcome: Promise<ProposalOutcome>
  /** Withdraws the proposal. Rejects with the gateway's `ProtocolError` if it is already settled. */
  withdraw(reason?: string): Promise<void>
}

/** Thrown if a call was proposed, because this participant may not make it, and the proposal was not approved. */
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
