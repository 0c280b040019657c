import { freshId, Kind, type McpRequestPayload, omitUndefined, ProtocolError, SELF } from '@meup/protocol'
import type { Attendance } from './attendance.js'
import { abortedError, ConnectionError, ToolError, traceToCaller } from './errors.js'
import { getResult } from './get-result.js'
import type { ClientHandler } from './handler.js'
import type { OwnProposals } from './own-proposals.js'
import { type PendingRequests, withProgressToken } from './pending-requests.js'
import { type Proposal, ProposalError, type ProposalOutcome, type ProposeOptions } from './proposal.js'
import { parseToolResult, type ToolResult } from './tool-result.js'
import type { Tracing } from './tracing.js'
import type { CallOptions, ClientContext, Draft } from './types.js'
import { defaultTimeoutMs, wait } from './wait.js'

interface CallAnswer {
  readonly result: Record<string, unknown>
  /** Envelope id of the response. */
  readonly id: string
  /** The participant that approved the request and thereby sent it, if it was proposed. */
  readonly approvedBy?: string
}

/** An MCP request, sent directly or proposed. */
interface Call {
  readonly to: string
  readonly method: string
  readonly params: object
  readonly options: CallOptions
}

/** How a call may be made: what the capabilities of this client permit, as far as it knows, and the options of the call. */
interface Rights {
  readonly mayRequest: boolean
  /** Whether the gateway should propose the request if it may not be made. */
  readonly orPropose: boolean
}

/** A call that the caller stopped waiting for. */
interface GivenUp {
  readonly id: string
  readonly call: Call
  readonly mayRequest: boolean
  readonly proposed: Promise<Proposal | undefined> | undefined
  readonly reason: string
}

/** Default milliseconds to wait for an approval. */
const defaultApprovalMs = 600_000

interface CallsParts {
  readonly tracing: Pick<Tracing, 'addTraceContext'>
  readonly attendance: Attendance
  /** Resolves the name `me` to this participant; returns other names unchanged. */
  readonly resolve: (named: string) => string
  /** Called when a request of this participant to itself has been sent. */
  readonly onOwnCall: NonNullable<ClientHandler['onOwnCall']>
  /** Called with unexpected errors of calls that the caller no longer waits for. */
  readonly onError: (error: unknown) => void
}

/** MCP requests of this participant. Requests that it may not make are proposed instead. */
export class OwnRequests {
  readonly #client: ClientContext
  readonly #requests: PendingRequests
  readonly #ownProposals: OwnProposals
  readonly #tracing: Pick<Tracing, 'addTraceContext'>
  readonly #attendance: Attendance
  readonly #onError: (error: unknown) => void
  readonly #resolve: CallsParts['resolve']
  readonly #onOwnCall: CallsParts['onOwnCall']

  constructor(
    client: ClientContext,
    requests: PendingRequests,
    ownProposals: OwnProposals,
    { tracing, attendance, resolve, onOwnCall, onError }: CallsParts,
  ) {
    this.#resolve = resolve
    this.#onOwnCall = onOwnCall
    this.#client = client
    this.#requests = requests
    this.#ownProposals = ownProposals
    this.#tracing = tracing
    this.#attendance = attendance
    this.#onError = onError
  }

