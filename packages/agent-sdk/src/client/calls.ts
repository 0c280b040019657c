import { Kind, type McpRequestPayload, ProtocolError } from '@meup/protocol'
import { defined } from './defined.js'
import { abortedError, ConnectionError, ToolError } from './errors.js'
import { freshId } from './fresh-id.js'
import type { OwnProposals } from './own-proposals.js'
import { type Proposal, ProposalError, type ProposalOutcome } from './proposal.js'
import { getResult, type Requests, withProgressToken } from './requests.js'
import { parseToolResult, type ToolResult } from './tool-result.js'
import type { Tracing } from './tracing.js'
import type { CallOptions, ClientContext, Draft } from './types.js'
import { defaultTimeoutMs, wait } from './wait.js'

interface CallAnswer {
  readonly result: Record<string, unknown>
  /** Of the response. */
  readonly id: string
  /** Who approved and made the request, if it was proposed. */
  readonly approvedBy?: string
}

/** An MCP request, made directly or by approval. */
interface Call {
  readonly to: string
  readonly method: string
  readonly params: object
  readonly options: CallOptions
}

/** Milliseconds to wait for an approval. */
const defaultApprovalMs = 600_000

/** MCP requests of this participant. Requests that it may not make are proposed. */
export class Calls {
  readonly #client: ClientContext
  readonly #requests: Requests
  readonly #ownProposals: Pick<OwnProposals, 'propose'>
  readonly #tracing: Pick<Tracing, 'addTraceContext'>

  constructor(
    client: ClientContext,
    requests: Requests,
    ownProposals: Pick<OwnProposals, 'propose'>,
    tracing: Pick<Tracing, 'addTraceContext'>,
  ) {
    this.#client = client
    this.#requests = requests
    this.#ownProposals = ownProposals
    this.#tracing = tracing
  }

  /** Proposes a request that the capabilities forbid, or that the gateway refuses for them. */
  async make(to: string, method: string, params: object, options: CallOptions): Promise<CallAnswer> {
    const { signal, propose = true } = options
    if (signal?.aborted) throw abortedError(signal)
    const call = { to, method, params, options }
    const mayPropose = propose && this.#client.can(createDraft(Kind.mcpProposal, call, { method, params }))
    const request = createDraft(Kind.mcpRequest, call, { jsonrpc: '2.0', method, params })
    if (mayPropose && !this.#client.can(request)) return this.#propose(call)
    try {
      return await this.#request(call)
    } catch (error) {
      const isDenied = error instanceof ProtocolError && error.code === 'capability_violation'
      if (!isDenied || !mayPropose) throw error
      return this.#propose(call)
    }
  }

  async #request(call: Call): Promise<CallAnswer> {
    const { to, method, options } = call
    const { onProgress, onNotification, onElicitation, context } = options
    const id = freshId()
    const asked = onProgress === undefined ? call.params : withProgressToken(call.params, id)
    const params = this.#tracing.addTraceContext({ id, method, params: asked, context })
    const response = this.#requests.waitForResponse(
      { id, token: id, to: [to], onProgress, onNotification, onElicitation },
      options,
    )
    const payload: McpRequestPayload = { jsonrpc: '2.0', id, method, params: { ...params } }
    // What nobody waits for any more is not sent late.
    const over = new AbortController()
    response.then(
      () => over.abort('answered'),
      (error: unknown) => over.abort(error),
    )
    this.#client
      .sendPaced({ ...createDraft(Kind.mcpRequest, call, payload), id }, over.signal)
      .catch((error: Error) => this.#requests.fail(id, error))
    try {
      const { id: responseId, payload } = await response
      return { result: getResult(payload), id: responseId }
    } catch (error) {
      if (error instanceof ConnectionError) this.#giveUp(id, call, error.message)
      throw error
    }
  }

  /** Cancels the request at its receiver. Errors are ignored: the receiver then finishes unneeded work. */
  #giveUp(requestId: string, { to, options }: Call, reason: string): void {
    const payload: McpRequestPayload = {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId, reason },
    }
    const about = { ...pickPlace(options), correlationId: requestId }
    this.#client.send({ kind: Kind.mcpRequest, to: [to], ...about, payload }).catch(() => {})
  }

  async #propose({ to, method, params, options }: Call): Promise<CallAnswer> {
    const { why, parallelGroup, onProgress, onProposal, signal } = options
    const { approvalMs = defaultApprovalMs, timeoutMs = defaultTimeoutMs } = options
    const made = this.#ownProposals.propose(
      {
        ...{ to, method, params, ...pickPlace(options) },
        ...defined({ rationale: why, parallelGroup }),
        ...(approvalMs < Number.POSITIVE_INFINITY && {
          expiresAt: new Date(this.#client.gatewayTime() + approvalMs).toISOString(),
        }),
      },
      { timeoutMs, ...(onProgress && { onProgress }) },
    )
    const getOutcome = (proposal: Proposal): Promise<ProposalOutcome> => {
      onProposal?.(proposal)
      return proposal.outcome
    }
    const outcome = await wait<ProposalOutcome>(
      'approval',
      { timeoutMs: Number.POSITIVE_INFINITY, ...(signal && { signal }) },
      ({ resolve, reject }) => void made.then(getOutcome).then(resolve, reject),
      () => {},
    ).catch((error: unknown) => {
      if (signal?.aborted) made.then((proposal) => proposal.withdraw(String(signal.reason))).catch(() => {})
      throw error
    })
    if (outcome.state !== 'approved') throw new ProposalError((await made).id, outcome)
    const { response, responseId, by: approvedBy } = outcome
    return { result: getResult(response), id: responseId, approvedBy }
  }
}

const pickPlace = ({ context, correlationId }: CallOptions) => defined({ context, correlationId })

function createDraft(kind: string, { to, options }: Call, payload: object): Draft {
  const { why: rationale, parallelGroup } = options
  return { kind, to: [to], ...pickPlace(options), ...defined({ rationale, parallelGroup }), payload }
}

/** The result of a call to a tool. Throws `ToolError` if the tool failed. */
export function readToolResult({ result, id, approvedBy }: CallAnswer): ToolResult {
  const parsed = { ...parseToolResult(result), id, ...defined({ approvedBy }) }
  if (result.isError !== true) return parsed
  throw new ToolError(parsed.text || 'the tool failed without saying why', undefined, undefined, parsed)
}
