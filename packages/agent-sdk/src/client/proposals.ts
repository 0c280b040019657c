import {
  type AnyEnvelope,
  type Capability,
  correlations,
  type EnvelopeOf,
  Kind,
  memberOf,
  type PayloadPattern,
  ProtocolError,
} from '@meup/protocol'
import { EventEmitter } from 'eventemitter3'
import { Verbatim } from './frames.js'
import { freshId } from './fresh-id.js'
import { type Grant, type GrantOptions, grant } from './management.js'
import { prunedThrough, reasonsOf, type Settlement } from './proposal.js'
import { type Requests, resultOf } from './requests.js'
import type { Timed } from './space-state.js'
import type { Seat } from './types.js'
import { after, type WaitOptions } from './wait.js'

export interface ApproveOptions extends WaitOptions {
  /** Why it is done, in the name of whoever approves; default: no reason is given [MEUP-13.11]. */
  readonly why?: string
}

export interface Rejection {
  readonly reason: string
  readonly message?: string
}

/**
 * The proposals of a space that wait for a decision, as far as this connection was shown them [MEUP-4.17]. One that
 * joins later sees those of before only if it asks for the past: with `after` or `tail`.
 */
export class Proposals extends EventEmitter<ProposalsEvents> {
  readonly #seat: Pick<Seat, 'send'>
  readonly #requests: Requests
  readonly #open: OpenProposals

  constructor(seat: Pick<Seat, 'send'>, requests: Requests, open: OpenProposals) {
    super()
    this.#seat = seat
    this.#requests = requests
    this.#open = open
    open.on('proposal', (proposal) => this.emit('proposal', proposal))
    open.on('settled', (proposal, settlement) => this.emit('settled', proposal, settlement))
  }

  /** What is open, oldest first. */
  list(): OpenProposal[] {
    return this.#open.list()
  }

  get(id: string): OpenProposal | undefined {
    return this.#open.get(id)
  }

  /**
   * Makes the request that was proposed, to the letter; gives back its result, throws `ToolError` for its error.
   * Rejects with `ProtocolError` where this participant may not make it, or somebody was faster. Who stops waiting
   * stops nothing: the answer is for the proposer.
   */
  async approve(id: string, options: ApproveOptions = {}): Promise<Record<string, unknown>> {
    const proposal = this.#find(id)
    const requestId = freshId()
    const asked = { id: requestId, token: requestId, to: proposal.to ?? [] }
    const response = this.#requests.response(asked, options)
    this.#carryOut(proposal, requestId, options.why).catch((error: Error) =>
      this.#requests.fail(requestId, error),
    )
    return resultOf((await response).payload)
  }

  /** Resolves when the space has it. Others may still approve it, until its proposer takes it back. */
  async reject(id: string, { reason, message }: Rejection): Promise<void> {
    const { from } = this.#find(id)
    const payload = reasonsOf({ reason, ...(message !== undefined && { message }) })
    await this.#seat.send({ kind: Kind.mcpReject, to: [from], correlationId: id, payload })
  }

  /**
   * Approves it, and gives its proposer the capability to do the same alone from now on: this method, tool and
   * target, with whatever arguments. Throws `TypeError` where it names no target.
   */
  async allowAlways(id: string, options: GrantOptions & Pick<ApproveOptions, 'why'> = {}): Promise<Grant> {
    const proposal = this.#find(id)
    const capability = narrowCapability(proposal)
    await this.#carryOut(proposal, freshId(), options.why)
    return grant(this.#seat, proposal.from, [capability], options)
  }

  #find(id: string): OpenProposal {
    const kept = this.#open.get(id)
    if (kept !== undefined) return kept
    throw new ProtocolError('proposal_not_found', `no proposal ${id} is known to be open here`)
  }

  #carryOut(proposal: OpenProposal, id: string, why: string | undefined): Promise<AnyEnvelope> {
    const { to, method, context, paramsJson } = proposal
    const head = JSON.stringify({ jsonrpc: '2.0', id, method }).slice(0, -1)
    return this.#seat.send({
      id,
      kind: Kind.mcpRequest,
      ...(to && { to }),
      correlationId: proposal.id,
      ...(context !== undefined && { context }),
      ...(why !== undefined && { rationale: why }),
      payload: new Verbatim(paramsJson === undefined ? `${head}}` : `${head},"params":${paramsJson}}`),
    })
  }
}

