import { type AnyEnvelope, correlations, Kind } from '@meup/protocol'
import { EventEmitter } from 'eventemitter3'
import type { Timed } from '../participant/gateway-time.js'
import { after } from '../participant/timer.js'
import { type OpenProposal, see } from './open-proposal.js'
import { prunedThrough, reasonsOf, type Settlement } from './proposal.js'

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

/** Proposals past this many, or this many characters in all, are forgotten: the oldest of whoever takes up the most. */
const [most, mostCharacters] = [1000, 8_000_000]

/** The proposals that can still be carried out, as far as this connection was shown them. */
export class OpenProposals extends EventEmitter<ProposalsEvents> {
  readonly #seat: { readonly id: string } & Timed
  readonly #open = new Map<string, Kept>()
  #characters = 0

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
    this.#characters += size
    while (this.#open.size > most || this.#characters > mostCharacters) this.#forgetOne()
    this.emit('proposal', proposal)
  }

  /** Nobody is to push out what others propose. */
  #forgetOne(): void {
    const shares = new Map<string, number>()
    for (const { proposal, size } of this.#open.values()) {
      const share = 1 / most + size / mostCharacters
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
    this.#characters -= size
  }
}
