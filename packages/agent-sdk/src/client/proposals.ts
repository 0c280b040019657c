import { type Call, type CallChange, type CallStore, Calls } from '@meup/folds'
import {
  type AnyEnvelope,
  type Capability,
  type EnvelopeOf,
  escapePattern,
  freshId,
  Kind,
  omitUndefined,
  type PayloadPattern,
  ProtocolError,
  type WelcomePayload,
} from '@meup/protocol'
import type { Attendance } from './attendance.js'
import { noCapabilityError } from './errors.js'
import { getResult } from './get-result.js'
import { GuardedEmitter, printListenerError } from './guarded-emitter.js'
import type { ClientHandler, KnownChanges } from './handler.js'
import { setLongTimeout } from './long-timeout.js'
import { type Grant, type GrantOptions, sendGrant } from './management.js'
import type { PendingRequests } from './pending-requests.js'
import { type OpenProposal, pickReasons, readReasons, type Settlement } from './proposal.js'
import type { CallOptions, ClientContext } from './types.js'
import type { WaitOptions } from './wait.js'

export interface ApproveOptions extends WaitOptions, Pick<CallOptions, 'onElicitation' | 'waitForMs'> {
  /** The reason for the approval, for the log; default: none [MEUP-13.11]. */
  readonly why?: string
  /** Id of the resulting request; default: a new one. */
  readonly requestId?: string
}

export interface Rejection {
  readonly reason: string
  readonly message?: string
}

export interface ProposalsEvents {
  proposal: [OpenProposal]
  /** The proposal is no longer open: for all participants or, after a rejection by this participant, for this one. */
  settled: [OpenProposal, Settlement]
  /** The program that sent the proposal has ended. The proposal stays open. */
  programEnded: [OpenProposal]
}

interface AlwaysOptions extends GrantOptions, Pick<ApproveOptions, 'why' | 'onElicitation'> {
  /** Patterns [MEUP-4.3] for arguments. An argument without a pattern may have any value. */
  readonly arguments?: Readonly<Record<string, PayloadPattern>>
}

/**
 * Maximum open proposals, and maximum characters of their params. Above these, the oldest proposal of the participant with the
 * largest share is dropped.
 */
const [maxOpen, maxOpenChars] = [1000, 8_000_000]

/**
 * Open proposals of other participants that this connection received [MEUP-4.17]. To receive earlier ones, resume with `after`
 * or `tail`.
 */
export class Proposals extends GuardedEmitter<ProposalsEvents> implements ClientHandler {
  readonly #client: ClientContext
  readonly #requests: PendingRequests
  readonly #attendance: Attendance
  /** Functions that cancel the timers of proposals with an expiry, by proposal id. */
  readonly #timers = new Map<string, () => void>()
  readonly #store = new FairProposals((id) => this.#cancelExpiry(id))
  readonly fold = new Calls<OpenProposal>({
    store: this.#store,
    reduce: ({ what, call }, envelope) => {
      if (what !== 'asked') return { ...call.data, ...getStanding(call) }
      return envelope.kind === Kind.mcpProposal ? toOpenProposal(envelope as ProposalEnvelope) : undefined
    },
  })
  /** Proposals that were read over HTTP before the connection was opened; added at its first welcome. */
  #listed: readonly OpenProposal[]

