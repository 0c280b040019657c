import {
  correlations,
  type Envelope,
  erasedMethod,
  GATEWAY,
  getErasure,
  type KickPayload,
  Kind,
  PROTOCOL,
  type PresencePayload,
} from '@meup/protocol'
import { Bounded } from '../bounded.js'
import { getCancellation, isElicitation, isNotification } from '../mcp/calls.js'
import { getAnswerer, getEndedSession } from '../mcp/program-ended.js'

/** Kinds of calls: an MCP request, a proposal of one, or an elicitation of a callee about a call [MEUP-3.26]. */
export type CallKind = 'call' | 'proposal' | 'elicitation'

/**
 * States of a call. Requests and elicitations become `answered` by the first answer, or `cancelled`; proposals become
 * `fulfilled` when no use is left, `withdrawn` or `expired`.
 */
export type CallState = 'open' | 'answered' | 'cancelled' | 'fulfilled' | 'withdrawn' | 'expired'

export interface Call<Data> {
  readonly id: string
  readonly kind: CallKind
  readonly seq: number
  readonly from: string
  /** The JSON-RPC method; absent if it was erased, or restored from an earlier version. */
  readonly method?: string | undefined
  /** Addressees; absent = everyone. */
  readonly to?: readonly string[] | undefined
  /** The program of the sender; absent = unnamed. */
  readonly session?: string | undefined
  /** The JSON-RPC id as text; absent in proposals. */
  readonly jsonRpcId?: string | undefined
  /** Ids of the envelopes that the call refers to: the proposals that it fulfils, or the call that an elicitation is about. */
  readonly about: readonly string[]
  /** Expiry of a proposal, in milliseconds since the epoch. */
  readonly expiresAt?: number | undefined
  readonly state: CallState
  /** How often a proposal can still be fulfilled. */
  readonly usesLeft: number
  readonly answeredBy: readonly string[]
  /** Participants that rejected a proposal, which stays open for others [MEUP-3.11]. */
  readonly rejectedBy: readonly string[]
  /** Whether the program of the proposer has ended, so that nothing waits for the result [MEUP-3.29]. */
  readonly programEnded: boolean
  /** Data that the user of `Calls` keeps with the call. */
  readonly data: Data
}

export type CallChange<Data> = { readonly call: Call<Data> } & (
  | { readonly what: 'asked' }
  /** `by`: the addressee whose answer it is, even if the gateway responded for it [MEUP-2.15]. */
  | { readonly what: 'answered'; readonly by: string }
  /** The asker has cancelled the call, or the call that an elicitation is about has ended. */
  | { readonly what: 'cancelled'; readonly reason: unknown }
  /** A request has fulfilled the proposal. */
  | { readonly what: 'fulfilled'; readonly by: string }
  /** The call that fulfils the proposal was answered. */
  | { readonly what: 'carried out'; readonly request: string }
  | { readonly what: 'rejected'; readonly by: string }
  | { readonly what: 'withdrawn'; readonly by: string; readonly why: WithdrawalCause }
  | { readonly what: 'expired' }
  | { readonly what: 'program ended' }
)

/**
 * Why a proposal was closed. `withdrawn`: by its proposer, with a reason. `left`: the proposer is no longer a member
 * [MEUP-3.22].
 */
export type WithdrawalCause = 'withdrawn' | 'kicked' | 'left' | 'pruned' | 'erased'

/** Whether the proposer of this call is no longer a member. */
export type IsGone = (call: Pick<Call<unknown>, 'from' | 'seq'>) => boolean

/** A store of calls, which may forget the oldest ones. `update` replaces a call, but does not make it the newest. */
export interface CallStore<Data> {
  get(id: string): Call<Data> | undefined
  add(call: Call<Data>): void
  update(call: Call<Data>): void
  /** The open calls, oldest first. */
  open(): Iterable<Call<Data>>
  all(): Iterable<Call<Data>>
}

