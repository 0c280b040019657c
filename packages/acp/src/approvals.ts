import { randomUUID } from 'node:crypto'
import { type AnyEnvelope, type Proposal, ProtocolError, type SpaceClient } from '@meup/agent-sdk'
import { respond } from '@meup/agent-sdk/internal'
import {
  copyNumberTexts,
  correlations,
  getErrorMessage,
  Kind,
  type McpRequestPayload,
  type McpResponsePayload,
  omitUndefined,
} from '@meup/protocol'
import { agentText } from './errors.js'

/** A call of one of the agent's own tools, as it is logged in the space. */
export interface ReportedCall {
  readonly name: string
  readonly arguments: object
  /** `_meta` for the agent's own records. Approvals do not cover it, so a proposal contains only its `kind`. */
  readonly meta: object
  readonly context: string
  readonly rationale?: string
  /** Resolves when the call has ended. */
  readonly result: Promise<McpResponsePayload>
}

export type PermissionDecision =
  | { readonly state: 'allowed' }
  /** `message`: text by the participant that rejected. */
  | { readonly state: 'rejected'; readonly reason: string; readonly message?: string }
  /** No decision was made before the call ended or the proposal expired. */
  | { readonly state: 'cancelled' }

/** An option that allows the call once. */
interface Choice {
  readonly id: string
  readonly name: string
}

interface Open {
  readonly call: ReportedCall
  /** Whether the decision also selects one of several options. New capabilities of the agent do not decide such a call. */
  readonly isChoice: boolean
  readonly proposal: Proposal
  settle(decision: PermissionDecision): void
}

/** Maximum options to allow a call; each gets its own proposal. */
const maxChoices = 8

/**
 * Decides an agent's permission requests in the space: by the agent's own capabilities, otherwise by a proposal to participants
 * that may make the call [MEUP-4.17]. An allowed call is logged as a call from the agent to itself, with its result.
 */
export class Approvals {
  readonly #space: SpaceClient
  readonly #approvalMs: number
  readonly #open = new Map<string, Open>()

