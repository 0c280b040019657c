import {
  type AnyEnvelope,
  type Capability,
  correlations,
  type EnvelopeOf,
  getMember,
  Kind,
  type PayloadPattern,
  ProtocolError,
  type WelcomePayload,
} from '@meup/protocol'
import { EventEmitter } from 'eventemitter3'
import { defined } from './defined.js'
import { Verbatim } from './frames.js'
import { freshId } from './fresh-id.js'
import type { ClientHandler } from './handler.js'
import { type Grant, type GrantOptions, sendGrant } from './management.js'
import { findGone, pickReasons, type Settlement } from './proposal.js'
import { getResult, type Requests } from './requests.js'
import type { CallOptions, ClientContext } from './types.js'
import { setLongTimeout, type WaitOptions } from './wait.js'

/** A proposal that waits for a decision. */
export interface OpenProposal {
  readonly id: string
  readonly from: string
  /** When it was made, RFC 3339. */
  readonly ts: string
  /** The addressees of the request; absent = everyone. */
  readonly to?: readonly string[]
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
  /** The params as received, JSON. They are approved in this form: parsing changes large numbers. */
  readonly paramsJson?: string
  /** Why its proposer wants it. */
  readonly rationale?: string
  readonly context?: string
  readonly correlationId?: string | readonly string[]
  readonly parallelGroup?: number
  readonly expiresAt?: string
  /** How often it can still be approved. */
  readonly usesLeft: number
  /** Who rejected it; others may still approve it. */
  readonly rejectedBy: readonly string[]
}

export interface ApproveOptions extends WaitOptions, Pick<CallOptions, 'onElicitation'> {
  /** The reason for the approval; default: none is given [MEUP-13.11]. */
  readonly why?: string
}

export interface Rejection {
  readonly reason: string
  readonly message?: string
}

export interface ProposalsEvents {
  proposal: [OpenProposal]
  /** The proposal is no longer open: for everyone, or, after a rejection by this participant, for this one. */
  settled: [OpenProposal, Settlement]
}

export interface AlwaysOptions extends GrantOptions, Pick<ApproveOptions, 'why' | 'onElicitation'> {
  /** Patterns [MEUP-4.3] that these arguments have to match; what is not named may be anything. */
  readonly arguments?: Readonly<Record<string, string>>
}

interface Entry {
  readonly proposal: OpenProposal
  readonly seq: number
  readonly frameChars: number
  cancelExpiry(): void
}

/** Beyond these bounds the oldest proposal of the participant with the largest share is dropped. */
const [maxOpen, maxOpenChars] = [1000, 8_000_000]

/**
 * The proposals of others that wait for a decision, as far as this connection received them [MEUP-4.17]. A later connection
 * receives earlier ones only if it resumes: with `after` or `tail`.
 */
export class Proposals extends EventEmitter<ProposalsEvents> implements ClientHandler {
  readonly #client: ClientContext
  readonly #requests: Requests
  readonly #open = new Map<string, Entry>()
  #chars = 0

  constructor(client: ClientContext, requests: Requests) {
    super()
    this.#client = client
    this.#requests = requests
  }

