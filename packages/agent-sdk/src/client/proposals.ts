import { getEndedSession } from '@meup/folds'
import {
  type AnyEnvelope,
  type Capability,
  correlations,
  type EnvelopeOf,
  Kind,
  type PayloadPattern,
  ProtocolError,
  type WelcomePayload,
} from '@meup/protocol'
import type { Attendance } from './attendance.js'
import { defined } from './defined.js'
import { freshId } from './fresh-id.js'
import { GuardedEmitter, printListenerError } from './guarded-emitter.js'
import type { ClientHandler } from './handler.js'
import { type Grant, type GrantOptions, sendGrant } from './management.js'
import { findGone, pickReasons, type Settlement } from './proposal.js'
import { getResult, type Requests } from './requests.js'
import type { CallOptions, ClientContext } from './types.js'
import { setLongTimeout, type WaitOptions } from './wait.js'

/** A proposal that waits for a decision. */
export interface OpenProposal {
  readonly id: string
  readonly seq: number
  readonly from: string
  /** When it was made, RFC 3339. */
  readonly ts: string
  /** The addressees of the request; absent = everyone. */
  readonly to?: readonly string[]
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
  /** As received, JSON: parsing changes large numbers. */
  readonly json: string
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
  /** The program that proposed it; absent = its connection has named none. */
  readonly session?: string
  /** That program has ended: nobody waits for the result. */
  readonly programEnded?: true
}

export interface ApproveOptions extends WaitOptions, Pick<CallOptions, 'onElicitation' | 'waitForMs'> {
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
  /** The program that proposed it has ended. The proposal stays open. */
  programEnded: [OpenProposal]
}

export interface AlwaysOptions extends GrantOptions, Pick<ApproveOptions, 'why' | 'onElicitation'> {
  /** Patterns [MEUP-4.3] that these arguments have to match; what is not named may be anything. */
  readonly arguments?: Readonly<Record<string, string>>
}

interface Entry {
  readonly proposal: OpenProposal
  cancelExpiry(): void
}

/** Beyond these bounds the oldest proposal of the participant with the largest share is dropped. */
const [maxOpen, maxOpenChars] = [1000, 8_000_000]

/**
 * The proposals of others that wait for a decision, as far as this connection received them [MEUP-4.17]. A later connection
 * receives earlier ones only if it resumes: with `after` or `tail`.
 */
export class Proposals extends GuardedEmitter<ProposalsEvents> implements ClientHandler {
  readonly #client: ClientContext
  readonly #requests: Requests
  readonly #attendance: Attendance
  readonly #open = new Map<string, Entry>()
  #chars = 0

  /** Listed before the connection was opened; added with its first welcome. */
  #listed: readonly OpenProposal[]

  constructor(
    client: ClientContext,
    requests: Requests,
    attendance: Attendance,
    listed: readonly OpenProposal[] = [],
  ) {
    super(printListenerError)
    this.#listed = listed
    this.#attendance = attendance
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
    const capability = proposal && getAlwaysCapability(proposal)
    if (proposal === undefined || capability === undefined || !this.mayApprove(id)) return false
    return this.#client.mayGrant(proposal.from, [capability])
  }