  constructor(
    client: ClientContext,
    requests: PendingRequests,
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
    return [...this.#store.open()].map(({ data }) => data)
  }

  get(id: string): OpenProposal | undefined {
    return this.#store.get(id)?.data
  }

  /** Whether this participant may make the proposed request itself, as far as this client knows. The gateway decides. */
  mayApprove(id: string): boolean {
    const proposal = this.get(id)
    if (proposal === undefined || proposal.from === this.#client.id) return false
    const { to, context, method, params } = proposal
    const payload = { jsonrpc: '2.0', method, ...omitUndefined({ params }) }
    return this.#client.can({ kind: Kind.mcpRequest, ...omitUndefined({ to, context }), payload })
  }

  /** Whether this participant may reject a proposal. That requires the right to approve it [MEUP-3.11]. */
  mayReject(id: string): boolean {
    const from = this.get(id)?.from
    const draft = { kind: Kind.mcpReject, to: [from ?? ''], correlationId: id }
    return this.mayApprove(id) && this.#client.can(draft)
  }

  /** Whether this participant may grant the capability that `allowAlways` would grant without `arguments`. */
  mayAllowAlways(id: string): boolean {
    const proposal = this.get(id)
    const capability = proposal && getAlwaysCapability(proposal)
    if (proposal === undefined || capability === undefined || !this.mayApprove(id)) return false
    return this.#client.mayGrant(proposal.from, [capability])
  }

  /**
   * Approves a proposal: the gateway makes the request exactly as proposed [MEUP-4.20]. Returns the result; throws `ToolError`
   * if the response is an error. The id suffices: this connection need not have received the proposal. Rejects with
   * `ProtocolError` if this participant may not make the request, or the proposal is not open. A timeout does not cancel the
   * request, because its response is for the proposer. Rejects with `ConnectionError` `participant_away` like
   * `BaseClient.request`; if the request was not sent, the proposal stays open.
   */
  async approve(id: string, options: ApproveOptions = {}): Promise<Record<string, unknown>> {
    await this.#whenHere(id, options)
    return getResult((await this.#carryOut(id, options).response).payload)
  }

  /**
   * Rejects a proposal. Resolves when the rejection is in the log. Other participants may approve the proposal until it is
   * withdrawn.
   */
  async reject(id: string, { reason, message }: Rejection): Promise<void> {
    const { from } = this.#find(id)
    const payload = pickReasons({ reason, ...omitUndefined({ message }) })
    await this.#client.send({ kind: Kind.mcpReject, to: [from], correlationId: id, payload })
  }

  /**
   * Approves the proposal, and grants the proposer the capability for the same method, tool and target, with any arguments or
   * with those that match `arguments`. Rejects with `TypeError` if that would allow more than was proposed, such as for a
   * proposal without addressee.
   */
  async allowAlways(id: string, options: AlwaysOptions = {}): Promise<Grant> {
    const { arguments: args, why, onElicitation, ...terms } = options
    const proposal = this.#find(id)
    const capability = getAlwaysCapability(proposal, args)
    if (capability === undefined) {
      const { to, method } = proposal
      const why = to === undefined ? 'has no addressee' : `names no target of ${method}`
      throw noCapabilityError(id, why)
    }
    await this.#whenHere(id, {})
    const { sent, response } = this.#carryOut(id, {
      ...omitUndefined({ why }),
      ...omitUndefined({ onElicitation }),
    })
    response.catch(() => {}) // The response is for the proposer.
    await sent
    return sendGrant(this.#client, proposal.from, [capability], terms)
  }

  /** @internal */
  onEnvelope(envelope: AnyEnvelope, { proposals = [] }: KnownChanges): void {
    for (const change of proposals) this.#onChange(change, envelope)
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

  #carryOut(proposal: string, { requestId: id = freshId(), why, onElicitation, ...waiting }: ApproveOptions) {
    const { to } = this.get(proposal) ?? {}
    const response = this.#requests.waitForResponse({ id, token: id, to: to ?? [], onElicitation }, waiting)
    const fail = (error: Error): void => this.#requests.fail(id, error)
    const sent = this.#client.send({
      ...{ id, kind: Kind.mcpRequest, correlationId: proposal },
      ...omitUndefined({ rationale: why }),
    })
    let unwatch = (): void => {}
    sent.then((request) => {
      unwatch = this.#attendance.watch(request.to ?? [], fail)
      response.then(unwatch, unwatch)
    }, fail)
    return { sent, response }
  }

  /** Adds the proposals that were read over HTTP, except those that this participant has rejected. */
  #addListed(): void {
    for (const proposal of this.#listed) {
      if (proposal.rejectedBy.includes(this.#client.id)) continue
      this.fold.restore([toCall(proposal)])
      this.#begin(proposal)
    }
  }

  #begin(proposal: OpenProposal): void {
    const { id, expiresAt } = proposal
    const end = expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt)
    const leftMs = end - this.#client.gatewayTime()
    if (leftMs <= 0) {
      this.#store.delete(id)
      return
    }
    this.#timers.set(
      id,
      setLongTimeout(leftMs, () => this.#settle(id, { state: 'expired' })),
    )
    this.emit('proposal', proposal)
  }

  #onChange(change: CallChange<OpenProposal>, { id: requestId, payload }: AnyEnvelope): void {
    const { call } = change
    const { id, data: proposal } = call
    switch (change.what) {
      case 'asked':
        this.#begin(proposal)
        break
      case 'fulfilled':
        if (call.state === 'fulfilled')
          this.#settle(id, { state: 'approved', by: change.by, requestId }, proposal)
        break
      case 'rejected':
        if (change.by === this.#client.id)
          this.#settle(id, { state: 'rejected', by: change.by, ...readReasons(payload) }, proposal)
        break
      case 'withdrawn': {
        const reasons = change.why === 'withdrawn' ? readReasons(payload) : { reason: change.why }
        this.#settle(id, { state: 'withdrawn', ...reasons }, proposal)
        break
      }
      case 'expired':
        this.#settle(id, { state: 'expired' }, proposal)
        break
      case 'program ended':
        this.emit('programEnded', proposal)
    }
  }

