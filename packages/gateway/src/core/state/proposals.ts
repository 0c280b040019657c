import { hash } from 'node:crypto'
import {
  canonicalJson,
  correlations,
  type Envelope,
  getErasure,
  getMember,
  type KickPayload,
  Kind,
  type McpProposalPayload,
} from '@meup/protocol'
import { FairMap } from '../fair-map.js'

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
  readonly call: Call
  readonly rejectedBy: ReadonlySet<string>
}

interface Proposal extends OpenProposal {
  readonly seq: number
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number
  readonly rejectedBy: Set<string>
  /** How often it can still be fulfilled. */
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

  apply(envelope: Envelope, body: Uint8Array): void {
    const { kind, from, payload } = envelope
    if (kind === Kind.mcpProposal) this.#propose(envelope, body)
    else if (kind === Kind.mcpRequest && envelope.correlationId !== undefined) {
      for (const id of new Set(correlations(envelope))) this.#use(id)
    } else if (kind === Kind.mcpReject) for (const id of correlations(envelope)) this.#reject(id, from)
    else if (kind === Kind.mcpWithdraw) for (const id of correlations(envelope)) this.#withdraw(id, from)
    else if (kind === Kind.spaceKick) this.endBy([(payload as KickPayload).participantId])
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
    }
  }

  /** `undefined` = there is no such proposal, or at this time (in milliseconds since the epoch) it is over. */
  find(id: string, now: number): OpenProposal | undefined {
    const proposal = this.#open.get(id)
    return proposal?.expiresAt !== undefined && proposal.expiresAt <= now ? undefined : proposal
  }

  /** Of those that were made last, the ones that are open at this time, the newest first. */
  latest(maximum: number, now: number): (OpenProposal & { readonly id: string; readonly uses: number })[] {
    const ids = [...this.#open.keys()].slice(-maximum).reverse()
    return ids.flatMap((id) => {
      const proposal = this.#open.get(id)
      return proposal === undefined || this.find(id, now) === undefined ? [] : { id, ...proposal }
    })
  }

  /** How many are open at this time. */
  countOpen(now: number): number {
    return [...this.#open.keys()].filter((id) => this.find(id, now) !== undefined).length
  }

  #propose(envelope: Envelope, body: Uint8Array): void {
    const { expiresAt, uses = 1 } = envelope.payload as McpProposalPayload
    this.#open.set(envelope.id, {
      seq: envelope.seq ?? 0,
      by: envelope.from,
      call: digestCall(envelope, getMember(body, 'payload')),
      // What is no date is long over.
      ...(expiresAt !== undefined && { expiresAt: Date.parse(expiresAt) || 0 }),
      rejectedBy: new Set(),
      uses,
    })
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
