import { hash } from 'node:crypto'
import { type Call, type CallStore, Calls, FairMap } from '@meup/folds'
import { canonicalJson, type Envelope, getMember } from '@meup/protocol'

/** Digests of a proposed request; a request that fulfils it has the same ones [MEUP-4.17]. */
export interface CallDigests {
  readonly method: string
  /** Empty if the request has no params. */
  readonly params: string
  /** Empty if the request is for everyone. */
  readonly to: string
}

/** A proposal that can still be fulfilled. */
type OpenProposal = Call<CallDigests>

type Kept = Call<CallDigests | null>

interface Snapshots {
  readonly requests: readonly {
    readonly id: string
    readonly from: string
    readonly to?: readonly string[]
    readonly answeredBy: readonly string[]
  }[]
  readonly proposals: readonly {
    readonly id: string
    readonly by: string
    readonly session?: string
    readonly seq: number
    readonly method?: string
    readonly uses: number
    /** When the proposal expires, in milliseconds since the epoch. */
    readonly expiresAt?: number
    readonly call: CallDigests
    readonly rejectedBy: readonly string[]
  }[]
}

/** Requests and proposals beyond this are forgotten: the oldest of the participant with the most. */
const remembered = 10_000

/** Requests, answered or not, and open proposals. A participant cannot displace those of others. */
class FairCalls implements CallStore<CallDigests | null> {
  readonly requests = new FairMap<Kept>(remembered, ({ from }) => from)
  readonly proposals = new FairMap<Kept>(remembered, ({ from }) => from)

  get(id: string): Kept | undefined {
    return this.proposals.get(id) ?? this.requests.get(id)
  }

  add(call: Kept): void {
    this.#mapOf(call).set(call.id, call)
  }

  update(call: Kept): void {
    if (call.kind === 'proposal' && call.state !== 'open') this.proposals.delete(call.id)
    else this.#mapOf(call).update(call.id, call)
  }

  *open(): Iterable<Kept> {
    for (const each of this.all()) if (each.state === 'open') yield each
  }

  *all(): Iterable<Kept> {
    for (const map of [this.requests, this.proposals]) for (const [, each] of map) yield each
  }

  #mapOf({ kind }: Kept): FairMap<Kept> {
    return kind === 'proposal' ? this.proposals : this.requests
  }
}

/** MCP requests, answered once by each addressee, and open proposals [MEUP-3.7, 3.11, 4.17]. */
export class CallRecord {
  readonly #store = new FairCalls()
  readonly #calls = new Calls<CallDigests | null, Uint8Array>({
    store: this.#store,
    expireByLogTime: false,
    reduce: ({ what, call }, envelope, body) => {
      if (what !== 'asked') return call.data
      return call.kind === 'proposal' ? digestCall(envelope, body && getMember(body, 'payload')) : null
    },
  })
  /** Lower bound of the time at which the next proposal expires, in milliseconds since the epoch. */
  soonest = Number.POSITIVE_INFINITY

  apply(envelope: Envelope, body: Uint8Array): void {
    for (const { what, call } of this.#calls.apply(envelope, body)) if (what === 'asked') this.#await(call)
  }

  /** Closes the requests and proposals of participants that left the space [MEUP-3.22]. */
  closeBy(participants: readonly string[], envelope: Envelope | undefined): void {
    if (envelope !== undefined) this.#calls.closeBy(({ from }) => participants.includes(from), envelope)
  }

  /**
   * Writes requests and proposals as two lists, with the fields that earlier versions used, so that `restore` reads one shape
   * only.
   */
  snapshot(): Snapshots {
    return {
      requests: [...this.#store.requests].map(([id, { from, to, answeredBy }]) => ({
        ...{ id, from },
        ...(to && { to }),
        answeredBy,
      })),
      proposals: [...this.#openProposals()].map(
        ({ id, seq, from: by, method, session, data: call, expiresAt, usesLeft: uses, rejectedBy }) => ({
          ...{ id, seq, by },
          ...(method !== undefined && { method }),
          ...(session !== undefined && { session }),
          call,
          ...(expiresAt !== undefined && { expiresAt }),
          ...{ uses, rejectedBy },
        }),
      ),
    }
  }

  restore({ requests, proposals }: Snapshots): void {
    const fresh = {
      ...({ about: [], state: 'open', usesLeft: 1 } as const),
      ...{ answeredBy: [], rejectedBy: [], programEnded: false },
    }
    for (const request of requests) this.#restore({ ...fresh, kind: 'call', seq: 0, data: null, ...request })
    for (const { by: from, call: data, uses: usesLeft, ...proposal } of proposals)
      this.#restore({ ...fresh, kind: 'proposal', from, data, usesLeft, ...proposal })
  }

  request(id: string): Kept | undefined {
    return this.#store.requests.get(id)
  }

  /** Ids of requests that this participant has yet to answer, oldest first. */
  waitingFor(participant: string): string[] {
    return [...this.#store.requests].flatMap(([id, { to, answeredBy }]) =>
      to?.includes(participant) && !answeredBy.includes(participant) ? [id] : [],
    )
  }

  /** `undefined` = no such proposal, or not open at this time (milliseconds since the epoch). */
  proposal(id: string, now: number): OpenProposal | undefined {
    const proposal = this.#store.proposals.get(id)
    return proposal !== undefined && isProposal(proposal) && !isOver(proposal, now) ? proposal : undefined
  }

  /** Proposals open at this time, oldest first; only the latest `maximum`, if given. */
  proposals(now: number, maximum?: number): OpenProposal[] {
    const all = [...this.#openProposals()]
    return (maximum === undefined ? all : all.slice(-maximum)).filter((each) => !isOver(each, now))
  }

  /** Expired proposals whose expiry is not logged yet. */
  *ended(now: number): Generator<{ readonly id: string; readonly participant: string }> {
    this.soonest = Number.POSITIVE_INFINITY
    for (const proposal of this.#openProposals()) {
      this.#await(proposal)
      if (isOver(proposal, now)) yield { id: proposal.id, participant: proposal.from }
    }
  }

  #restore(call: Kept): void {
    this.#calls.restore([call])
    this.#await(call)
  }

  #await({ expiresAt = Number.POSITIVE_INFINITY }: Pick<Kept, 'expiresAt'>): void {
    this.soonest = Math.min(this.soonest, expiresAt)
  }

  *#openProposals(): Generator<OpenProposal> {
    for (const [, each] of this.#store.proposals) if (isProposal(each)) yield each
  }
}

const isProposal = (call: Kept): call is OpenProposal => call.data !== null

const isOver = ({ expiresAt }: Pick<Kept, 'expiresAt'>, now: number): boolean =>
  expiresAt !== undefined && expiresAt <= now

/** The digests of a proposal or a request without `params._meta`; `bytes`: its payload as sent. */
export function digestCall({ to, payload }: Envelope, bytes: Uint8Array | undefined): CallDigests {
  const params = bytes && getMember(bytes, 'params')
  return {
    method: typeof payload.method === 'string' ? digest(payload.method) : '',
    params: params === undefined ? '' : digest(canonicalJson(params, '_meta')),
    to: to === undefined ? '' : digest([...new Set(to)].sort().join(' ')),
  }
}

const digest = (text: string): string => hash('sha256', text, 'base64')
