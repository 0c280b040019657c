import { correlations, type Envelope, getErasure, Kind } from '@meup/protocol'
import { Bounded, Register, type RegisterSnapshot } from '../bounded.js'
import { Deadlines, type DeadlinesSnapshot } from '../deadlines.js'
import { type Fold, Progress } from '../fold.js'
import { defaultGuard, type Guard, guarded, redact } from '../redact.js'
import { getSource, type Source } from '../source.js'
import { cut, getRationale } from '../text.js'
import { getParameters, guardedToolName, isNotification } from './calls.js'
import { getEndedSession } from './program-ended.js'
import { getOutcome } from './result.js'

/** `createProposalFoldWith`, by default with the rules of @meup/safety. */
export const createProposalFold = (guard: Guard = defaultGuard, viewer?: Viewer): ProposalFold =>
  createProposalFoldWith(guard, viewer)

/** Who looks at proposals; `undefined` = nobody who decides. */
export type Viewer = () => string | undefined

export interface ProposalSnapshot {
  readonly seq: number
  readonly now: number
  readonly proposals: RegisterSnapshot<ProposalView>
  readonly requests: readonly (readonly [request: string, proposal: string])[]
  readonly deadlines: DeadlinesSnapshot
}

export interface ProposalFold extends Fold<readonly ProposalView[], ProposalSnapshot> {
  get(id: string): ProposalView | undefined
  /** Those that may still be fulfilled at `now` (milliseconds; default: the time of the log). */
  open(now?: number): readonly ProposalView[]
}

/**
 * Proposals, with texts masked by `guard`; a change is the list of new and changed proposals. A rejection closes a proposal for who has
 * sent it alone: others may still fulfil it [MEUP-3.11].
 */
export const createProposalFoldWith = (guard: Guard, viewer: Viewer = () => undefined): ProposalFold =>
  new Proposals(guard, viewer)

class Proposals implements ProposalFold {
  readonly #guard: Guard
  readonly #viewer: Viewer
  readonly #progress = new Progress()
  readonly #proposals = new Register({ isOpen, weigh, capacity: { open: 32e6, over: 8e6 } })
  /** Proposals by the requests that fulfil them. */
  readonly #requests = new Bounded<string>(10_000)
  readonly #deadlines = new Deadlines()
  /** Time of the log, in milliseconds. */
  #now = 0

  constructor(guard: Guard, viewer: Viewer) {
    this.#guard = guard
    this.#viewer = viewer
  }

  get seq(): number {
    return this.#progress.seq
  }

  apply(envelope: Envelope): readonly ProposalView[] {
    if (!this.#progress.advance(envelope)) return []
    this.#now = Math.max(this.#now, Date.parse(envelope.ts))
    return [...this.#keep(this.#expired()), ...this.#keep(this.#onEnvelope(envelope))]
  }

  snapshot(): ProposalSnapshot {
    return {
      seq: this.seq,
      now: this.#now,
      proposals: this.#proposals.snapshot(),
      requests: this.#requests.snapshot(),
      deadlines: this.#deadlines.snapshot(),
    }
  }

  restore({ seq, now, proposals, requests, deadlines }: ProposalSnapshot): void {
    this.#progress.seq = seq
    this.#now = now
    this.#proposals.restore(proposals)
    this.#requests.restore(requests)
    this.#deadlines.restore(deadlines)
  }

  get(id: string): ProposalView | undefined {
    return this.#proposals.get(id)
  }

  open(now = this.#now): readonly ProposalView[] {
    return [...this.#proposals.open()].filter((each) => isOpenProposal(each, now))
  }

  #keep(changed: readonly ProposalView[]): readonly ProposalView[] {
    for (const each of changed) this.#proposals.set(each.id, each)
    return changed
  }

  #expired(): ProposalView[] {
    const due = this.#deadlines.due(this.#now).flatMap((id) => this.#proposals.get(id) ?? [])
    return due.filter(isOpen).map((each) => ({ ...each, state: 'expired' }))
  }

  #onEnvelope(envelope: Envelope): ProposalView[] {
    switch (envelope.kind) {
      case Kind.mcpProposal:
        return [this.#proposed(envelope)]
      case Kind.mcpRequest:
        return isNotification(envelope.payload) ? [] : this.#fulfilled(envelope)
      case Kind.mcpResponse:
        return this.#answered(envelope)
      case Kind.mcpReject:
        return this.#rejected(envelope)
      case Kind.mcpWithdraw:
        return this.#concerned(envelope).map((each) => withdrawn(each, toRefusal(envelope, this.#guard)))
      case Kind.spaceKick:
        return this.#ended(envelope)
      case Kind.systemSpace:
        return this.#gone(envelope)
      case Kind.systemPresence:
        return this.#leftBy(envelope)
    }
    return []
  }

  #rejected(envelope: Envelope): ProposalView[] {
    const refusal = toRefusal(envelope, this.#guard)
    const isOwn = envelope.from === this.#viewer()
    return this.#concerned(envelope).map((each) => ({
      ...each,
      ...(isOwn && isOpen(each) && { state: 'rejected' as const }),
      rejections: [...each.rejections, refusal].slice(-maxEntries),
    }))
  }

  /** A kick withdraws the proposals of its participant. */
  #ended({ from: by, ts, payload }: Envelope): ProposalView[] {
    const own = [...this.#proposals.open()].filter(({ source }) => source.from === payload.participantId)
    return own.map((each) => withdrawn(each, { by, ts, reason: 'kicked', message: null }))
  }

  /** Nobody waits for what a program has proposed that has ended. */
  #leftBy(envelope: Envelope): ProposalView[] {
    const { participant, session } = getEndedSession(envelope) ?? {}
    if (session === undefined) return []
    return [...this.#proposals.open()]
      .filter((each) => each.session === session && each.source.from === participant)
      .map((each) => ({ ...each, programEnded: true }))
  }

  /** Nobody can decide on a pruned or erased proposal any more [MEUP-3.22]. */
  #gone(envelope: Envelope): ProposalView[] {
    const { from: by, ts, payload } = envelope
    const erased = getErasure(envelope)?.id
    const through = payload.event === 'pruned' ? Number(payload.through) : 0
    const gone = [...this.#proposals.open()].filter(
      ({ id, source }) => id === erased || source.seq <= through,
    )
    const reason = erased === undefined ? 'pruned' : 'erased'
    return gone.map((each) => withdrawn(each, { by, ts, reason, message: null }))
  }

  #concerned(envelope: Envelope): ProposalView[] {
    return correlations(envelope).flatMap((id) => this.#proposals.get(id) ?? [])
  }

  #proposed(envelope: Envelope): ProposalView {
    const { id, payload } = envelope
    this.#deadlines.set(id, payload.expiresAt)
    return {
      id,
      source: getSource(envelope),
      session: envelope.session ?? null,
      programEnded: false,
      tool: guardedToolName(payload, this.#guard),
      parameters: redact(getParameters(payload), this.#guard).value,
      rationale: getRationale(envelope),
      state: 'open',
      usesLeft: typeof payload.uses === 'number' ? payload.uses : 1,
      proposedAt: envelope.ts,
      expiresAt: typeof payload.expiresAt === 'string' ? payload.expiresAt : null,
      fulfilments: [],
      rejections: [],
      withdrawal: null,
    }
  }

  /** A request that names a withdrawn or pruned proposal does not fulfil it. */
  #fulfilled(request: Envelope): ProposalView[] {
    const proposals = this.#concerned(request).filter(({ withdrawal }) => withdrawal === null)
    return proposals.map((each) => {
      this.#requests.set(request.id, each.id)
      return fulfilled(each, request)
    })
  }

  #answered(response: Envelope): ProposalView[] {
    return correlations(response).flatMap((request) => {
      const proposal = this.#proposals.get(this.#requests.get(request) ?? '')
      if (proposal === undefined) return []
      return [answered(proposal, request, getOutcome(response.payload))]
    })
  }
}