interface Kept {
  readonly proposal: OpenProposal
  readonly seq: number
  /** Of its frame, in characters. */
  readonly size: number
  cancelExpiry(): void
}

export interface ProposalsEvents {
  /** Somebody asks for something to be done. */
  proposal: [OpenProposal]
  /** It is no longer open: for everyone, or, once this participant has rejected it, for this one. */
  settled: [OpenProposal, Settlement]
}

/** Proposals past this many, or this many characters in all, are forgotten: the oldest of whoever takes up the maxOpen. */
const [maxOpen, maxOpenChars] = [1000, 8_000_000]

/** The proposals that can still be carried out, as far as this connection was shown them. */
export class OpenProposals extends EventEmitter<ProposalsEvents> {
  readonly #seat: { readonly id: string } & Timed
  readonly #open = new Map<string, Kept>()
  #chars = 0

  constructor(seat: { readonly id: string } & Timed) {
    super()
    this.#seat = seat
  }

  list(): OpenProposal[] {
    return [...this.#open.values()].map(({ proposal }) => proposal)
  }

  get(id: string): OpenProposal | undefined {
    return this.#open.get(id)?.proposal
  }

  /** `frame` = the envelope as it was received. */
  take(envelope: AnyEnvelope, frame: string): void {
    if (envelope.kind === Kind.mcpProposal) this.#add(see(envelope, frame), frame.length, envelope.seq ?? 0)
    else if (envelope.kind === Kind.spaceKick) this.#end(envelope.payload.participantId)
    else if (envelope.kind === Kind.systemSpace) this.#prune(prunedThrough(envelope))
    else if (this.#open.size > 0) {
      for (const id of new Set(correlations(envelope))) {
        const kept = this.#open.get(id)
        if (kept !== undefined) this.#decide(id, kept, envelope)
      }
    }
  }

  /** Nothing that was known is true any more. */
  clear(): void {
    for (const [id, kept] of this.#open) this.#forget(id, kept)
  }

  #add(proposal: OpenProposal, size: number, seq: number): void {
    const { id, expiresAt } = proposal
    const end = expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt)
    const left = end - this.#seat.gatewayTime()
    if (left <= 0) return
    const cancelExpiry = after(left, () => this.#settle(id, { state: 'expired' }))
    this.#open.set(id, { proposal, seq, size, cancelExpiry })
    this.#chars += size
    while (this.#open.size > maxOpen || this.#chars > maxOpenChars) this.#forgetOne()
    this.emit('proposal', proposal)
  }

  /** Nobody is to push out what others propose. */
  #forgetOne(): void {
    const shares = new Map<string, number>()
    for (const { proposal, size } of this.#open.values()) {
      const share = 1 / maxOpen + size / maxOpenChars
      shares.set(proposal.from, (shares.get(proposal.from) ?? 0) + share)
    }
    const largest = Math.max(...shares.values())
    for (const [id, kept] of this.#open) {
      if (shares.get(kept.proposal.from) !== largest) continue
      this.#forget(id, kept)
      return
    }
  }

  #decide(id: string, kept: Kept, envelope: AnyEnvelope): void {
    const { proposal } = kept
    const { from } = envelope
    const change = (fields: Partial<OpenProposal>): void => {
      this.#open.set(id, { ...kept, proposal: { ...proposal, ...fields } })
    }
    if (envelope.kind === Kind.mcpRequest) {
      const usesLeft = proposal.usesLeft - 1
      change({ usesLeft })
      if (usesLeft === 0) this.#settle(id, { state: 'approved', by: from, requestId: envelope.id })
    } else if (envelope.kind === Kind.mcpReject) {
      change({ rejectedBy: [...new Set([...proposal.rejectedBy, from])] })
      if (from === this.#seat.id) {
        this.#settle(id, { state: 'rejected', by: from, ...reasonsOf(envelope.payload) })
      }
    } else if (envelope.kind === Kind.mcpWithdraw && from === proposal.from) {
      this.#settle(id, { state: 'withdrawn', ...reasonsOf(envelope.payload) })
    }
  }