export interface CallsOptions<Data, Raw = undefined> {
  /**
   * Called with each change; returns the new `data`, or `undefined` to not store the call. `change.call` still has the previous
   * data. `raw`: the envelope as received.
   */
  readonly reduce: (change: CallChange<Data>, envelope: Envelope, raw: Raw | undefined) => Data | undefined
  readonly store?: CallStore<Data>
  /** `false`: proposals expire when the gateway says so [MEUP-3.28], not by the time of later envelopes. Default: `true`. */
  readonly expireByLogTime?: boolean
}

/** Limits: remembered rejections per proposal, and open elicitations per call. */
const [maxRejections, maxElicitations] = [1000, 100]
const none: readonly string[] = []

/** Kinds that make, decide and end proposals, or change the membership. */
export const proposalKinds: readonly string[] = [
  Kind.mcpProposal,
  Kind.mcpRequest,
  Kind.mcpReject,
  Kind.mcpWithdraw,
  Kind.spaceInvite,
  Kind.spaceKick,
  Kind.systemSpace,
  Kind.systemPresence,
]

/** Kinds that make and end calls. */
const callKinds: ReadonlySet<string> = new Set([...proposalKinds, Kind.mcpResponse, Kind.chat])

/** Pairs calls, proposals and elicitations with their ends. The only place that defines what ends them. */
export class Calls<Data, Raw = undefined> {
  readonly #reduce: CallsOptions<Data, Raw>['reduce']
  readonly #store: CallStore<Data>
  readonly #expireByLogTime: boolean
  /** Id of the latest call, by its sender and JSON-RPC id: cancellations name calls by the latter. */
  readonly #byJsonRpcId = new Bounded<string>(20_000)
  /** Ids of open elicitations, by the call that they are about: they end with it. */
  readonly #elicitations = new Bounded<readonly string[]>(10_000)
  /** Before this time, in milliseconds since the epoch, no proposal expires. */
  #soonest = Number.POSITIVE_INFINITY
  #changes: CallChange<Data>[] = []

  constructor({ reduce, store = new RecentCalls(), expireByLogTime = true }: CallsOptions<Data, Raw>) {
    this.#reduce = reduce
    this.#store = store
    this.#expireByLogTime = expireByLogTime
  }

  get(id: string): Call<Data> | undefined {
    return this.#store.get(id)
  }

  /** The open calls, oldest first. */
  open(): Iterable<Call<Data>> {
    return this.#store.open()
  }

  all(): Iterable<Call<Data>> {
    return this.#store.all()
  }

  setData(id: string, data: Data): void {
    const call = this.get(id)
    if (call !== undefined) this.#store.update({ ...call, data })
  }

