import { type AnyEnvelope, correlations, Kind } from '@meup/protocol'
import { freshId } from '../fresh-id.js'
import { withProgressToken } from '../participant/progress.js'
import type { Requests } from '../participant/requests.js'
import type { Tracing } from '../participant/tracing.js'
import { OwnProposal, type Proposer } from './own-proposal.js'
import { type Proposal, type ProposalDraft, type ProposeOptions, prunedThrough } from './proposal.js'

/** The proposals that this participant has made, until they are settled. */
export class Proposing {
  readonly #seat: Proposer
  readonly #requests: Requests
  readonly #tracing: Pick<Tracing, 'mark'>
  readonly #open = new Map<string, OwnProposal>()

  constructor(seat: Proposer, requests: Requests, tracing: Pick<Tracing, 'mark'>) {
    this.#seat = seat
    this.#requests = requests
    this.#tracing = tracing
  }

  /** Resolves when the space has it; rejects with the gateway's refusal. */
  async propose(draft: ProposalDraft, options: ProposeOptions): Promise<Proposal> {
    const { to, method, params, uses, expiresAt, ...fields } = draft
    const id = freshId()
    const addressees = [to].flat()
    const wanted = options.onProgress === undefined ? params : withProgressToken(params ?? {}, id)
    const asked = this.#tracing.mark({ id, method, params: wanted, context: fields.context })
    const terms = { ...options, to: addressees, expiresAt }
    const proposal = new OwnProposal(id, this.#seat, this.#requests, terms)
    this.#open.set(id, proposal)
    const forget = (): void => void this.#open.delete(id)
    proposal.outcome.then(forget, forget)
    const payload = {
      method,
      ...(asked && { params: asked }),
      ...(uses !== undefined && { uses }),
      ...(expiresAt !== undefined && { expiresAt }),
    }
    try {
      const { seq } = await this.#seat.send({
        ...fields,
        id,
        kind: Kind.mcpProposal,
        to: addressees,
        payload,
      })
      proposal.begin(seq)
    } catch (error) {
      proposal.fail(error as Error)
      throw error
    }
    return proposal
  }

  take(envelope: AnyEnvelope): void {
    if (this.#open.size === 0) return
    const through = prunedThrough(envelope)
    if (through > 0) for (const proposal of this.#open.values()) proposal.onPruned(through)
    for (const id of correlations(envelope)) this.#open.get(id)?.take(envelope)
  }

  failAll(error: Error): void {
    for (const proposal of this.#open.values()) proposal.fail(error)
  }
}
