import {
  type AgentContext,
  methods,
  type PermissionOption,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'
import type { OpenProposal, SpaceClient } from '@meup/agent-sdk'
import { getAlwaysCapability, type Settlement } from '@meup/agent-sdk/internal'
import { capabilitySentence, isObject } from '@meup/folds'
import { type Capability, ProtocolError } from '@meup/protocol'
import { textContent, thoughtChunk } from './content.js'
import { describeProblem } from './errors.js'
import { describePermission, describeProposedCall, formatDecision } from './tool-calls.js'

/** Approvals have no timeout: only the proposer, not this client, needs the result of the approved call. */
const unhurried = { timeoutMs: Number.POSITIVE_INFINITY }

/** Abort reason: the proposal has changed, so the user is asked again. */
const askAgain = Symbol('ask again')

interface PermissionsParts {
  readonly space: SpaceClient
  readonly client: AgentContext
  readonly notify: (session: string, update: SessionUpdate) => void
  readonly log: (line: string) => void
}

/**
 * Asks the client's user about proposals, and sends the decision. The first decision counts, whichever participant makes it:
 * afterwards the request to the user is cancelled, and a late answer has no effect.
 */
export class Permissions {
  readonly #parts: PermissionsParts
  /** Pending permission requests, by proposal id. */
  readonly #asked = new Map<string, AbortController>()
  /** For each proposal that no active turn shows, by its id, the session that must show the decision about it. */
  readonly #followed = new Map<string, string>()

  constructor(parts: PermissionsParts) {
    this.#parts = parts
    parts.space.proposals
      .on('settled', (proposal, settlement) => this.#onSettled(proposal, settlement))
      .on('programEnded', ({ id }) => this.#asked.get(id)?.abort(askAgain))
  }

  /**
   * Shows every open proposal that this participant may approve, and asks about it, unless it is already asked about. `signal`
   * cancels the requests.
   */
  askAll(session: string, signal: AbortSignal): void {
    const { space, notify } = this.#parts
    for (const proposal of space.proposals.list()) {
      const { id } = proposal
      if (this.#asked.has(id) || !space.proposals.mayApprove(id)) continue
      notify(session, { sessionUpdate: 'tool_call', ...describeProposedCall(proposal), status: 'pending' })
      this.follow(session, id)
      this.ask(session, id, signal)
    }
  }

  /**
   * Asks the user about a proposal if this participant may approve it. A decision or `signal` ends the request. If the
   * proposer's program ends, asks again, so that the user decides with that knowledge.
   */
  ask(session: string, id: string, signal: AbortSignal): void {
    const { proposals } = this.#parts.space
    const proposal = proposals.get(id)
    if (proposal === undefined || this.#asked.has(id) || !proposals.mayApprove(id)) return
    const settled = new AbortController()
    this.#asked.set(id, settled)
    this.#decide(session, proposal, AbortSignal.any([settled.signal, signal]))
      .catch((error: unknown) => {
        // Another participant has decided first, and the client shows that decision already.
        if (error instanceof ProtocolError && proposals.get(id) === undefined) return
        this.#parts.log(`${id} was not decided by the user: ${describeProblem(error)}`)
      })
      .finally(() => {
        this.#asked.delete(id)
        if (settled.signal.reason === askAgain) this.ask(session, id, signal)
      })
  }

  /** Makes this session show the decision about the proposal once it is made. */
  follow(session: string, id: string): void {
    if (this.#parts.space.proposals.get(id) !== undefined) this.#followed.set(id, session)
  }

  async #decide(session: string, proposal: OpenProposal, signal: AbortSignal): Promise<void> {
    const { space, client, notify } = this.#parts
    const { id, from } = proposal
    const { toolCall: shown, isWhole } = describePermission(proposal)
    const toolCall = { ...shown, status: 'pending' } as const
    const options = this.#options(proposal, isWhole)
    if (options.length === 0) return
    const asked: Promise<RequestPermissionResponse> = client.request(
      methods.client.session.requestPermission,
      { sessionId: session, toolCall, options },
      { cancellationSignal: signal, stopWaitingOnCancel: true },
    )
    const { outcome } = await asked.catch((error: unknown) => {
      if (signal.aborted) return { outcome: { outcome: 'cancelled' } as const }
      throw error
    })
    if (outcome.outcome === 'cancelled' || signal.aborted) return
    if (options.every(({ optionId }) => optionId !== outcome.optionId))
      return this.#parts.log(`${id} was not decided: ${outcome.optionId} was not offered`)
    if (outcome.optionId === 'reject_once') await space.proposals.reject(id, { reason: 'disagree' })
    else if (outcome.optionId === 'allow_once') await space.proposals.approve(id, unhurried)
    else if (outcome.optionId === 'allow_always') {
      const { id: grant } = await space.proposals.allowAlways(id)
      notify(session, thoughtChunk(`${from} may do this from now on (grant ${grant})`))
    }
  }

  /** The options for the user. A proposal that is too long to show can only be rejected. */
  #options(proposal: OpenProposal, isWhole: boolean): PermissionOption[] {
    const { id, from } = proposal
    const { proposals } = this.#parts.space
    const capability = isWhole && proposals.mayAllowAlways(id) ? getAlwaysCapability(proposal) : undefined
    return [
      ...(isWhole ? [option('allow_once', 'Allow')] : []),
      ...(capability === undefined ? [] : [option('allow_always', nameAlways(from, capability))]),
      ...(proposals.mayReject(id) ? [option('reject_once', 'Reject')] : []),
    ]
  }

  #onSettled({ id }: OpenProposal, settlement: Settlement): void {
    this.#asked.get(id)?.abort(formatDecision(settlement))
    const session = this.#followed.get(id)
    if (session === undefined) return
    this.#followed.delete(id)
    const status = settlement.state === 'approved' ? 'completed' : 'failed'
    const content = [textContent(formatDecision(settlement))]
    this.#parts.notify(session, { sessionUpdate: 'tool_call_update', toolCallId: id, status, content })
  }
}

/** The name of the option `allow_always`: describes the capability to be granted. */
function nameAlways(from: string, capability: Capability): string {
  const payload = isObject(capability) && 'payload' in capability ? capability.payload : undefined
  const params = isObject(payload) && isObject(payload.params) ? payload.params : {}
  const args = params.arguments === undefined ? ', with any arguments' : ''
  return `Always allow ${from} to ${capabilitySentence(capability)}${args}`
}

const option = (kind: PermissionOption['kind'], name: string): PermissionOption => ({
  optionId: kind,
  kind,
  name,
})