  /** The call that this notification cancels, by its envelope id, `correlationId` or JSON-RPC id. */
  findCancelled(notification: Envelope): Call<Data> | undefined {
    const { requestId } = getCancellation(notification.payload) ?? {}
    if (requestId === undefined) return undefined
    const { from } = notification
    for (const id of [requestId, ...correlations(notification)]) {
      const call = this.get(id)
      if (call?.from === from) return call
    }
    return this.get(this.#byJsonRpcId.get(keyOf(from, requestId)) ?? '')
  }

  apply(envelope: Envelope, raw?: Raw): readonly CallChange<Data>[] {
    this.#changes = []
    if (this.#expireByLogTime) this.#expire(envelope)
    if (!callKinds.has(envelope.kind)) return this.#changes
    switch (envelope.kind) {
      case Kind.mcpRequest:
        this.#onRequest(envelope, raw)
        break
      case Kind.mcpProposal:
        this.#ask('proposal', envelope, raw)
        break
      case Kind.mcpResponse:
        this.#onResponse(envelope)
        break
      case Kind.mcpReject:
        this.#onReject(envelope)
        break
      case Kind.mcpWithdraw:
        for (const call of this.#openProposals(envelope))
          if (call.from === envelope.from) this.#withdraw(call, 'withdrawn', envelope)
        break
      case Kind.chat:
        this.#endElicitations(envelope.from, correlations(envelope), envelope)
        break
      case Kind.spaceKick:
        this.#onKick(envelope)
        break
      case Kind.systemSpace:
        this.#onSpace(envelope)
        break
      case Kind.systemPresence:
        this.#onPresence(envelope)
        break
    }
    return this.#changes
  }

  /** Expires proposals by `time` (RFC 3339), without an envelope of that time. */
  expire(time: string): readonly CallChange<Data>[] {
    return this.apply({ protocol: PROTOCOL, id: '', ts: time, from: GATEWAY, kind: '', payload: {} })
  }

  /** Forgets the fields that come from the erased payload of a call. */
  erase(id: string): void {
    const call = this.get(id)
    if (call === undefined) return
    const { method: _, jsonRpcId = '', expiresAt: __, ...kept } = call
    const key = keyOf(call.from, jsonRpcId)
    if (this.#byJsonRpcId.get(key) === id) this.#byJsonRpcId.delete(key)
    this.#store.update(kept)
  }

  /** Closes the proposals of participants that are no longer members [MEUP-3.22]. */
  closeBy(isGone: IsGone, envelope: Envelope): readonly CallChange<Data>[] {
    this.#changes = []
    this.#withdrawAll(isGone, 'left', envelope)
    return this.#changes
  }

  snapshot(): readonly Call<Data>[] {
    return [...this.#store.all()]
  }

  restore(calls: Iterable<Call<Data>>): void {
    const kept = [...calls]
    for (const call of kept) this.#keep(call)
    // Snapshots list open calls after ended ones, so sort by seq: the latest call of a JSON-RPC id wins.
    for (const call of kept.sort((one, other) => one.seq - other.seq)) this.#renewJsonRpcId(call)
  }

  #keep(call: Call<Data>): void {
    this.#store.add(call)
    const { id, kind, state, about, expiresAt = Number.POSITIVE_INFINITY } = call
    if (kind === 'elicitation' && state === 'open') {
      for (const each of about) {
        const others = this.#elicitations.get(each) ?? []
        this.#elicitations.renew(each, [...others, id].slice(-maxElicitations))
      }
    }
    this.#renewJsonRpcId(call)
    if (state === 'open') this.#soonest = Math.min(this.#soonest, expiresAt)
  }

  #renewJsonRpcId({ id, from, kind, jsonRpcId }: Call<Data>): void {
    if (kind !== 'proposal' && jsonRpcId !== undefined) this.#byJsonRpcId.renew(keyOf(from, jsonRpcId), id)
  }

  #ask(kind: CallKind, envelope: Envelope, raw: Raw | undefined): void {
    const { id, seq = 0, from, to, session, payload } = envelope
    const { uses, expiresAt } = payload
    const isProposal = kind === 'proposal'
    // One literal without spreads, which would take most of the time that a fold spends on a call.
    const call: Omit<Call<Data>, 'data'> = {
      id,
      kind,
      seq,
      from,
      method: readMethod(payload),
      to,
      session,
      jsonRpcId: isProposal ? undefined : readJsonRpcId(payload.id),
      about: correlations(envelope),
      // A time that cannot be parsed counts as past.
      expiresAt: isProposal && typeof expiresAt === 'string' ? Date.parse(expiresAt) || 0 : undefined,
      state: 'open',
      usesLeft: typeof uses === 'number' ? uses : 1,
      answeredBy: none,
      rejectedBy: none,
      programEnded: false,
    }
    const change = { what: 'asked', call: call as MutableCall<Data> } as const
    const data = this.#reduce(change, envelope, raw)
    if (data === undefined) return
    change.call.data = data
    this.#keep(change.call)
    this.#changes.push(change)
  }

  #onRequest(envelope: Envelope, raw: Raw | undefined): void {
    const requested = readMethod(envelope.payload)
    for (const proposal of this.#openProposals(envelope)) {
      const { method = requested } = proposal
      if (method !== (requested ?? method)) continue
      const usesLeft = Math.max(proposal.usesLeft - 1, 0)
      const state = usesLeft === 0 ? 'fulfilled' : 'open'
      this.#change({ ...proposal, usesLeft, state }, { what: 'fulfilled', by: envelope.from }, envelope)
    }
    if (!isNotification(envelope.payload)) {
      this.#ask(isElicitation(envelope.payload) ? 'elicitation' : 'call', envelope, raw)
      return
    }
    this.#onCancelled(envelope)
  }

  /** A cancellation ends the elicitations about its call, even if the call is unknown [MEUP-3.26]. */
  #onCancelled(envelope: Envelope): void {
    const cancellation = getCancellation(envelope.payload)
    if (cancellation === undefined) return
    const { requestId, reason } = cancellation
    const call = this.findCancelled(envelope)
    if (call?.state === 'open' && call.kind !== 'proposal') this.#cancel(call, reason, envelope)
    for (const id of [call?.id ?? requestId, ...correlations(envelope)]) {
      for (const each of this.#elicitedAbout(id))
        if (each.to?.includes(envelope.from)) this.#cancel(each, reason, envelope)
    }
  }

  #onResponse(envelope: Envelope): void {
    const by = getAnswerer(envelope)
    const answered = correlations(envelope)
    for (const id of answered) {
      const call = this.get(id)
      if (call === undefined || call.kind === 'proposal' || call.to?.includes(by) === false) continue
      const answeredBy = call.answeredBy.includes(by) ? call.answeredBy : [...call.answeredBy, by]
      const state = call.state === 'open' ? 'answered' : call.state
      this.#change({ ...call, answeredBy, state }, { what: 'answered', by }, envelope)
      for (const proposal of call.about) {
        const carriedOut = this.get(proposal)
        if (carriedOut?.kind === 'proposal')
          this.#change({ ...carriedOut }, { what: 'carried out', request: id }, envelope)
      }
    }
    this.#endElicitations(by, answered, envelope)
  }

