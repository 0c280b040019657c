import { type AnyEnvelope, Kind, ProtocolError } from '@meup/protocol'
import { EventEmitter } from 'eventemitter3'
import { freshId } from '../fresh-id.js'
import { Verbatim } from '../participant/frame.js'
import { type Requests, resultOf } from '../participant/requests.js'
import type { Seat } from '../participant/seat.js'
import type { WaitOptions } from '../participant/wait.js'
import { type Grant, type GrantOptions, grant } from './grants.js'
import { narrowCapability } from './narrow.js'
import type { OpenProposal } from './open-proposal.js'
import type { OpenProposals, ProposalsEvents } from './open-proposals.js'
import { reasonsOf } from './proposal.js'

export interface ApproveOptions extends WaitOptions {
  /** Why it is done, in the name of whoever approves; default: no reason is given [MEUP-13.11]. */
  readonly why?: string
}

export interface Rejection {
  readonly reason: string
  readonly message?: string
}

/**
 * The proposals of a space that wait for a decision, as far as this connection was shown them [MEUP-4.17]. One that
 * joins later sees those of before only if it asks for the past: with `after` or `tail`.
 */
export class Proposals extends EventEmitter<ProposalsEvents> {
  readonly #seat: Pick<Seat, 'send'>
  readonly #requests: Requests
  readonly #open: OpenProposals

  constructor(seat: Pick<Seat, 'send'>, requests: Requests, open: OpenProposals) {
    super()
    this.#seat = seat
    this.#requests = requests
    this.#open = open
    open.on('proposal', (proposal) => this.emit('proposal', proposal))
    open.on('settled', (proposal, settlement) => this.emit('settled', proposal, settlement))
  }

  /** What is open, oldest first. */
  list(): OpenProposal[] {
    return this.#open.list()
  }

  get(id: string): OpenProposal | undefined {
    return this.#open.get(id)
  }

  /**
   * Makes the request that was proposed, to the letter; gives back its result, throws `ToolError` for its error.
   * Rejects with `ProtocolError` where this participant may not make it, or somebody was faster. Who stops waiting
   * stops nothing: the answer is for the proposer.
   */
  async approve(id: string, options: ApproveOptions = {}): Promise<Record<string, unknown>> {
    const proposal = this.#find(id)
    const requestId = freshId()
    const asked = { id: requestId, token: requestId, to: proposal.to ?? [] }
    const response = this.#requests.response(asked, options)
    this.#carryOut(proposal, requestId, options.why).catch((error: Error) =>
      this.#requests.fail(requestId, error),
    )
    return resultOf((await response).payload)
  }

  /** Resolves when the space has it. Others may still approve it, until its proposer takes it back. */
  async reject(id: string, { reason, message }: Rejection): Promise<void> {
    const { from } = this.#find(id)
    const payload = reasonsOf({ reason, ...(message !== undefined && { message }) })
    await this.#seat.send({ kind: Kind.mcpReject, to: [from], correlationId: id, payload })
  }

  /**
   * Approves it, and gives its proposer the capability to do the same alone from now on: this method, tool and
   * target, with whatever arguments. Throws `TypeError` where it names no target.
   */
  async allowAlways(id: string, options: GrantOptions & Pick<ApproveOptions, 'why'> = {}): Promise<Grant> {
    const proposal = this.#find(id)
    const capability = narrowCapability(proposal)
    await this.#carryOut(proposal, freshId(), options.why)
    return grant(this.#seat, proposal.from, [capability], options)
  }

  #find(id: string): OpenProposal {
    const kept = this.#open.get(id)
    if (kept !== undefined) return kept
    throw new ProtocolError('proposal_not_found', `no proposal ${id} is known to be open here`)
  }

  #carryOut(proposal: OpenProposal, id: string, why: string | undefined): Promise<AnyEnvelope> {
    const { to, method, context, paramsJson } = proposal
    const head = JSON.stringify({ jsonrpc: '2.0', id, method }).slice(0, -1)
    return this.#seat.send({
      id,
      kind: Kind.mcpRequest,
      ...(to && { to }),
      correlationId: proposal.id,
      ...(context !== undefined && { context }),
      ...(why !== undefined && { rationale: why }),
      payload: new Verbatim(paramsJson === undefined ? `${head}}` : `${head},"params":${paramsJson}}`),
    })
  }
}