  /**
   * Makes a request with `orPropose`, so that the gateway proposes it if this participant may not make it [MEUP-4.21]. The
   * gateway does not do that for a request with a correlation id, so this client then decides.
   */
  async make(named: string, method: string, params: object, options: CallOptions): Promise<CallAnswer> {
    const to = this.#resolve(named)
    const { signal, propose = true, correlationId, timeoutMs: maxMs = defaultTimeoutMs } = options
    if (signal?.aborted) throw abortedError(signal)
    const call = { to, method, params, options }
    const mayRequest = this.#client.can(
      createDraft(Kind.mcpRequest, call, { jsonrpc: '2.0', method, params }),
    )
    if (propose && correlationId !== undefined && !mayRequest) {
      const mayPropose = this.#client.can(createDraft(Kind.mcpProposal, call, { method, params }))
      if (mayPropose) return this.#propose(call)
    }
    // Does not wait if the call will be refused anyway. Checked synchronously, so that calls are sent in the order in which
    // they are made.
    const isAwaited = mayRequest && !this.#attendance.isHere(to)
    const waitedMs = isAwaited ? await this.#attendance.whenHere([to], { ...options, timeoutMs: maxMs }) : 0
    const waiting = { ...options, timeoutMs: maxMs - waitedMs }
    const orPropose = propose && correlationId === undefined
    return this.#request({ ...call, options: waiting }, { mayRequest, orPropose })
  }

  async #request(call: Call, { mayRequest, orPropose }: Rights): Promise<CallAnswer> {
    const { to, method, options } = call
    const { id = freshId(), onProgress, onNotification, onElicitation, context } = options
    const asked = onProgress === undefined ? call.params : withProgressToken(call.params, id)
    const params = this.#tracing.addTraceContext({ id, method, params: asked, context })
    const response = this.#requests.waitForResponse(
      { id, token: id, to: [to], onProgress, onNotification, onElicitation },
      options,
    )
    const payload: McpRequestPayload = { jsonrpc: '2.0', id, method, params: { ...params } }
    const { expiresAt, ...terms } = this.#getTerms(call)
    const proposed = orPropose ? this.#ownProposals.expect(id, { ...terms, to: [to], expiresAt }) : undefined
    // If the callee leaves, the response promise rejects, which also prevents a queued request from being sent.
    const unwatch = mayRequest
      ? this.#attendance.watch([to], (error) => this.#requests.fail(id, error))
      : () => {}
    const over = new AbortController()
    response.then(
      () => over.abort('answered'),
      (error: unknown) => over.abort(error),
    )
    const draft = {
      ...{ ...createDraft(Kind.mcpRequest, call, payload), id },
      ...(orPropose && { orPropose: expiresAt === undefined || { expiresAt } }),
    }
    this.#client.sendPaced(draft, over.signal).catch((error: Error) => {
      this.#ownProposals.unexpect(id)
      this.#requests.fail(id, to === this.#client.id ? explainSelfRefusal(error, to) : error)
    })
    if (mayRequest && to === this.#client.id) this.#onOwnCall({ ...draft, to: [to], payload }, over.signal)
    try {
      const proposal = proposed?.then((made) => made ?? new Promise<never>(() => {}))
      const first = await Promise.race(proposal === undefined ? [response] : [response, proposal])
      if (!('outcome' in first)) return { result: getResult(first.payload), id: first.id }
      unwatch()
      response.catch(() => {}) // The proposal's outcome is awaited instead.
      this.#requests.fail(id, abortedError({ reason: 'the call is proposed' }))
      return await this.#whenApproved(Promise.resolve(first), options)
    } catch (error) {
      if (error instanceof ConnectionError) {
        this.#giveUp({ id, call, mayRequest, proposed, reason: error.message }).catch(this.#onLateError)
      }
      throw traceToCaller(error)
    } finally {
      unwatch()
    }
  }

  /**
   * Cancels a request immediately. If it may have become a proposal, waits for the gateway's answer and withdraws the proposal.
   */
  async #giveUp({ id, call, mayRequest, proposed, reason }: GivenUp): Promise<void> {
    if (mayRequest) this.#cancel(id, call, reason)
    const proposal = await proposed
    const { signal } = call.options
    if (proposal !== undefined) await proposal.withdraw(signal?.aborted ? String(signal.reason) : reason)
    else if (!mayRequest) this.#cancel(id, call, reason)
  }

  /** Sends a cancellation to the callee. If it is refused, the callee only does unneeded work. */
  #cancel(requestId: string, { to, options }: Call, reason: string): void {
    const payload: McpRequestPayload = {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId, reason },
    }
    const about = { ...pickPlace(options), correlationId: requestId }
    this.#client.send({ kind: Kind.mcpRequest, to: [to], ...about, payload }).catch(this.#onLateError)
  }

  /** Ignores refusals and the end of the connection, because the caller already has its error. */
  readonly #onLateError = (error: unknown): void => {
    if (!(error instanceof ProtocolError || error instanceof ConnectionError)) this.#onError(error)
  }

  async #propose(call: Call): Promise<CallAnswer> {
    const { to, method, params, options } = call
    const { why: rationale, parallelGroup } = options
    const { expiresAt, ...terms } = this.#getTerms(call)
    const place = { ...pickPlace(options), ...omitUndefined({ rationale, parallelGroup, expiresAt }) }
    const made = this.#ownProposals.propose({ to, method, params, ...place }, terms)
    try {
      return await this.#whenApproved(made, options)
    } catch (error) {
      const { signal } = options
      if (signal?.aborted)
        made.then((proposal) => proposal.withdraw(String(signal.reason))).catch(this.#onLateError)
      throw error
    }
  }

  /** The expiry of the proposal that a call may become, and the time limit for the response after its approval. */
  #getTerms({ options }: Call): ProposeOptions & { readonly expiresAt: string | undefined } {
    const { approvalMs = defaultApprovalMs, timeoutMs = defaultTimeoutMs, onProgress } = options
    const hasEnd = approvalMs < Number.POSITIVE_INFINITY
    const expiresAt = hasEnd ? new Date(this.#client.gatewayTime() + approvalMs).toISOString() : undefined
    return { timeoutMs, expiresAt, ...(onProgress && { onProgress }) }
  }

  async #whenApproved(
    made: Promise<Proposal>,
    { onProposal, signal }: Pick<CallOptions, 'onProposal' | 'signal'>,
  ): Promise<CallAnswer> {
    const getOutcome = (proposal: Proposal): Promise<ProposalOutcome> => {
      onProposal?.(proposal)
      return proposal.outcome
    }
    const outcome = await wait<ProposalOutcome>(
      'approval',
      { timeoutMs: Number.POSITIVE_INFINITY, ...(signal && { signal }) },
      ({ resolve, reject }) => void made.then(getOutcome).then(resolve, reject),
      () => {},
    )
    if (outcome.state !== 'approved') throw new ProposalError((await made).id, outcome)
    const { response, responseId, by: approvedBy } = outcome
    return { result: getResult(response), id: responseId, approvedBy }
  }
}

/** Explains the refusal of a call by a participant to its own tools: names the capability that it needs. */
const explainSelfRefusal = (error: Error, id: string): Error =>
  error instanceof ProtocolError && error.code === 'capability_violation'
    ? new ProtocolError(
        error.code,
        `"${id}" may not call its own tools. Add { tool: "${SELF}/*" } to its capabilities in space.yaml.`,
        error.details,
      )
    : error

const pickPlace = ({ context, correlationId }: CallOptions) => omitUndefined({ context, correlationId })

function createDraft(kind: string, { to, options }: Call, payload: object): Draft {
  const { why: rationale, parallelGroup } = options
  return { kind, to: [to], ...pickPlace(options), ...omitUndefined({ rationale, parallelGroup }), payload }
}

/** Returns the result of a tool call. Throws `ToolError` if the tool failed. */
export function readToolResult({ result, id, approvedBy }: CallAnswer): ToolResult {
  const parsed = { ...parseToolResult(result), id, ...omitUndefined({ approvedBy }) }
  if (result.isError !== true) return parsed
  throw new ToolError(parsed.text, undefined, undefined, parsed)
}
