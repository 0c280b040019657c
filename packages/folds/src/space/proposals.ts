import type { Envelope } from '@meup/protocol'
import { type Fold, FoldProgress } from '../fold.js'
import { getParameters, guardedToolName } from '../mcp/calls.js'
import { getOutcome } from '../mcp/result.js'
import { type Guard, guarded, redact } from '../redact.js'
import { getSource, type Source } from '../source.js'
import { cut, getRationale } from '../text.js'
import { type Call, type CallChange, Calls, type IsGone, RecentCalls } from './calls.js'

/**
 * Returns the participant that views the proposals: one that it has rejected counts as closed in its view; `undefined` = no
 * viewer.
 */
export type Viewer = () => string | undefined

export interface ProposalSnapshot {
  readonly seq: number
  readonly now: number
  /** Proposals with their views, and the requests that fulfil them, which have no view: `null`. */
  readonly calls: readonly Call<ProposalView | null>[]
}

/**
 * Views of proposals, with masked texts. A change is the list of new and changed views. A rejection closes a proposal only for
 * its sender: others may still fulfil it [MEUP-3.11].
 */
export class ProposalViews implements Fold<readonly ProposalView[], ProposalSnapshot> {
  readonly #guard: Guard
  readonly #viewer: Viewer
  readonly #progress = new FoldProgress()
  /** Proposals, and the requests that fulfil them. */
  readonly #calls = new Calls<ProposalView | null>({
    reduce: (change, envelope) => this.#reduce(change, envelope),
    store: new RecentCalls({ open: 32e6, over: 8e6, weigh: ({ data }) => weigh(data) }),
  })
  /** Time of the last envelope, in milliseconds since the epoch. */
  #now = 0

  constructor(guard: Guard, viewer: Viewer = () => undefined) {
    this.#guard = guard
    this.#viewer = viewer
  }

  get seq(): number {
    return this.#progress.seq
  }

  apply(envelope: Envelope): readonly ProposalView[] {
    if (!this.#progress.advance(envelope)) return []
    this.#now = Math.max(this.#now, Date.parse(envelope.ts))
    return toViews(this.#calls.apply(envelope))
  }

  /** Closes the proposals of participants that are no longer members. */
  closeBy(isGone: IsGone, envelope: Envelope): readonly ProposalView[] {
    return toViews(this.#calls.closeBy(isGone, envelope))
  }

  snapshot(): ProposalSnapshot {
    return { seq: this.seq, now: this.#now, calls: this.#calls.snapshot() }
  }

  restore({ seq, now, calls }: ProposalSnapshot): void {
    this.#progress.seq = seq
    this.#now = now
    this.#calls.restore(calls)
  }

  get(id: string): ProposalView | undefined {
    return this.#calls.get(id)?.data ?? undefined
  }

  /** Lists the proposals that may still be fulfilled at `now` (milliseconds; default: the time of the last envelope). */
  open(now = this.#now): readonly ProposalView[] {
    return [...this.#calls.open()].flatMap(({ data }) => (data && isOpenProposal(data, now) ? [data] : []))
  }

  #reduce(change: CallChange<ProposalView | null>, envelope: Envelope): ProposalView | null | undefined {
    const { call } = change
    if (change.what === 'asked' && call.kind === 'proposal') return this.#propose(call, envelope)
    if (change.what === 'asked') return call.about.some((id) => this.get(id) !== undefined) ? null : undefined
    const view = call.data
    if (view === null) return null
    const { ts } = envelope
    switch (change.what) {
      case 'fulfilled': {
        const fulfilment = { id: envelope.id, by: change.by, ts, outcome: null }
        const state = call.state === 'fulfilled' ? call.state : view.state
        const fulfilments = [...view.fulfilments, fulfilment].slice(-maxEntries)
        return { ...view, usesLeft: call.usesLeft, fulfilments, state }
      }
      case 'carried out':
        return answered(view, change.request, getOutcome(envelope.payload))
      case 'rejected': {
        const rejections = [...view.rejections, this.#toRefusal(envelope)].slice(-maxEntries)
        return { ...view, rejections, ...(change.by === this.#viewer() && { state: 'rejected' }) }
      }
      case 'withdrawn': {
        const { by, why } = change
        const refusal = { by, ts, reason: why, message: null }
        return {
          ...view,
          state: 'withdrawn',
          withdrawal: why === 'withdrawn' ? this.#toRefusal(envelope) : refusal,
        }
      }
      case 'expired':
        return { ...view, state: 'expired' }
      case 'program ended':
        return { ...view, programEnded: true }
    }
    return view
  }

  #propose({ id, usesLeft }: Pick<Call<unknown>, 'id' | 'usesLeft'>, envelope: Envelope): ProposalView {
    const { payload } = envelope
    return {
      id,
      source: getSource(envelope),
      session: envelope.session ?? null,
      programEnded: false,
      tool: guardedToolName(payload, this.#guard),
      parameters: redact(getParameters(payload), this.#guard).value,
      rationale: getRationale(envelope),
      state: 'open',
      usesLeft,
      proposedAt: envelope.ts,
      expiresAt: typeof payload.expiresAt === 'string' ? payload.expiresAt : null,
      fulfilments: [],
      rejections: [],
      withdrawal: null,
    }
  }

  #toRefusal({ from: by, ts, payload }: Envelope): ProposalEnd {
    const { reason, message } = payload
    const text = (said: unknown): string => cut(guarded(String(said), this.#guard), maxReasonChars)
    return { by, ts, reason: text(reason), message: message === undefined ? null : text(message) }
  }
}

const toViews = (changes: readonly CallChange<ProposalView | null>[]): readonly ProposalView[] =>
  changes.flatMap(({ call }) => call.data ?? [])

/** Characters that a request which fulfils a proposal counts in the capacity of the store. */
const requestWeight = 500

const weigh = (view: ProposalView | null): number =>
  view === null
    ? requestWeight
    : 1000 +
      (view.rationale?.length ?? 0) +
      JSON.stringify(view.parameters).length +
      200 * view.fulfilments.length +
      500 * view.rejections.length

/** A proposal and its state. */
export interface ProposalView {
  readonly id: string
  readonly source: Source
  /** Session of the program that made the proposal; `null` = unnamed. */
  readonly session: string | null
  /** Whether the program is known to have ended, so that nothing waits for the result. */
  readonly programEnded: boolean
  readonly tool: string
  /** Arguments of the call, masked and cut. */
  readonly parameters: unknown
  /** Reason of the proposer; `null` = none. */
  readonly rationale: string | null
  /** `open`: may be fulfilled; `rejected`: may be fulfilled by others than the viewer. */
  readonly state: 'open' | 'fulfilled' | 'rejected' | 'withdrawn' | 'expired'
  readonly usesLeft: number
  readonly proposedAt: string
  readonly expiresAt: string | null
  /** The latest 100 requests that fulfilled the proposal. */
  readonly fulfilments: readonly Fulfilment[]
  /** The latest 100 rejections. */
  readonly rejections: readonly ProposalEnd[]
  readonly withdrawal: ProposalEnd | null
}

export interface Fulfilment {
  /** Id of the request that fulfilled the proposal. */
  readonly id: string
  readonly by: string
  readonly ts: string
  /** Outcome of the call; `null` until the response. */
  readonly outcome: 'success' | 'error' | null
}

/** A rejection or a withdrawal. */
export interface ProposalEnd {
  readonly by: string
  readonly ts: string
  /** The reason, masked and cut to 2,000 characters, like `message`. */
  readonly reason: string
  readonly message: string | null
}

/** Maximum number of fulfilments, and of rejections, in a view. */
const maxEntries = 100
const maxReasonChars = 2000

/** Whether the viewer may still fulfil a proposal; `now` in milliseconds. */
export const isOpenProposal = ({ state, expiresAt }: ProposalView, now: number): boolean =>
  state === 'open' && (expiresAt === null || Date.parse(expiresAt) > now)

function answered(proposal: ProposalView, request: string, outcome: 'success' | 'error'): ProposalView {
  const isMeant = (each: Fulfilment): boolean => each.id === request && each.outcome === null
  const fulfilments = proposal.fulfilments.map((each) => (isMeant(each) ? { ...each, outcome } : each))
  return { ...proposal, fulfilments }
}