  /** `approvalMs`: milliseconds until proposals expire. */
  constructor(space: SpaceClient, approvalMs: number) {
    this.#space = space
    this.#approvalMs = approvalMs
    space.on('capabilities', () => this.#allowOpen())
  }

  /** Decides about a call. An abort of `signal` withdraws its proposal. */
  async decide(call: ReportedCall, signal: AbortSignal): Promise<PermissionDecision> {
    const limit = Math.floor(this.#space.welcome.limits.maxEnvelopeBytes * 0.9)
    const bytes = Buffer.byteLength(JSON.stringify(this.#createParams(call)))
    if (bytes > limit) return { state: 'rejected', reason: agentText('large_call', { bytes, limit }) }
    if (signal.aborted) return { state: 'cancelled' }
    if (this.#space.can(this.#createRequest(call, ''))) {
      try {
        await this.record(call)
        return { state: 'allowed' }
      } catch (error) {
        if (!isDenied(error)) throw error
      }
    }
    return this.#propose(call, signal)
  }

  /** Makes one proposal for each option. The first approved option is chosen, and the other proposals are withdrawn. */
  choose(
    call: ReportedCall,
    choices: readonly Choice[],
    signal: AbortSignal,
  ): Promise<PermissionDecision & { readonly option?: string }> {
    const names = choices.map(({ name }) => name).join(', ')
    if (choices.length > maxChoices) {
      const reason = agentText('many_choices', { count: choices.length, limit: maxChoices, names })
      return Promise.resolve({ state: 'rejected', reason })
    }
    const chosen = new AbortController()
    const over = AbortSignal.any([signal, chosen.signal])
    const note = `Approve one of: ${names}`
    const rationale = call.rationale === undefined ? note : `${call.rationale}\n${note}`
    return new Promise((resolve) => {
      let left = choices.length
      let rejected: PermissionDecision | undefined
      for (const { id, name } of choices) {
        const each = { ...call, rationale, arguments: withChoice(call.arguments, name) }
        this.#propose(each, over, true).then(
          (decision) => {
            left--
            if (decision.state === 'allowed') {
              resolve({ ...decision, option: id })
              chosen.abort()
            } else {
              if (decision.state === 'rejected') rejected ??= decision
              if (left === 0) resolve(rejected ?? decision)
            }
          },
          (error: unknown) => resolve({ state: 'rejected', reason: getErrorMessage(error) }),
        )
      }
    })
  }

  /**
   * Logs an allowed call, and later its result. Rejects with `capability_violation`, which the gateway logs, if the agent may
   * not make it.
   */
  async record(call: ReportedCall, correlationId?: string): Promise<void> {
    const id = randomUUID()
    await this.#space.sendWhenAllowed(this.#createRequest(call, id, correlationId))
    this.#respond(id, call).catch(() => {}) // The connection is closed, so the call has no response in the log.
  }

  /**
   * Answers an `mcp.request` to the agent: the request that fulfils an approved proposal gets the result of the proposed call;
   * all other requests get an error.
   */
  async answer(request: AnyEnvelope): Promise<McpResponsePayload> {
    // Waits a tick: the request may directly follow the echo of the proposal, before `#open` contains the proposal.
    await new Promise((resolve) => setImmediate(resolve))
    const [open] = correlations(request).flatMap((id) => this.#open.get(id) ?? [])
    if (open === undefined) {
      const code = correlations(request).length > 0 ? 'settled' : 'own_tools'
      return failed(agentText(code, { agent: this.#space.id }))
    }
    open.settle({ state: 'allowed' })
    return open.call.result
  }

  /** Withdraws the open proposals of this participant's previous process. */
  async withdrawLeft(): Promise<void> {
    const left = this.#space.welcome.proposals.filter(({ from }) => from === this.#space.id)
    await Promise.allSettled(
      left.map(({ id }) => {
        const payload = { reason: 'its agent was started again' }
        return this.#space.send({ kind: Kind.mcpWithdraw, correlationId: id, payload })
      }),
    )
  }

  async #propose(call: ReportedCall, signal: AbortSignal, isChoice = false): Promise<PermissionDecision> {
    const { context, rationale } = call
    let proposal: Proposal
    try {
      proposal = await this.#space.propose({
        to: this.#space.id,
        method: 'tools/call',
        params: this.#createProposal(call),
        expiresAt: new Date(this.#space.gatewayTime() + this.#approvalMs).toISOString(),
        context,
        ...omitUndefined({ rationale }),
      })
    } catch (error) {
      return { state: 'rejected', reason: agentText('no_approver', { reason: getErrorMessage(error) }) }
    }
    return new Promise((resolve) => {
      const withdraw = (): void => {
        settle({ state: 'cancelled' })
        proposal.withdraw('no longer asked for').catch(() => {}) // The proposal is decided, or the connection closed.
      }
      const settle = (decision: PermissionDecision): void => {
        signal.removeEventListener('abort', withdraw)
        if (this.#open.delete(proposal.id)) resolve(decision)
      }
      this.#open.set(proposal.id, { call, isChoice, proposal, settle })
      if (signal.aborted) withdraw()
      else signal.addEventListener('abort', withdraw)
      proposal.outcome.then(
        (outcome) => {
          if (outcome.state === 'rejected') {
            const { by, reason, message } = outcome
            const why = `rejected by ${by}: ${message ?? reason}`
            settle({ state: 'rejected', reason: why, ...omitUndefined({ message }) })
          } else if (outcome.state !== 'approved') settle({ state: 'cancelled' })
        },
        () => settle({ state: 'cancelled' }),
      )
    })
  }

  /** Allows the calls that wait for a decision, if the agent's new capabilities cover them. */
  #allowOpen(): void {
    for (const [id, { call, isChoice, settle }] of this.#open) {
      if (isChoice || !this.#space.can(this.#createRequest(call, '', id))) continue
      this.record(call, id).then(
        () => settle({ state: 'allowed' }),
        () => {}, // The call is already decided.
      )
    }
  }

  async #respond(id: string, call: ReportedCall): Promise<void> {
    const { context, payload } = this.#createRequest(call, id)
    await respond(this.#space, { id, from: this.#space.id, context, payload }, await call.result)
  }

  #createRequest(call: ReportedCall, id: string, correlationId?: string) {
    const { context, rationale } = call
    const payload: McpRequestPayload = {
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: this.#createParams(call),
    }
    return {
      ...{ id, kind: Kind.mcpRequest, to: [this.#space.id], context, payload },
      ...omitUndefined({ rationale, correlationId }),
    }
  }

  /** The parameters of a proposal: only what approvers decide about, and the kind of the call. */
  #createProposal({ name, arguments: args, meta }: ReportedCall): Record<string, unknown> {
    const { kind } = meta as { readonly kind?: string }
    return { name, arguments: args, ...(kind !== undefined && { _meta: { kind } }) }
  }

  #createParams({ name, arguments: args, meta }: ReportedCall): Record<string, unknown> {
    return { name, arguments: args, _meta: meta }
  }
}

/** Adds the chosen option to the arguments. */
export const withChoice = (args: object, choice: string): object => copyNumberTexts({ ...args, choice }, args)

export const isDenied = (error: unknown): boolean =>
  error instanceof ProtocolError && error.code === 'capability_violation'

export const failed = (text: string): McpResponsePayload => ({
  result: { content: [{ type: 'text', text }], isError: true },
})