  #onReject(envelope: Envelope): void {
    const { from: by } = envelope
    for (const call of this.#openProposals(envelope)) {
      const rejectedBy = [...new Set([...call.rejectedBy, by])].slice(0, maxRejections)
      this.#change({ ...call, rejectedBy }, { what: 'rejected', by }, envelope)
    }
  }

  #onSpace(envelope: Envelope): void {
    const { event, through } = envelope.payload
    const erased = getErasure(envelope)?.id
    if (erased !== undefined) this.#withdrawAll(({ id }) => id === erased, 'erased', envelope)
    else if (event === 'pruned') this.#withdrawAll(({ seq }) => seq <= Number(through), 'pruned', envelope)
  }

  #onPresence(envelope: Envelope): void {
    const { ended } = envelope.payload as PresencePayload
    const expired = ended?.what === 'proposal' ? this.get(ended.id) : undefined
    if (expired?.kind === 'proposal' && expired.state === 'open')
      this.#change({ ...expired, state: 'expired' }, { what: 'expired' }, envelope)
    const { participant, session } = getEndedSession(envelope) ?? {}
    if (session === undefined) return
    for (const call of [...this.#store.open()]) {
      if (call.kind === 'proposal' && call.from === participant && call.session === session)
        this.#change({ ...call, programEnded: true }, { what: 'program ended' }, envelope)
    }
  }

  #expire(envelope: Envelope): void {
    if (this.#soonest === Number.POSITIVE_INFINITY) return
    const now = Date.parse(envelope.ts)
    if (!(this.#soonest <= now)) return
    this.#soonest = Number.POSITIVE_INFINITY
    for (const call of [...this.#store.open()]) {
      const { expiresAt = Number.POSITIVE_INFINITY } = call
      if (expiresAt <= now) this.#change({ ...call, state: 'expired' }, { what: 'expired' }, envelope)
      else this.#soonest = Math.min(this.#soonest, expiresAt)
    }
  }

  #onKick(envelope: Envelope): void {
    const { participantId } = envelope.payload as KickPayload
    this.#withdrawAll(({ from }) => from === participantId, 'kicked', envelope)
  }

  #withdrawAll(isMeant: (call: Call<Data>) => boolean, why: WithdrawalCause, envelope: Envelope): void {
    for (const call of [...this.#store.open()])
      if (call.kind === 'proposal' && isMeant(call)) this.#withdraw(call, why, envelope)
  }

  #withdraw(call: Call<Data>, why: WithdrawalCause, envelope: Envelope): void {
    this.#change({ ...call, state: 'withdrawn' }, { what: 'withdrawn', by: envelope.from, why }, envelope)
  }

  /** An answer to calls or chats ends its sender's elicitations about them [MEUP-3.26]. */
  #endElicitations(by: string, answered: readonly string[], envelope: Envelope): void {
    for (const id of answered) {
      for (const call of this.#elicitedAbout(id))
        if (call.from === by) this.#cancel(call, 'answered', envelope)
    }
  }

  #cancel(call: Call<Data>, reason: unknown, envelope: Envelope): void {
    this.#change({ ...call, state: 'cancelled' }, { what: 'cancelled', reason }, envelope)
  }

  #elicitedAbout(id: string): Call<Data>[] {
    const known = this.#elicitations.get(id)
    if (known === undefined) return []
    const open = known.flatMap((each) => this.get(each) ?? []).filter(isOpen)
    if (open.length > 0)
      this.#elicitations.set(
        id,
        open.map((each) => each.id),
      )
    else this.#elicitations.delete(id)
    return open
  }

  /** Applies a change to a call. `call`: a copy of its present state. */
  #change(
    call: MutableCall<Data>,
    what: DistributiveOmit<CallChange<Data>, 'call'>,
    envelope: Envelope,
  ): void {
    const change = { ...what, call }
    const data = this.#reduce(change, envelope, undefined)
    if (data !== undefined) call.data = data
    this.#store.update(call)
    this.#changes.push(change)
  }

  #openProposals(envelope: Envelope): Call<Data>[] {
    if (envelope.correlationId === undefined) return []
    return [...new Set(correlations(envelope))].flatMap((id) => {
      const call = this.get(id)
      return call?.kind === 'proposal' && call.state === 'open' ? [call] : []
    })
  }
}