  /** `proposal`: its last state, if it was already removed from the store. */
  #settle(id: string, settlement: Settlement, proposal = this.get(id)): void {
    this.#store.delete(id)
    if (proposal !== undefined) this.emit('settled', proposal, settlement)
  }

  #cancelExpiry(id: string): void {
    this.#timers.get(id)?.()
    this.#timers.delete(id)
  }

  #clear(): void {
    for (const { id } of this.#store.open()) this.#store.delete(id)
  }
}

/** Stores the open proposals of all participants. A participant with many proposals cannot displace those of others. */
class FairProposals implements CallStore<OpenProposal> {
  readonly #onRemoved: (id: string) => void
  readonly #open = new Map<string, Call<OpenProposal>>()
  #chars = 0
  readonly #sizes = new WeakMap<object, number>()

  constructor(onRemoved: (id: string) => void) {
    this.#onRemoved = onRemoved
  }

  get(id: string): Call<OpenProposal> | undefined {
    return this.#open.get(id)
  }

  add(call: Call<OpenProposal>): void {
    this.#open.set(call.id, call)
    this.#chars += this.#measure(call.data)
    while (this.#open.size > maxOpen || this.#chars > maxOpenChars) this.#dropOne()
  }

  update(call: Call<OpenProposal>): void {
    if (call.state !== 'open') this.delete(call.id)
    else if (this.#open.has(call.id)) this.#open.set(call.id, call)
  }

  delete(id: string): void {
    const call = this.#open.get(id)
    if (call === undefined || !this.#open.delete(id)) return
    this.#chars -= this.#measure(call.data)
    this.#onRemoved(id)
  }

  open(): Iterable<Call<OpenProposal>> {
    return this.#open.values()
  }

  all(): Iterable<Call<OpenProposal>> {
    return this.#open.values()
  }

  /** Number of characters of the proposed params. */
  #measure({ params = {} }: OpenProposal): number {
    const chars = this.#sizes.get(params) ?? JSON.stringify(params).length
    this.#sizes.set(params, chars)
    return chars
  }

  #dropOne(): void {
    const shares = new Map<string, number>()
    for (const { data } of this.#open.values()) {
      const share = 1 / maxOpen + this.#measure(data) / maxOpenChars
      shares.set(data.from, (shares.get(data.from) ?? 0) + share)
    }
    const largest = Math.max(...shares.values())
    const dropped = [...this.#open.values()].find(({ from }) => shares.get(from) === largest)
    if (dropped !== undefined) this.delete(dropped.id)
  }
}

type ProposalEnvelope = EnvelopeOf<typeof Kind.mcpProposal>

/** The fields of an open proposal that later envelopes change. */
const getStanding = ({ usesLeft, rejectedBy, programEnded }: Call<unknown>) => ({
  ...{ usesLeft, rejectedBy },
  ...(programEnded && ({ programEnded } as const)),
})

/** Converts a proposal listed by the gateway to the state that its envelope would have led to. */
function toCall(proposal: OpenProposal): Call<OpenProposal> {
  const {
    id,
    seq,
    from,
    to,
    method,
    session,
    expiresAt,
    usesLeft,
    rejectedBy,
    programEnded = false,
  } = proposal
  return {
    ...{
      kind: 'proposal',
      id,
      seq,
      from,
      method,
      about: [],
      state: 'open',
      usesLeft,
      answeredBy: [],
      rejectedBy,
    },
    ...omitUndefined({ to, session, ...(expiresAt !== undefined && { expiresAt: Date.parse(expiresAt) }) }),
    ...{ programEnded, data: proposal },
  }
}

function toOpenProposal(envelope: ProposalEnvelope): OpenProposal {
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
    ...{ id, seq, from, ts, method, usesLeft: uses, rejectedBy: [] },
    ...omitUndefined({ to, params, rationale, context, correlationId, parallelGroup, session, expiresAt }),
  }
}

/** Methods whose params name no tool, prompt or resource as a target: a capability for one allows no more than was proposed. */
const untargeted: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
])
/** The field of params that contains the target, by method. */
const targets: ReadonlyMap<string, 'name' | 'uri'> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['resources/subscribe', 'uri'],
  ['resources/unsubscribe', 'uri'],
])

/** The request that a proposal contains. */
export interface ProposedRequest {
  readonly to?: readonly string[] | undefined
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>> | undefined
}

/**
 * The capability that `allowAlways` grants: for the proposed method, target and addressees, with arguments that match `args`
 * (absent = any). `undefined` if the capability would allow more than was proposed: the proposal has no addressee, or its
 * request names no tool, prompt or resource.
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
    ...omitUndefined({ arguments: args }),
  }
  const wanted = Object.keys(narrowed).length > 0 ? { params: narrowed } : {}
  return {
    kind: Kind.mcpRequest,
    to: to.length === 1 && to[0] !== undefined ? to[0] : [...to],
    payload: { method: escapePattern(method), ...wanted },
  }
}