const weigh = ({ rationale, parameters, fulfilments, rejections }: ProposalView): number =>
  1000 +
  (rationale?.length ?? 0) +
  JSON.stringify(parameters).length +
  200 * fulfilments.length +
  500 * rejections.length

/** A proposal and its state. */
export interface ProposalView {
  readonly id: string
  readonly source: Source
  /** The program that proposed it; `null` = its connection has named none. */
  readonly session: string | null
  /** Whether that has ended since, as far as this fold has read: nobody waits for the result. */
  readonly programEnded: boolean
  readonly tool: string
  /** Redacted and bounded. */
  readonly parameters: unknown
  /** `null` = none was given. */
  readonly rationale: string | null
  /** `open`: it may still be fulfilled; `rejected`: it may, but by others than the viewer. */
  readonly state: 'open' | 'fulfilled' | 'rejected' | 'withdrawn' | 'expired'
  readonly usesLeft: number
  readonly proposedAt: string
  readonly expiresAt: string | null
  /** The latest 100. */
  readonly fulfilments: readonly Fulfilment[]
  /** The latest 100. */
  readonly rejections: readonly Refusal[]
  readonly withdrawal: Refusal | null
}

export interface Fulfilment {
  /** Id of the request. */
  readonly id: string
  readonly by: string
  readonly ts: string
  /** `null` until the tool has answered. */
  readonly outcome: 'success' | 'error' | null
}

/** A rejection or a withdrawal. */
export interface Refusal {
  readonly by: string
  readonly ts: string
  /** Guarded and cut to 2,000 characters, like `message`. */
  readonly reason: string
  readonly message: string | null
}

/** Of one proposal. */
const maxEntries = 100
const maxReasonChars = 2000

const isOpen = ({ state }: ProposalView): boolean => state === 'open'

/** Whether it may still be fulfilled by its viewer; `now` in milliseconds. */
export const isOpenProposal = ({ state, expiresAt }: ProposalView, now: number): boolean =>
  state === 'open' && (expiresAt === null || Date.parse(expiresAt) > now)

function fulfilled(proposal: ProposalView, { id, from: by, ts }: Envelope): ProposalView {
  const usesLeft = Math.max(proposal.usesLeft - 1, 0)
  const fulfilments = [...proposal.fulfilments, { id, by, ts, outcome: null }].slice(-maxEntries)
  return { ...proposal, usesLeft, fulfilments, state: usesLeft === 0 ? 'fulfilled' : proposal.state }
}

function answered(proposal: ProposalView, request: string, outcome: 'success' | 'error'): ProposalView {
  const isMeant = (each: Fulfilment): boolean => each.id === request && each.outcome === null
  const fulfilments = proposal.fulfilments.map((each) => (isMeant(each) ? { ...each, outcome } : each))
  return { ...proposal, fulfilments }
}

const withdrawn = (proposal: ProposalView, refusal: Refusal): ProposalView => ({
  ...proposal,
  state: isOpen(proposal) || proposal.state === 'rejected' ? 'withdrawn' : proposal.state,
  withdrawal: refusal,
})

function toRefusal({ from: by, ts, payload }: Envelope, guard: Guard): Refusal {
  const { reason, message } = payload
  const text = (said: unknown): string => cut(guarded(String(said), guard), maxReasonChars)
  return { by, ts, reason: text(reason), message: message === undefined ? null : text(message) }
}