type MutableCall<Data> = Call<Data> & { data: Data }

type DistributiveOmit<T, Key extends PropertyKey> = T extends unknown ? Omit<T, Key> : never

/** The JSON-RPC method; `undefined` if the payload was erased. */
const readMethod = ({ method }: Envelope['payload']): string | undefined =>
  typeof method === 'string' && method !== erasedMethod ? method : undefined

const readJsonRpcId = (id: unknown): string | undefined =>
  typeof id === 'string' || typeof id === 'number' ? String(id) : undefined

const keyOf = (asker: string, jsonRpcId: string): string => `${asker} ${jsonRpcId}`

interface Capacity<Data> {
  /** Capacity for open calls, and for ended ones (`over`), in units of `weigh`. */
  readonly open: number
  readonly over: number
  readonly weigh?: (call: Call<Data>) => number
}

/** Keeps the open calls, and the latest ended calls, because later envelopes may refer to them. */
export class RecentCalls<Data> implements CallStore<Data> {
  readonly #open: Bounded<Call<Data>>
  readonly #over: Bounded<Call<Data>>

  constructor({ open, over, weigh }: Capacity<Data> = { open: 10_000, over: 10_000 }) {
    this.#open = new Bounded(open, weigh)
    this.#over = new Bounded(over, weigh)
  }

  get(id: string): Call<Data> | undefined {
    return this.#open.get(id) ?? this.#over.get(id)
  }

  add(call: Call<Data>): void {
    if (isOpen(call)) this.#open.renew(call.id, call)
    else this.#over.renew(call.id, call)
  }

  update(call: Call<Data>): void {
    if (isOpen(call)) this.#open.set(call.id, call)
    else {
      this.#open.delete(call.id)
      this.#over.set(call.id, call)
    }
  }

  open(): Iterable<Call<Data>> {
    return this.#open.values()
  }

  *all(): Iterable<Call<Data>> {
    yield* this.#over.values()
    yield* this.#open.values()
  }
}

export const isProposal = ({ kind }: Pick<Call<unknown>, 'kind'>): boolean => kind === 'proposal'

const isOpen = ({ state }: { readonly state: CallState }): boolean => state === 'open'
