import type { OpenProposal, SpaceClient } from '@meup/agent-sdk'
import type { ApproveOptions } from '@meup/agent-sdk/internal'
import {
  defaultGuard,
  Participants,
  type ProposalView,
  ProposalViews,
  programEndedWords,
  SpaceView,
} from '@meup/folds'
import { type AnyEnvelope, type Envelope, Kind, omitUndefined, PROTOCOL } from '@meup/protocol'
import { serveError } from '../errors.js'

/** The open proposals that this participant has received, with methods to decide them. */
export class SpaceApprovals {
  readonly #space: SpaceClient
  /** The proposals with texts for display, which are shortened and masked. */
  #view = this.#createView()
  readonly #waiting = new Set<() => void>()

  constructor(space: SpaceClient) {
    this.#space = space
    for (const proposal of space.proposals.list()) this.#view.apply(toEnvelope(proposal))
    space.on('envelope', (envelope) => this.#onEnvelope(envelope))
    space.on('capabilities', () => this.#checkWaiting())
    space.on('lost', () => {
      this.#view = this.#createView()
    })
  }

  /** The open proposals, oldest first. */
  list(): ProposalView[] {
    return this.#space.proposals.list().flatMap((proposal) => this.#describe(proposal) ?? [])
  }

  /** Returns an open proposal. Throws `ProtocolError` if it is not open. */
  get(id: string): OpenProposal {
    const proposal = this.#space.proposals.get(id)
    if (proposal === undefined) throw serveError('unknown_proposal', { proposal: id })
    return proposal
  }

  /** Returns an open proposal with its texts for display. Throws like `get`. */
  view(id: string): ProposalView {
    const view = this.#describe(this.get(id))
    if (view === undefined) throw serveError('unknown_proposal', { proposal: id })
    return view
  }

  /**
   * Resolves with the oldest proposal that this participant may approve and that is not in `seen`. Waits for one until the
   * signal is aborted.
   */
  next(seen: ReadonlySet<string>, signal: AbortSignal): Promise<ProposalView | undefined> {
    const find = () => this.list().find(({ id }) => !seen.has(id) && this.#space.proposals.mayApprove(id))
    return new Promise((resolve) => {
      const look = (): void => {
        const found = signal.aborted ? undefined : find()
        if (found === undefined && !signal.aborted) return
        this.#waiting.delete(look)
        signal.removeEventListener('abort', look)
        resolve(found)
      }
      this.#waiting.add(look)
      signal.addEventListener('abort', look)
      look()
    })
  }

  /**
   * Watches a proposal. The signal is aborted when the proposal is settled, or when the proposer's program ends. Call `close`
   * to stop watching.
   */
  changed(id: string): { readonly signal: AbortSignal; close(): void } {
    const { proposals } = this.#space
    const abort = new AbortController()
    const settle = (proposal: OpenProposal): void => {
      if (proposal.id === id) abort.abort('it was decided')
    }
    const end = (proposal: OpenProposal): void => {
      if (proposal.id === id) abort.abort(programEndedWords)
    }
    proposals.on('settled', settle).on('programEnded', end)
    if (!this.isOpen(id)) abort.abort('it was decided')
    return {
      signal: abort.signal,
      close: () => void proposals.off('settled', settle).off('programEnded', end),
    }
  }

  isOpen(id: string): boolean {
    return this.#space.proposals.get(id) !== undefined
  }

  /** Approves a proposal, and returns the result of its request. Rejects like `Proposals.approve`. */
  approve(id: string, options: ApproveOptions = {}): Promise<Record<string, unknown>> {
    return this.#space.proposals.approve(id, options)
  }

  reject(id: string, reason: string): Promise<void> {
    return this.#space.proposals.reject(id, { reason })
  }

  /**
   * Adds `programEnded` of the open proposal to its texts for display, which lack it if the program ended before this
   * connection received the proposal.
   */
  #describe({ id, programEnded }: OpenProposal): ProposalView | undefined {
    const view = this.#view.facts.proposals.get(id)
    return view && { ...view, ...(programEnded && { programEnded }) }
  }

  #createView() {
    const proposals = new ProposalViews(defaultGuard, () => this.#space.id)
    return new SpaceView({ participants: new Participants(), proposals })
  }

  #onEnvelope(envelope: AnyEnvelope): void {
    this.#view.apply(envelope)
    if (envelope.kind === Kind.mcpProposal) this.#checkWaiting()
  }

  #checkWaiting(): void {
    for (const look of [...this.#waiting]) look()
  }
}

/** Creates an equivalent of the envelope that contained the proposal, which this connection may not have received. */
function toEnvelope({ id, seq, ts, from, to, context, rationale, ...asked }: OpenProposal): Envelope {
  const { method, params, expiresAt, usesLeft: uses } = asked
  return {
    ...{ protocol: PROTOCOL, id, seq, ts, from, kind: Kind.mcpProposal },
    payload: { method, params, expiresAt, uses },
    ...(to && { to: [...to] }),
    ...omitUndefined({ context, rationale }),
  }
}