  /** A kick closes what its participant has proposed. */
  #end(participant: string): void {
    for (const { id, from } of this.list()) {
      if (from === participant) this.#settle(id, { state: 'withdrawn', reason: 'kicked' })
    }
  }

  /** What is pruned nobody can decide on any more. */
  #prune(through: number): void {
    for (const [id, { seq }] of this.#open) {
      if (seq <= through) this.#settle(id, { state: 'withdrawn', reason: 'pruned' })
    }
  }

  #settle(id: string, settlement: Settlement): void {
    const kept = this.#open.get(id)
    if (kept === undefined) return
    this.#forget(id, kept)
    this.emit('settled', kept.proposal, settlement)
  }

  #forget(id: string, { size, cancelExpiry }: Kept): void {
    cancelExpiry()
    this.#open.delete(id)
    this.#chars -= size
  }
}

/** A proposal that waits for somebody who may do it. */
export interface OpenProposal {
  readonly id: string
  readonly from: string
  /** When it was made, RFC 3339. */
  readonly ts: string
  /** Whom the request would be for; absent = everyone. */
  readonly to?: readonly string[]
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
  /** The same as it was sent, JSON: parsed, a large number is another one, and it is this that is approved. */
  readonly paramsJson?: string
  /** Why its proposer wants it. */
  readonly rationale?: string
  readonly context?: string
  readonly correlationId?: string | readonly string[]
  readonly parallelGroup?: number
  readonly expiresAt?: string
  /** How often it can still be carried out. */
  readonly usesLeft: number
  /** Who does not want it; others may approve it all the same. */
  readonly rejectedBy: readonly string[]
}

const [encoder, decoder] = [new TextEncoder(), new TextDecoder()]

/** A proposal as somebody else may see it. `frame` = the envelope as it was received. */
function see(envelope: EnvelopeOf<typeof Kind.mcpProposal>, frame: string): OpenProposal {
  const { id, from, ts, to, rationale, context, correlationId, parallelGroup, payload } = envelope
  const { method, params, expiresAt, uses = 1 } = payload
  const sent = memberOf(encoder.encode(frame), 'payload')
  const text = sent && memberOf(sent, 'params')
  return {
    ...{ id, from, ts, method, usesLeft: uses, rejectedBy: [] },
    ...(to && { to }),
    ...(params && { params }),
    ...(text && { paramsJson: decoder.decode(text) }),
    ...(rationale !== undefined && { rationale }),
    ...(context !== undefined && { context }),
    ...(correlationId !== undefined && { correlationId }),
    ...(parallelGroup !== undefined && { parallelGroup }),
    ...(expiresAt !== undefined && { expiresAt }),
  }
}

/** The members of MCP params that say what is used: a tool or prompt by name, a resource by address. */
const names = ['name', 'uri'] as const

/**
 * The capability for exactly the kind of request that was proposed: this method, tool and target, with whatever
 * arguments. Throws `TypeError` where the proposal names no target: a capability without one would be for all.
 */
function narrowCapability({ id, to, method, params }: OpenProposal): Capability {
  if (to === undefined) {
    throw new TypeError(`${id} is addressed to nobody: approve it alone, or grant what you mean with grant()`)
  }
  const used = names.flatMap((name): [string, PayloadPattern][] => {
    const value = params?.[name]
    return typeof value === 'string' ? [[name, literal(value)]] : []
  })
  const wanted = used.length > 0 ? { params: Object.fromEntries(used) } : {}
  return {
    kind: Kind.mcpRequest,
    to: to.length === 1 && to[0] !== undefined ? to[0] : [...to],
    payload: { method: literal(method), ...wanted },
  }
}

/** The pattern that matches this text alone [MEUP-4.3]. */
function literal(text: string): string {
  const plain = text.replace(/[*?\\]/g, '\\$&')
  return /^(!|re:|\/.*\/$)/s.test(plain) ? `\\${plain}` : plain
}