  /**
   * Has the gateway make the proposed request, exactly as proposed [MEUP-4.20], and returns its result; throws `ToolError` for its
   * error. The id is enough: this connection need not have received the proposal. Rejects with `ProtocolError` where this participant
   * may not make the request, or the proposal is not open. A timeout does not cancel the request: its answer is for the proposer.
   * Rejects with `ConnectionError` `participant_away` as `BaseClient.request` does; what was not sent is open as before.
   */
  async approve(id: string, options: ApproveOptions = {}): Promise<Record<string, unknown>> {
    await this.#whenHere(id, options)
    return getResult((await this.#carryOut(id, options).response).payload)
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
   * Rejects with `TypeError` where that is no capability: see `getAlwaysCapability`.
   */
  async allowAlways(id: string, options: AlwaysOptions = {}): Promise<Grant> {
    const { arguments: args, why, onElicitation, ...terms } = options
    const proposal = this.#find(id)
    const capability = getAlwaysCapability(proposal, args)
    if (capability === undefined) {
      const { to, method } = proposal
      const why = to === undefined ? 'is addressed to nobody' : `names no target of ${method}`
      throw new TypeError(`${id} ${why}: approve it alone, or grant what you mean with grant()`)
    }
    await this.#whenHere(id, {})
    const { sent, response } = this.#carryOut(id, {
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
      this.#add(toOpenProposal(envelope, frame))
    } else if (envelope.kind === Kind.spaceKick) this.#onKick(envelope.payload.participantId)
    else if (envelope.kind === Kind.systemSpace) this.#onGone(envelope)
    else if (envelope.kind === Kind.systemPresence) this.#onProgramEnd(envelope)
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
    else this.#addListed()
    this.#listed = []
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

  async #whenHere(id: string, options: ApproveOptions): Promise<void> {
    if (this.mayApprove(id)) await this.#attendance.whenHere(this.get(id)?.to, options)
  }

  #carryOut(proposal: string, { why, onElicitation, ...waiting }: ApproveOptions) {
    const id = freshId()
    const { to } = this.get(proposal) ?? {}
    const response = this.#requests.waitForResponse({ id, token: id, to: to ?? [], onElicitation }, waiting)
    const fail = (error: Error): void => this.#requests.fail(id, error)
    const sent = this.#client.send({
      ...{ id, kind: Kind.mcpRequest, correlationId: proposal },
      ...defined({ rationale: why }),
    })
    let unwatch = (): void => {}
    sent.then((request) => {
      unwatch = this.#attendance.watch(request.to ?? [], fail)
      response.then(unwatch, unwatch)
    }, fail)
    return { sent, response }
  }

  /** But for those that this participant has rejected. */
  #addListed(): void {
    for (const proposal of this.#listed) {
      if (!proposal.rejectedBy.includes(this.#client.id)) this.#add(proposal)
    }
  }

  #add(proposal: OpenProposal): void {
    const { id, expiresAt } = proposal
    const end = expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt)
    const leftMs = end - this.#client.gatewayTime()
    if (leftMs <= 0) return
    const cancelExpiry = setLongTimeout(leftMs, () => this.#settle(id, { state: 'expired' }))
    this.#open.set(id, { proposal, cancelExpiry })
    this.#chars += proposal.json.length
    while (this.#open.size > maxOpen || this.#chars > maxOpenChars) this.#dropOne()
    this.emit('proposal', proposal)
  }

  /** No participant can displace the proposals of others. */
  #dropOne(): void {
    const shares = new Map<string, number>()
    for (const { proposal } of this.#open.values()) {
      const { from, json } = proposal
      const share = 1 / maxOpen + json.length / maxOpenChars
      shares.set(from, (shares.get(from) ?? 0) + share)
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

  #onProgramEnd(envelope: AnyEnvelope): void {
    const ended = getEndedSession(envelope)
    if (ended === undefined) return
    for (const [id, entry] of this.#open) {
      const { from, session } = entry.proposal
      if (from !== ended.participant || session !== ended.session) continue
      const proposal: OpenProposal = { ...entry.proposal, programEnded: true }
      this.#open.set(id, { ...entry, proposal })
      this.emit('programEnded', proposal)
    }
  }

  /** A pruned or erased proposal cannot be decided. */
  #onGone(envelope: AnyEnvelope): void {
    const gone = findGone(envelope)
    if (gone === undefined) return
    for (const { id, seq } of this.list()) {
      if (gone.includes(id, seq)) this.#settle(id, { state: 'withdrawn', reason: gone.reason })
    }
  }

  #settle(id: string, settlement: Settlement): void {
    const entry = this.#open.get(id)
    if (entry === undefined) return
    this.#remove(id, entry)
    this.emit('settled', entry.proposal, settlement)
  }

  #remove(id: string, { proposal, cancelExpiry }: Entry): void {
    cancelExpiry()
    this.#open.delete(id)
    this.#chars -= proposal.json.length
  }

  #clear(): void {
    for (const [id, entry] of this.#open) this.#remove(id, entry)
  }
}

function toOpenProposal(envelope: EnvelopeOf<typeof Kind.mcpProposal>, json: string): OpenProposal {
  const {
    id,
    seq = 0,
    from,
    ts,
    to,
    rationale,
    context,
    correlationId,
    parallelGroup,
    session,
    payload,
  } = envelope
  const { method, params, expiresAt, uses = 1 } = payload
  return {
    ...{ id, seq, from, ts, method, json, usesLeft: uses, rejectedBy: [] },
    ...defined({ to, params, rationale, context, correlationId, parallelGroup, session, expiresAt }),
  }
}

/** Methods that name nothing: a capability for one is for that alone. */
const untargeted: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
])
/** What other methods name what they are about by. */
const targets: ReadonlyMap<string, 'name' | 'uri'> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['resources/subscribe', 'uri'],
  ['resources/unsubscribe', 'uri'],
])

/** What a proposal asks for. */
export interface ProposedRequest {
  readonly to?: readonly string[] | undefined
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>> | undefined
}

/**
 * The capability that `allowAlways` grants: for the proposed method, tool and addressees, with arguments that match `args`; absent:
 * with any. `undefined` where a capability would allow more than was proposed: the proposal has no addressee, its method is none of
 * MCP's that name a tool, a prompt or a resource, or it names none.
 */
export function getAlwaysCapability(
  { to, method, params }: ProposedRequest,
  args?: AlwaysOptions['arguments'],
): Capability | undefined {
  const target = targets.get(method)
  const named = target === undefined ? undefined : params?.[target]
  const isNamed = target === undefined ? untargeted.has(method) : typeof named === 'string' && named !== ''
  if (to === undefined || !isNamed) return undefined
  const narrowed: PayloadPattern = {
    ...(target !== undefined && { [target]: escapePattern(String(named)) }),
    ...(args !== undefined && { arguments: args }),
  }
  const wanted = Object.keys(narrowed).length > 0 ? { params: narrowed } : {}
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