  /** The open proposals, oldest first. */
  list(): OpenProposal[] {
    return [...this.#open.values()].map(({ proposal }) => proposal)
  }

  get(id: string): OpenProposal | undefined {
    return this.#open.get(id)?.proposal
  }

  /** Whether this participant may make the request itself. The gateway decides. */
  mayApprove(id: string): boolean {
    const proposal = this.get(id)
    if (proposal === undefined || proposal.from === this.#client.id) return false
    const { to, context, method, params } = proposal
    const payload = { jsonrpc: '2.0', method, ...defined({ params }) }
    return this.#client.can({ kind: Kind.mcpRequest, ...defined({ to, context }), payload })
  }

  /** Rejecting requires the right to approve [MEUP-3.11]. */
  mayReject(id: string): boolean {
    const from = this.get(id)?.from
    const draft = { kind: Kind.mcpReject, to: [from ?? ''], correlationId: id }
    return this.mayApprove(id) && this.#client.can(draft)
  }

  /** Whether this participant may grant what `allowAlways` without `arguments` grants. */
  mayAllowAlways(id: string): boolean {
    const proposal = this.get(id)
    if (proposal?.to === undefined || !this.mayApprove(id)) return false
    return this.#client.mayGrant(proposal.from, [narrowCapability(proposal, undefined)])
  }

  /**
   * Makes the proposed request exactly as proposed and returns its result; throws `ToolError` for its error. Rejects with
   * `ProtocolError` where this participant may not make it, or it was already approved. A timeout does not cancel
   * the request: its answer is for the proposer.
   */
  async approve(id: string, options: ApproveOptions = {}): Promise<Record<string, unknown>> {
    return getResult((await this.#carryOut(this.#find(id), options).response).payload)
  }

  /** Resolves when the space has the rejection. Others may approve the proposal until it is withdrawn. */
  async reject(id: string, { reason, message }: Rejection): Promise<void> {
    const { from } = this.#find(id)
    const payload = pickReasons({ reason, ...(message !== undefined && { message }) })
    await this.#client.send({ kind: Kind.mcpReject, to: [from], correlationId: id, payload })
  }

  /**
   * Approves the proposal and grants its proposer the capability for the same method, tool and target, with any arguments, or
   * with those that match.
   * Throws `TypeError` for a proposal without a target.
   */
  async allowAlways(id: string, options: AlwaysOptions = {}): Promise<Grant> {
    const { arguments: args, why, onElicitation, ...terms } = options
    const proposal = this.#find(id)
    const capability = narrowCapability(proposal, args)
    const { sent, response } = this.#carryOut(proposal, {
      ...defined({ why }),
      ...defined({ onElicitation }),
    })
    response.catch(() => {}) // It is for the proposer.
    await sent
    return sendGrant(this.#client, proposal.from, [capability], terms)
  }

  /** @internal */
  onEnvelope(envelope: AnyEnvelope, frame: string): void {
    if (envelope.kind === Kind.mcpProposal) {
      this.#add(toOpenProposal(envelope, frame), frame.length, envelope.seq ?? 0)
    } else if (envelope.kind === Kind.spaceKick) this.#onKick(envelope.payload.participantId)
    else if (envelope.kind === Kind.systemSpace) this.#onGone(envelope)
    else if (this.#open.size > 0) {
      for (const id of new Set(correlations(envelope))) {
        const entry = this.#open.get(id)
        if (entry !== undefined) this.#onDecision(id, entry, envelope)
      }
    }
  }

  /** @internal */
  onWelcome({ resume }: WelcomePayload): void {
    if (resume.status === 'lost') this.#clear()
  }

  /** @internal */
  onClose(): void {
    this.#clear()
  }

  #find(id: string): OpenProposal {
    const proposal = this.get(id)
    if (proposal !== undefined) return proposal
    throw new ProtocolError('proposal_not_found', `no proposal ${id} is known to be open here`)
  }

  #carryOut(proposal: OpenProposal, options: ApproveOptions) {
    const id = freshId()
    const { to = [] } = proposal
    const { onElicitation } = options
    const response = this.#requests.waitForResponse({ id, token: id, to, onElicitation }, options)
    const sent = this.#sendRequest(proposal, id, options.why)
    sent.catch((error: Error) => this.#requests.fail(id, error))
    return { sent, response }
  }

  #sendRequest(proposal: OpenProposal, id: string, why: string | undefined): Promise<AnyEnvelope> {
    const { to, method, context, paramsJson } = proposal
    const head = JSON.stringify({ jsonrpc: '2.0', id, method }).slice(0, -1)
    return this.#client.send({
      id,
      kind: Kind.mcpRequest,
      correlationId: proposal.id,
      ...defined({ to, context, rationale: why }),
      payload: new Verbatim(paramsJson === undefined ? `${head}}` : `${head},"params":${paramsJson}}`),
    })
  }

  #add(proposal: OpenProposal, frameChars: number, seq: number): void {
    const { id, expiresAt } = proposal
    const end = expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt)
    const leftMs = end - this.#client.gatewayTime()
    if (leftMs <= 0) return
    const cancelExpiry = setLongTimeout(leftMs, () => this.#settle(id, { state: 'expired' }))
    this.#open.set(id, { proposal, seq, frameChars, cancelExpiry })
    this.#chars += frameChars
    while (this.#open.size > maxOpen || this.#chars > maxOpenChars) this.#dropOne()
    this.emit('proposal', proposal)
  }

  /** No participant can displace the proposals of others. */
  #dropOne(): void {
    const shares = new Map<string, number>()
    for (const { proposal, frameChars } of this.#open.values()) {
      const share = 1 / maxOpen + frameChars / maxOpenChars
      shares.set(proposal.from, (shares.get(proposal.from) ?? 0) + share)
    }
    const largest = Math.max(...shares.values())
    for (const [id, entry] of this.#open) {
      if (shares.get(entry.proposal.from) !== largest) continue
      this.#remove(id, entry)
      return
    }
  }

  #onDecision(id: string, entry: Entry, envelope: AnyEnvelope): void {
    const { proposal } = entry
    const { from } = envelope
    const change = (fields: Partial<OpenProposal>): void => {
      this.#open.set(id, { ...entry, proposal: { ...proposal, ...fields } })
    }
    if (envelope.kind === Kind.mcpRequest) {
      const usesLeft = proposal.usesLeft - 1
      change({ usesLeft })
      if (usesLeft === 0) this.#settle(id, { state: 'approved', by: from, requestId: envelope.id })
    } else if (envelope.kind === Kind.mcpReject) {
      change({ rejectedBy: [...new Set([...proposal.rejectedBy, from])] })
      if (from === this.#client.id) {
        this.#settle(id, { state: 'rejected', by: from, ...pickReasons(envelope.payload) })
      }
    } else if (envelope.kind === Kind.mcpWithdraw && from === proposal.from) {
      this.#settle(id, { state: 'withdrawn', ...pickReasons(envelope.payload) })
    }
  }

  /** A kick withdraws the proposals of its participant. */
  #onKick(participant: string): void {
    for (const { id, from } of this.list()) {
      if (from === participant) this.#settle(id, { state: 'withdrawn', reason: 'kicked' })
    }
  }

  /** A pruned or erased proposal cannot be decided. */
  #onGone(envelope: AnyEnvelope): void {
    const gone = findGone(envelope)
    if (gone === undefined) return
    for (const [id, { seq }] of this.#open) {
      if (gone.includes(id, seq)) this.#settle(id, { state: 'withdrawn', reason: gone.reason })
    }
  }

  #settle(id: string, settlement: Settlement): void {
    const entry = this.#open.get(id)
    if (entry === undefined) return
    this.#remove(id, entry)
    this.emit('settled', entry.proposal, settlement)
  }

  #remove(id: string, { frameChars, cancelExpiry }: Entry): void {
    cancelExpiry()
    this.#open.delete(id)
    this.#chars -= frameChars
  }

  #clear(): void {
    for (const [id, entry] of this.#open) this.#remove(id, entry)
  }
}

