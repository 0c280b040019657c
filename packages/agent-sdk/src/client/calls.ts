import { Kind, type McpRequestPayload, ProtocolError } from '@meup/protocol'
import { ConnectionError } from './errors.js'
import { freshId } from './fresh-id.js'
import type { Proposing } from './own-proposals.js'
import { type Proposal, ProposalError, type ProposalOutcome, withProgressToken } from './proposal.js'
import { type Requests, resultOf } from './requests.js'
import type { Timed } from './space-state.js'
import type { Tracing } from './tracing.js'
import type { CallOptions, Draft, Seat } from './types.js'
import { defaultTimeout, wait } from './wait.js'

interface Answer {
  readonly result: Record<string, unknown>
  /** Who made the request, where this participant may not. */
  readonly approvedBy?: string
}

/** An MCP request, whoever makes it in the end. */
interface Call {
  readonly to: string
  readonly method: string
  readonly params: object
  readonly options: CallOptions
}

type Caller = Pick<Seat, 'send' | 'can'> & Timed

/** Milliseconds that a call waits for an approval. */
const defaultApproval = 600_000

/** What this participant asks of others by MCP: by a request, or by a proposal where it may not make that. */
export class Calls {
  readonly #seat: Caller
  readonly #requests: Requests
  readonly #proposing: Pick<Proposing, 'propose'>
  readonly #tracing: Pick<Tracing, 'mark'>

  constructor(
    seat: Caller,
    requests: Requests,
    proposing: Pick<Proposing, 'propose'>,
    tracing: Pick<Tracing, 'mark'>,
  ) {
    this.#seat = seat
    this.#requests = requests
    this.#proposing = proposing
    this.#tracing = tracing
  }

  /** What is known to be forbidden is not tried; what only turns out to be is proposed after that. */
  async make(to: string, method: string, params: object, options: CallOptions): Promise<Answer> {
    const { signal, propose = true } = options
    if (signal?.aborted) throw new ConnectionError('aborted', `aborted: ${String(signal.reason)}`)
    const call = { to, method, params, options }
    const mayPropose = propose && this.#seat.can(draftOf(Kind.mcpProposal, call, { method, params }))
    const request = draftOf(Kind.mcpRequest, call, { jsonrpc: '2.0', method, params })
    if (mayPropose && !this.#seat.can(request)) return this.#propose(call)
    try {
      return { result: await this.#request(call) }
    } catch (error) {
      const isDenied = error instanceof ProtocolError && error.code === 'capability_violation'
      if (!isDenied || !mayPropose) throw error
      return this.#propose(call)
    }
  }

  async #request(call: Call): Promise<Record<string, unknown>> {
    const { to, method, options } = call
    const { onProgress, onNotification, context } = options
    const id = freshId()
    const asked = onProgress === undefined ? call.params : withProgressToken(call.params, id)
    const params = this.#tracing.mark({ id, method, params: asked, context })
    const response = this.#requests.response({ id, token: id, to: [to], onProgress, onNotification }, options)
    const payload: McpRequestPayload = { jsonrpc: '2.0', id, method, params: { ...params } }
    this.#seat
      .send({ ...draftOf(Kind.mcpRequest, call, payload), id })
      .catch((error: Error) => this.#requests.fail(id, error))
    try {
      return resultOf((await response).payload)
    } catch (error) {
      if (error instanceof ConnectionError) this.#giveUp(id, call, error.message)
      throw error
    }
  }

  /** Tells the other side that nobody waits any more; if it cannot be told, it works in vain. */
  #giveUp(requestId: string, { to, options }: Call, reason: string): void {
    const payload: McpRequestPayload = {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId, reason },
    }
    const about = { ...placeOf(options), correlationId: requestId }
    this.#seat.send({ kind: Kind.mcpRequest, to: [to], ...about, payload }).catch(() => {})
  }

  async #propose({ to, method, params, options }: Call): Promise<Answer> {
    const { why, parallelGroup, onProgress, onProposal, signal } = options
    const { approvalMs = defaultApproval, timeoutMs = defaultTimeout } = options
    const made = this.#proposing.propose(
      {
        ...{ to, method, params, ...placeOf(options) },
        ...(why !== undefined && { rationale: why }),
        ...(parallelGroup !== undefined && { parallelGroup }),
        ...(approvalMs < Number.POSITIVE_INFINITY && {
          expiresAt: new Date(this.#seat.gatewayTime() + approvalMs).toISOString(),
        }),
      },
      { timeoutMs, ...(onProgress && { onProgress }) },
    )
    const outcomeOf = (proposal: Proposal): Promise<ProposalOutcome> => {
      onProposal?.(proposal)
      return proposal.outcome
    }
    const outcome = await wait<ProposalOutcome>(
      'approval',
      { timeoutMs: Number.POSITIVE_INFINITY, ...(signal && { signal }) },
      ({ resolve, reject }) => void made.then(outcomeOf).then(resolve, reject),
      () => {},
    ).catch((error: unknown) => {
      if (signal?.aborted) made.then((proposal) => proposal.withdraw(String(signal.reason))).catch(() => {})
      throw error
    })
    if (outcome.state !== 'approved') throw new ProposalError((await made).id, outcome)
    return { result: resultOf(outcome.response), approvedBy: outcome.by }
  }
}

const placeOf = ({ context, correlationId }: CallOptions) => ({
  ...(context !== undefined && { context }),
  ...(correlationId !== undefined && { correlationId }),
})

function draftOf(kind: string, { to, options }: Call, payload: object): Draft {
  const { why, parallelGroup } = options
  return {
    ...{ kind, to: [to], ...placeOf(options) },
    ...(why !== undefined && { rationale: why }),
    ...(parallelGroup !== undefined && { parallelGroup }),
    payload,
  }
}
