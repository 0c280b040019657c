import { hash } from 'node:crypto'
import { FairMap } from '@meup/folds'
import {
  canonicalJson,
  correlations,
  type Envelope,
  getErasure,
  getMember,
  type KickPayload,
  Kind,
  type McpProposalPayload,
  type PresencePayload,
} from '@meup/protocol'

/** What a proposal asks for, as digests; a request that fulfils it has the same ones [MEUP-4.17]. */
export interface Call {
  readonly method: string
  /** Empty where there are none. */
  readonly params: string
  /** Empty where it is for everyone. */
  readonly to: string
}

/** A proposal that can still be fulfilled. */
interface OpenProposal {
  readonly by: string
  /** The program that proposed it; absent = its connection has named none. */
  readonly session?: string
  readonly seq: number
  /** How often it can still be fulfilled. */
  readonly uses: number
  readonly call: Call
  readonly rejectedBy: ReadonlySet<string>
}

interface Proposal extends OpenProposal {
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number
  readonly rejectedBy: Set<string>
  uses: number
}

type ProposalsSnapshot = readonly ({
  readonly id: string
  readonly rejectedBy: readonly string[]
} & Omit<Proposal, 'rejectedBy'>)[]

/** Proposals past this many are forgotten: the oldest of the participant that has made the most. */
const remembered = 10_000
/** A proposal that so many have rejected is over. */
const maxRejections = 1000

/** What was proposed, and was not fulfilled or withdrawn yet, by those who are still there [MEUP-3.11, 4.17]. A fold over the log. */
export class Proposals {
  readonly #open = new FairMap<Proposal>(remembered, ({ by }) => by)
  /** When the next of them ends, in milliseconds since the epoch, or earlier. */
  soonest = Number.POSITIVE_INFINITY

  apply(envelope: Envelope, body: Uint8Array): void {
    const { kind, from, payload } = envelope
    if (kind === Kind.mcpProposal) this.#propose(envelope, body)
    else if (kind === Kind.mcpRequest && envelope.correlationId !== undefined) {
      for (const id of new Set(correlations(envelope))) this.#use(id)
    } else if (kind === Kind.mcpReject) for (const id of correlations(envelope)) this.#reject(id, from)
    else if (kind === Kind.mcpWithdraw) for (const id of correlations(envelope)) this.#withdraw(id, from)
    else if (kind === Kind.spaceKick) this.endBy([(payload as KickPayload).participantId])
    else if (kind === Kind.systemPresence) this.#markAnnounced(payload as PresencePayload)
    else if (kind === Kind.systemSpace && payload.event === 'pruned') this.#prune(Number(payload.through))
    else this.#open.delete(getErasure(envelope)?.id ?? '')
  }

  /** Nobody answers for what these have proposed any more: they were kicked, or do not belong to the space [MEUP-3.22]. */
  endBy(participants: readonly string[]): void {
    for (const [id, { by }] of this.#open) if (participants.includes(by)) this.#open.delete(id)
  }

  snapshot(): ProposalsSnapshot {
    return [...this.#open].map(([id, { rejectedBy, ...proposal }]) => ({
      id,
      ...proposal,
      rejectedBy: [...rejectedBy],
    }))
  }

  restore(snapshot: ProposalsSnapshot): void {
    for (const { id, rejectedBy, ...proposal } of snapshot) {
      this.#open.set(id, { ...proposal, rejectedBy: new Set(rejectedBy) })
      this.#await(proposal)
    }
  }

  /** Those that are over by time, and were not told of. */
  *ended(now: number): Generator<{ readonly id: string; readonly participant: string }> {
    this.soonest = Number.POSITIVE_INFINITY
    for (const [id, proposal] of this.#open) {
      this.#await(proposal)
      if (isOver(proposal, now)) yield { id, participant: proposal.by }
    }
  }

  /** `undefined` = there is no such proposal, or at this time (in milliseconds since the epoch) it is over. */
  find(id: string, now: number): OpenProposal | undefined {
    const proposal = this.#open.get(id)
    return proposal !== undefined && isOver(proposal, now) ? undefined : proposal
  }

  /** Those that are open at this time, oldest first; of the latest alone, where `maximum` is given. */
  open(now: number, maximum?: number): (OpenProposal & { readonly id: string })[] {
    const ids = [...this.#open.keys()]
    return (maximum === undefined ? ids : ids.slice(-maximum)).flatMap((id) => {
      const proposal = this.find(id, now)
      return proposal === undefined ? [] : { id, ...proposal }
    })
  }

  #propose(envelope: Envelope, body: Uint8Array): void {
    const { expiresAt, uses = 1 } = envelope.payload as McpProposalPayload
    const proposal = {
      seq: envelope.seq ?? 0,
      by: envelope.from,
      ...(envelope.session !== undefined && { session: envelope.session }),
      call: digestCall(envelope, getMember(body, 'payload')),
      // What is no date is long over.
      ...(expiresAt !== undefined && { expiresAt: Date.parse(expiresAt) || 0 }),
      rejectedBy: new Set<string>(),
      uses,
    }
    this.#open.set(envelope.id, proposal)
    this.#await(proposal)
  }

  #await({ expiresAt = Number.POSITIVE_INFINITY }: { readonly expiresAt?: number }): void {
    this.soonest = Math.min(this.soonest, expiresAt)
  }

  #markAnnounced({ ended }: PresencePayload): void {
    if (ended?.what === 'proposal') this.#open.delete(ended.id)
  }

  /** What nobody can read any more nobody can decide on [MEUP-3.22]. */
  #prune(through: number): void {
    for (const [id, { seq }] of this.#open) if (seq <= through) this.#open.delete(id)
  }

  #use(id: string): void {
    const proposal = this.#open.get(id)
    if (proposal !== undefined && --proposal.uses <= 0) this.#open.delete(id)
  }

  #withdraw(id: string, from: string): void {
    if (this.#open.get(id)?.by === from) this.#open.delete(id)
  }

  #reject(id: string, from: string): void {
    const proposal = this.#open.get(id)
    if (proposal === undefined) return
    proposal.rejectedBy.add(from)
    if (proposal.rejectedBy.size >= maxRejections) this.#open.delete(id)
  }
}

const isOver = ({ expiresAt }: Proposal, now: number): boolean => expiresAt !== undefined && expiresAt <= now

/** What a proposal or a request asks for; `bytes` is its payload as it was sent. `_meta` is about the asking. */
export function digestCall({ to, payload }: Envelope, bytes: Uint8Array | undefined): Call {
  const params = bytes && getMember(bytes, 'params')
  return {
    method: typeof payload.method === 'string' ? digest(payload.method) : '',
    params: params === undefined ? '' : digest(canonicalJson(params, '_meta')),
    to: to === undefined ? '' : digest([...new Set(to)].sort().join(' ')),
  }
}

const digest = (text: string): string => hash('sha256', text, 'base64')