const [encoder, decoder] = [new TextEncoder(), new TextDecoder()]

function toOpenProposal(envelope: EnvelopeOf<typeof Kind.mcpProposal>, frame: string): OpenProposal {
  const { id, from, ts, to, rationale, context, correlationId, parallelGroup, payload } = envelope
  const { method, params, expiresAt, uses = 1 } = payload
  const payloadBytes = getMember(encoder.encode(frame), 'payload')
  const paramsBytes = payloadBytes && getMember(payloadBytes, 'params')
  return {
    ...{ id, from, ts, method, usesLeft: uses, rejectedBy: [] },
    ...defined({ to, params, paramsJson: paramsBytes && decoder.decode(paramsBytes), rationale, context }),
    ...defined({ correlationId, parallelGroup, expiresAt }),
  }
}

/**
 * The capability for the proposed method, tool and target, with arguments that match `args`; absent: with any. Throws `TypeError` where the proposal names
 * no target: a capability without one would allow the request to everyone.
 */
function narrowCapability(
  { id, to, method, params }: OpenProposal,
  args: AlwaysOptions['arguments'],
): Capability {
  if (to === undefined) {
    throw new TypeError(`${id} is addressed to nobody: approve it alone, or grant what you mean with grant()`)
  }
  // A tool or prompt is named by `name`, a resource by `uri`.
  const used = (['name', 'uri'] as const).flatMap((name): [string, PayloadPattern][] => {
    const value = params?.[name]
    return typeof value === 'string' ? [[name, escapePattern(value)]] : []
  })
  const narrowed = [...used, ...(args === undefined ? [] : [['arguments', args] as const])]
  const wanted = narrowed.length > 0 ? { params: Object.fromEntries(narrowed) } : {}
  return {
    kind: Kind.mcpRequest,
    to: to.length === 1 && to[0] !== undefined ? to[0] : [...to],
    payload: { method: escapePattern(method), ...wanted },
  }
}

/** The pattern that matches only this text [MEUP-4.3]. */
export function escapePattern(text: string): string {
  const plain = text.replace(/[*?\\]/g, '\\$&')
  return /^(!|re:|\/.*\/$)/s.test(plain) ? `\\${plain}` : plain
}
