import { type AnyEnvelope, correlations, Kind } from '@meup/protocol'
import { freshId } from './fresh-id.js'
import {
  type Proposal,
  type ProposalDraft,
  type ProposalOutcome,
  type ProposeOptions,
  prunedThrough,
  reasonsOf,
  withProgressToken,
} from './proposal.js'
import type { Requests } from './requests.js'
import type { Timed } from './space-state.js'
import type { Tracing } from './tracing.js'
import type { Draft, Seat } from './types.js'
import { after } from './wait.js'

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

type Proposer = Pick<Seat, 'id' | 'send' | 'can'> & Timed

interface Terms extends ProposeOptions {
  readonly to: readonly string[]
  readonly expiresAt?: string | undefined
}

/** Milliseconds in which what was approved just in time is heard of. */
const expiryGraceMs = 1000

/** One proposal of this participant's, until it is settled [MEUP-4.17]. */
class OwnProposal implements Proposal {
  readonly id: string
  readonly outcome: Promise<ProposalOutcome>
  readonly #seat: Proposer
  readonly #requests: Requests
  readonly #terms: Terms
  #cancelExpiry = (): void => {}
  #resolve: (outcome: ProposalOutcome) => void = () => {}
  #reject: (error: Error) => void = () => {}
  /** Where the log has it; `Infinity` = not yet. */
  #seq = Number.POSITIVE_INFINITY
  #isDecided = false
  #isLate = false

  constructor(id: string, seat: Proposer, requests: Requests, terms: Terms) {
    this.id = id
    this.#seat = seat
    this.#requests = requests
    this.#terms = terms
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.outcome.catch(() => {}) // Whoever does not ask for the outcome need not hear that there is none.
  }

  /** The space has it: from now on its time runs. */
  begin(seq = 0): void {
    this.#seq = seq
    const { expiresAt } = this.#terms
    if (expiresAt === undefined || this.#isDecided) return
    this.#cancelExpiry = after(Date.parse(expiresAt) - this.#seat.gatewayTime(), () => void this.#expire())
  }

  async withdraw(reason = 'no longer needed'): Promise<void> {
    await this.#seat.send(this.#withdrawal(reason))
  }

  /** What is pruned nobody can approve any more [MEUP-3.22]. */
  onPruned(through: number): void {
    if (!this.#isDecided && this.#seq <= through) this.#decide({ state: 'withdrawn', reason: 'pruned' })
  }

  /** An envelope that correlates to it. */
  take(envelope: AnyEnvelope): void {
    if (this.#isDecided) return
    const { from } = envelope
    if (envelope.kind === Kind.mcpRequest) this.#approved(from, envelope.id)
    else if (envelope.kind === Kind.mcpReject) this.#rejected(from, envelope.payload)
    else if (envelope.kind === Kind.mcpWithdraw && from === this.#seat.id) {
      const withdrawn = { state: 'withdrawn', ...reasonsOf(envelope.payload) } as const
      this.#decide(this.#isLate ? { state: 'expired' } : withdrawn)
    }
  }

  fail(error: Error): void {
    this.#close()
    this.#reject(error)
  }

  /** The response is waited for in this very moment: it may come right behind. */
  #approved(by: string, requestId: string): void {
    this.#close()
    const { to, onProgress, timeoutMs = Number.POSITIVE_INFINITY } = this.#terms
    const asked = { id: requestId, token: this.id, to, onProgress }
    this.#requests.response(asked, { timeoutMs }).then(
      ({ payload }) => this.#resolve({ state: 'approved', by, requestId, response: payload }),
      (error: Error) => this.#reject(error),
    )
  }

  /** One `no` is enough for whoever asked; so that nobody else says `yes` later, the proposal is taken back. */
  #rejected(by: string, payload: { reason: string; message?: string }): void {
    this.#decide({ state: 'rejected', by, ...reasonsOf(payload) })
    void this.#retire('rejected')
  }

  /** The echo of a withdrawal comes behind everything that was approved before; without one, time must tell. */
  async #expire(): Promise<void> {
    this.#isLate = true
    if ((await this.#retire('expired')) || this.#isDecided) return
    this.#cancelExpiry = after(expiryGraceMs, () => this.#decide({ state: 'expired' }))
  }

  /** Whether the space has taken it back; where that is refused, it is over by other means, or runs out. */
  async #retire(reason: string): Promise<boolean> {
    return this.#seat.send(this.#withdrawal(reason)).then(
      () => true,
      () => false,
    )
  }

  #withdrawal(reason: string): Draft {
    return { kind: Kind.mcpWithdraw, correlationId: this.id, payload: { reason } }
  }

  #decide(outcome: ProposalOutcome): void {
    this.#close()
    this.#resolve(outcome)
  }

  #close(): void {
    this.#isDecided = true
    this.#cancelExpiry()
  }
}
