import { type AnyEnvelope, correlations, Kind } from '@meup/protocol'
import { defined } from './defined.js'
import { freshId } from './fresh-id.js'
import type { ClientHandler } from './handler.js'
import {
  findGone,
  type Proposal,
  type ProposalDraft,
  type ProposalOutcome,
  type ProposeOptions,
  pickReasons,
} from './proposal.js'
import { type Requests, withProgressToken } from './requests.js'
import type { Tracing } from './tracing.js'
import type { ClientContext, Draft } from './types.js'
import { setLongTimeout } from './wait.js'

/** The open proposals of this participant. */
export class OwnProposals implements ClientHandler {
  readonly #client: ClientContext
  readonly #requests: Requests
  readonly #tracing: Pick<Tracing, 'addTraceContext'>
  readonly #open = new Map<string, OwnProposal>()
  /** Calls of which the gateway has yet to say whether they are proposals. */
  readonly #expected = new Map<string, Expected>()

  constructor(client: ClientContext, requests: Requests, tracing: Pick<Tracing, 'addTraceContext'>) {
    this.#client = client
    this.#requests = requests
    this.#tracing = tracing
  }

  /** Resolves when the space has it; rejects with the gateway's refusal. */
  async propose(draft: ProposalDraft, options: ProposeOptions): Promise<Proposal> {
    const { to, method, params, uses, expiresAt, ...fields } = draft
    const id = freshId()
    const addressees = [to].flat()
    const wanted = options.onProgress === undefined ? params : withProgressToken(params ?? {}, id)
    const asked = this.#tracing.addTraceContext({ id, method, params: wanted, context: fields.context })
    const terms = { ...options, to: addressees, expiresAt }
    const proposal = new OwnProposal(id, this.#client, this.#requests, terms)
    this.#keep(proposal)
    const payload = { method, ...defined({ params: asked, uses, expiresAt }) }
    try {
      const { seq } = await this.#client.sendPaced({
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

  /** Resolves when the space has a call: with the proposal that it has become, or `undefined` where it was made. */
  expect(id: string, terms: Terms): Promise<Proposal | undefined> {
    return new Promise((resolve) => {
      this.#expected.set(id, { proposal: new OwnProposal(id, this.#client, this.#requests, terms), resolve })
    })
  }

  /** The call was refused, or was not sent. */
  unexpect(id: string): void {
    this.#expected.delete(id)
  }

  onEnvelope(envelope: AnyEnvelope): void {
    const expected = this.#expected.get(envelope.id)
    if (expected !== undefined && envelope.from === this.#client.id) this.#onEcho(expected, envelope)
    if (this.#open.size === 0) return
    const gone = findGone(envelope)
    if (gone !== undefined) for (const proposal of this.#open.values()) proposal.onGone(gone)
    for (const id of correlations(envelope)) this.#open.get(id)?.onEnvelope(envelope)
  }

  #onEcho({ proposal, resolve }: Expected, { id, kind, seq }: AnyEnvelope): void {
    this.#expected.delete(id)
    if (kind !== Kind.mcpProposal) {
      resolve(undefined)
      return
    }
    this.#keep(proposal)
    proposal.begin(seq)
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

/** Milliseconds to wait for an approval that was made just before the expiry. */
const expiryGraceMs = 1000

/** An open proposal of this participant [MEUP-4.17]. */
class OwnProposal implements Proposal {
  readonly id: string
  readonly outcome: Promise<ProposalOutcome>
  readonly #client: ClientContext
  readonly #requests: Requests
  readonly #terms: Terms
  #cancelExpiry = (): void => {}
  #resolve: (outcome: ProposalOutcome) => void = () => {}
  #reject: (error: Error) => void = () => {}
  /** Its position in the log; `Infinity` = not logged yet. */
  #seq = Number.POSITIVE_INFINITY
  #isDecided = false
  #isLate = false

  constructor(id: string, client: ClientContext, requests: Requests, terms: Terms) {
    this.id = id
    this.#client = client
    this.#requests = requests
    this.#terms = terms
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.outcome.catch(() => {}) // Callers that do not await the outcome get no unhandled rejection.
  }

  /** The space has the proposal; its expiry starts. */
  begin(seq = 0): void {
    this.#seq = seq
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

  /** A pruned or erased proposal can no longer be approved [MEUP-3.22]. */
  onGone({ reason, includes }: NonNullable<ReturnType<typeof findGone>>): void {
    if (!this.#isDecided && includes(this.id, this.#seq)) this.#settle({ state: 'withdrawn', reason })
  }

  /** Handles an envelope that correlates to the proposal. */
  onEnvelope(envelope: AnyEnvelope): void {
    if (this.#isDecided) return
    const { from } = envelope
    if (envelope.kind === Kind.mcpRequest) this.#onApproved(from, envelope.id)
    else if (envelope.kind === Kind.mcpReject) this.#onRejected(from, envelope.payload)
    else if (envelope.kind === Kind.mcpWithdraw && from === this.#client.id) {
      const withdrawn = { state: 'withdrawn', ...pickReasons(envelope.payload) } as const
      this.#settle(this.#isLate ? { state: 'expired' } : withdrawn)
    }
  }

  fail(error: Error): void {
    this.#close()
    this.#reject(error)
  }

  /** Waits for the response immediately: it may be the next frame. */
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

  /** The first rejection settles the proposal. It is withdrawn, so that it cannot be approved later. */
  #onRejected(by: string, payload: { reason: string; message?: string }): void {
    this.#settle({ state: 'rejected', by, ...pickReasons(payload) })
    this.#tryWithdraw('rejected').catch(() => {}) // It says so itself: it never rejects.
  }

  /** Approvals precede the echo of the withdrawal. If it is refused, a grace period decides. */
  async #onExpired(): Promise<void> {
    this.#isLate = true
    if ((await this.#tryWithdraw('expired')) || this.#isDecided) return
    this.#cancelExpiry = setLongTimeout(expiryGraceMs, () => this.#settle({ state: 'expired' }))
  }

  /** Whether the space accepted the withdrawal. If not, the proposal is settled or expires. */
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
