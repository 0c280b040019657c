import { type CallChange, Calls, RecentCalls } from '@meup/folds'
import { type AnyEnvelope, freshId, Kind, omitUndefined } from '@meup/protocol'
import type { ClientHandler } from './handler.js'
import { setLongTimeout } from './long-timeout.js'
import { type PendingRequests, withProgressToken } from './pending-requests.js'
import {
  type Proposal,
  type ProposalDraft,
  type ProposalOutcome,
  type ProposeOptions,
  readReasons,
} from './proposal.js'
import type { Tracing } from './tracing.js'
import type { ClientContext, Draft } from './types.js'

/** The maximum of open proposals per space at a gateway [MEUP-3.11]. */
const maxOpen = 10_000

/** The open proposals of this participant. */
export class OwnProposals implements ClientHandler {
  readonly #client: ClientContext
  readonly #requests: PendingRequests
  readonly #tracing: Pick<Tracing, 'addTraceContext'>
  readonly #open = new Map<string, OwnProposal>()
  readonly #calls = new Calls<OwnProposal>({
    store: new RecentCalls({ open: maxOpen, over: 1 }),
    // Expiry is left to a timer, which withdraws the proposal: the log then shows which came first, approval or withdrawal.
    expireByLogTime: false,
    reduce: ({ what, call }) => (what === 'asked' ? this.#open.get(call.id) : call.data),
  })
  /** Calls sent with `orPropose`, until the gateway has logged them as a request or as a proposal. */
  readonly #expected = new Map<string, Expected>()

  constructor(client: ClientContext, requests: PendingRequests, tracing: Pick<Tracing, 'addTraceContext'>) {
    this.#client = client
    this.#requests = requests
    this.#tracing = tracing
  }

  /** Sends a proposal. Resolves when it is in the log; rejects with the gateway's refusal. */
  async propose(draft: ProposalDraft, options: ProposeOptions): Promise<Proposal> {
    const { to, method, params, uses, expiresAt, ...fields } = draft
    const id = freshId()
    const addressees = [to].flat()
    const wanted = options.onProgress === undefined ? params : withProgressToken(params ?? {}, id)
    const asked = this.#tracing.addTraceContext({ id, method, params: wanted, context: fields.context })
    const terms = { ...options, to: addressees, expiresAt }
    const proposal = new OwnProposal(id, this.#client, this.#requests, terms)
    this.#keep(proposal)
    const payload = { method, ...omitUndefined({ params: asked, uses, expiresAt }) }
    try {
      await this.#client.sendPaced({
        ...fields,
        id,
        kind: Kind.mcpProposal,
        to: addressees,
        payload,
      })
      proposal.begin()
    } catch (error) {
      proposal.fail(error as Error)
      throw error
    }
    return proposal
  }

  /**
   * Registers a call with `orPropose`. When it is in the log, resolves with its proposal, or with `undefined` if it was logged
   * as a request.
   */
  expect(id: string, terms: Terms): Promise<Proposal | undefined> {
    return new Promise((resolve) => {
      this.#expected.set(id, { proposal: new OwnProposal(id, this.#client, this.#requests, terms), resolve })
    })
  }

  /** Removes a call that was refused or not sent. */
  unexpect(id: string): void {
    this.#expected.delete(id)
  }

  onEnvelope(envelope: AnyEnvelope): void {
    const expected = this.#expected.get(envelope.id)
    if (expected !== undefined && envelope.from === this.#client.id) this.#onEcho(expected, envelope)
    if (this.#open.size === 0) return
    for (const change of this.#calls.apply(envelope)) change.call.data.onChange(change, envelope)
  }

  #onEcho({ proposal, resolve }: Expected, { id, kind }: AnyEnvelope): void {
    this.#expected.delete(id)
    if (kind !== Kind.mcpProposal) {
      resolve(undefined)
      return
    }
    this.#keep(proposal)
    proposal.begin()
    resolve(proposal)
  }

  #keep(proposal: OwnProposal): void {
    this.#open.set(proposal.id, proposal)
    const forget = (): void => void this.#open.delete(proposal.id)
    proposal.outcome.then(forget, forget)
  }

  onClose(error: Error): void {
    this.#expected.clear()
    for (const proposal of this.#open.values()) proposal.fail(error)
  }
}

interface Expected {
  readonly proposal: OwnProposal
  resolve(proposal: Proposal | undefined): void
}

interface Terms extends ProposeOptions {
  readonly to: readonly string[]
  readonly expiresAt?: string | undefined
}

/** Milliseconds to wait for an approval that was sent just before the expiry. */
const expiryGraceMs = 1000

/** An open proposal of this participant [MEUP-4.17]. */
class OwnProposal implements Proposal {
  readonly id: string
  readonly outcome: Promise<ProposalOutcome>
  readonly #client: ClientContext
  readonly #requests: PendingRequests
  readonly #terms: Terms
  #cancelExpiry = (): void => {}
  #resolve: (outcome: ProposalOutcome) => void = () => {}
  #reject: (error: Error) => void = () => {}
  #isDecided = false
  #isLate = false

  constructor(id: string, client: ClientContext, requests: PendingRequests, terms: Terms) {
    this.id = id
    this.#client = client
    this.#requests = requests
    this.#terms = terms
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.outcome.catch(() => {}) // A caller that does not await the outcome gets no unhandled rejection.
  }

  /** Starts the timer that withdraws the proposal at its expiry. Called when the proposal is in the log. */
  begin(): void {
    const { expiresAt } = this.#terms
    if (expiresAt === undefined || this.#isDecided) return
    this.#cancelExpiry = setLongTimeout(
      Date.parse(expiresAt) - this.#client.gatewayTime(),
      () => void this.#onExpired(),
    )
  }

  async withdraw(reason = 'no longer needed'): Promise<void> {
    await this.#client.send(this.#createWithdrawal(reason))
  }

  onChange(change: CallChange<unknown>, envelope: AnyEnvelope): void {
    if (this.#isDecided) return
    switch (change.what) {
      case 'fulfilled':
        this.#onApproved(change.by, envelope.id)
        break
      case 'rejected':
        this.#onRejected(change.by, readReasons(envelope.payload))
        break
      case 'withdrawn': {
        const reasons = change.why === 'withdrawn' ? readReasons(envelope.payload) : { reason: change.why }
        this.#settle(this.#isLate ? { state: 'expired' } : { state: 'withdrawn', ...reasons })
        break
      }
      case 'expired':
        this.#settle({ state: 'expired' })
    }
  }

  fail(error: Error): void {
    this.#close()
    this.#reject(error)
  }

  /** Starts waiting for the response immediately, because it may be the next frame. */
  #onApproved(by: string, requestId: string): void {
    this.#close()
    const { to, onProgress, timeoutMs = Number.POSITIVE_INFINITY } = this.#terms
    const asked = { id: requestId, token: this.id, to, onProgress }
    this.#requests.waitForResponse(asked, { timeoutMs }).then(
      ({ id, payload }) =>
        this.#resolve({ state: 'approved', by, requestId, response: payload, responseId: id }),
      (error: Error) => this.#reject(error),
    )
  }

  /** Settles with the first rejection. Withdraws the proposal, so that it cannot be approved later. */
  #onRejected(by: string, reasons: ReturnType<typeof readReasons>): void {
    this.#settle({ state: 'rejected', by, ...reasons })
    this.#tryWithdraw('rejected').catch(() => {}) // Never rejects.
  }

  /**
   * Withdraws the expired proposal. An approval that was logged before the withdrawal arrives first, and settles the proposal.
   * If the withdrawal is refused, waits `expiryGraceMs` for such an approval.
   */
  async #onExpired(): Promise<void> {
    this.#isLate = true
    if ((await this.#tryWithdraw('expired')) || this.#isDecided) return
    this.#cancelExpiry = setLongTimeout(expiryGraceMs, () => this.#settle({ state: 'expired' }))
  }

  /** Returns whether the gateway accepted the withdrawal. If not, the proposal is already settled or will expire. */
  async #tryWithdraw(reason: string): Promise<boolean> {
    return this.#client.send(this.#createWithdrawal(reason)).then(
      () => true,
      () => false,
    )
  }

  #createWithdrawal(reason: string): Draft {
    return { kind: Kind.mcpWithdraw, correlationId: this.id, payload: { reason } }
  }

  #settle(outcome: ProposalOutcome): void {
    this.#close()
    this.#resolve(outcome)
  }

  #close(): void {
    this.#isDecided = true
    this.#cancelExpiry()
  }
}
