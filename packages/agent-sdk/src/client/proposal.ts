import { type AnyEnvelope, Kind, type McpResponsePayload } from '@meup/protocol'

/** How far a request is, as the one who works on it says. */
export interface Progress {
  /** Grows with every report, up to `total` where that is known. */
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** What became of a proposal. */
export type Settlement =
  | { readonly state: 'approved'; readonly by: string; readonly requestId: string }
  | { readonly state: 'rejected'; readonly by: string; readonly reason: string; readonly message?: string }
  | { readonly state: 'withdrawn'; readonly reason: string; readonly message?: string }
  | { readonly state: 'expired' }

type Approved = Extract<Settlement, { state: 'approved' }>
type Refused = Exclude<Settlement, Approved>

/** What its proposer gets: who approved and what the answer to the approved request was, or why there is none. */
export type ProposalOutcome = (Approved & { readonly response: McpResponsePayload }) | Refused

/** What somebody who may is asked to do. */
export interface ProposalDraft {
  /** Whom the approved request is for. */
  readonly to: string | readonly string[]
  readonly method: string
  readonly params?: object
  /** How often it may be carried out; default 1. */
  readonly uses?: number
  /** RFC 3339; without it the proposal stays open until it is settled. */
  readonly expiresAt?: string
  readonly context?: string
  readonly correlationId?: string
  /** Why, for whoever decides to read. */
  readonly rationale?: string
  readonly parallelGroup?: number
}

export interface ProposeOptions {
  /** Milliseconds to wait for the response once the proposal is approved; default: as long as it takes. */
  readonly timeoutMs?: number
  /** Called each time that the one who was asked reports progress. */
  readonly onProgress?: (progress: Progress) => void
}

/** A proposal of this participant's, on its way to a decision. */
export interface Proposal {
  readonly id: string
  /**
   * Settles with the first decision: the first approval, once its response is there, or the first rejection, after
   * which the proposal is withdrawn, lest somebody else carry out what nobody waits for any more. Rejects with
   * `ConnectionError` when the connection is closed for good or the response takes too long.
   */
  readonly outcome: Promise<ProposalOutcome>
  /** Takes it back. Rejects with the gateway's `ProtocolError` where it is too late. */
  withdraw(reason?: string): Promise<void>
}

/** A call was proposed because this participant may not make it, and was not approved. */
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
  if (outcome.state === 'expired') return 'nobody approved the proposal in time'
  const { reason, message } = outcome
  const why = message === undefined ? reason : `${reason} (${message})`
  return outcome.state === 'rejected' ? `rejected by ${outcome.by}: ${why}` : `withdrawn: ${why}`
}

/** Up to which seq an envelope says that the log is pruned; 0 = it says nothing of that. */
export function prunedThrough(envelope: AnyEnvelope): number {
  if (envelope.kind !== Kind.systemSpace) return 0
  const { event, through }: Readonly<Record<string, unknown>> = envelope.payload
  return event === 'pruned' && typeof through === 'number' ? through : 0
}

export const pickReasons = ({ reason, message }: { reason: string; message?: string }) => ({
  reason,
  ...(message !== undefined && { message }),
})
