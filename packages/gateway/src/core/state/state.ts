import { type Envelope, isKnownKind, Kind } from '@meup/protocol'
import { Contexts } from './contexts.js'
import { Erasures } from './erasures.js'
import { Pauses } from './pauses.js'
import { Proposals } from './proposals.js'
import { Hops, Requests } from './requests.js'
import { Trust, type TrustSnapshot } from './trust/trust.js'
import { applyToTrust } from './trust/trust-fold.js'

/** A part of the state of a space, folded from the envelopes of its log in order [MEUP-3.4]. */
interface Fold {
  /** `body`: the bytes of the envelope, for folds that need them as they were sent. */
  apply(envelope: Envelope, body: Uint8Array): void
  /** As JSON: equal states give equal texts. */
  snapshot(): unknown
  /** Restores the result of `snapshot`. Called at most once, on an empty fold. */
  restore(snapshot: never): void
}

interface Snapshot {
  readonly version: number
  readonly configured?: Readonly<Record<string, unknown>>
  readonly [fold: string]: unknown
}

/**
 * Of the format of snapshots and checkpoints, which are taken of the same version alone. It is also raised where folds come to
 * make something else of the same envelopes.
 */
const version = 8

type FoldName = 'participants' | 'contexts' | 'requests' | 'pauses' | 'proposals' | 'hops' | 'erasures'

/** What each kind changes, in this order. Other kinds change nothing but the counts of their contexts. */
const changedBy: Readonly<Record<Kind, readonly FoldName[]>> = {
  [Kind.chat]: ['hops'],
  [Kind.chatAcknowledge]: [],
  [Kind.chatCancel]: [],
  [Kind.chatDelta]: [],
  [Kind.mcpRequest]: ['requests', 'proposals'],
  [Kind.mcpResponse]: ['requests', 'hops'],
  [Kind.mcpProposal]: ['proposals'],
  [Kind.mcpWithdraw]: ['proposals'],
  [Kind.mcpReject]: ['proposals'],
  [Kind.reasoningStart]: ['contexts'],
  [Kind.reasoningThought]: [],
  [Kind.reasoningConclusion]: ['contexts'],
  [Kind.reasoningCancel]: ['contexts'],
  [Kind.observeSubscribe]: [],
  [Kind.observeVisibility]: ['contexts'],
  [Kind.capabilityGrant]: ['participants'],
  [Kind.capabilityRevoke]: ['participants'],
  [Kind.capabilityGrantAck]: ['participants'],
  [Kind.spaceInvite]: ['participants', 'hops'],
  [Kind.spaceInviteAck]: [],
  [Kind.spaceKick]: ['participants', 'proposals'],
  [Kind.participantPause]: ['pauses'],
  [Kind.participantResume]: ['pauses'],
  [Kind.participantStatus]: [],
  [Kind.participantRequestStatus]: [],
  [Kind.participantForget]: [],
  [Kind.participantCompact]: [],
  [Kind.participantCompactDone]: [],
  [Kind.participantClear]: [],
  [Kind.participantRestart]: [],
  [Kind.participantShutdown]: [],
  [Kind.systemWelcome]: [],
  [Kind.systemError]: [],
  [Kind.systemPresence]: ['participants'],
  [Kind.systemDecision]: [],
  [Kind.systemSpace]: ['participants', 'contexts', 'proposals', 'hops', 'erasures'],
}

/**
 * Everything the gateway decides by. It is changed by `apply` alone, with each envelope in log order: when one is
 * admitted, and when the log is replayed at start. The same log always gives the same state [MEUP-3.4].
 */
export class SpaceState {
  /** Of the checkpoints that this version takes. */
  static readonly format = `state ${version}`
  /** Of the envelope that it took last; 0 = of none. */
  seq = 0
  readonly proposals = new Proposals()
  readonly trust = new Trust((ids) => this.proposals.endBy(ids))
  readonly participants = this.trust.participants
  readonly contexts = new Contexts()
  readonly requests = new Requests()
  readonly pauses = new Pauses()
  readonly hops = new Hops(this.requests)
  readonly erasures = new Erasures()
  /** What the operator configured, as it was last recorded. */
  configured: Readonly<Record<string, unknown>> | undefined

  /** By their names in snapshots. */
  readonly #folds: Readonly<Record<FoldName, Fold>> = {
    participants: {
      apply: (envelope) => applyToTrust(envelope, this.trust),
      snapshot: () => this.trust.snapshot(),
      restore: (snapshot: TrustSnapshot) => this.trust.restore(snapshot),
    },
    contexts: this.contexts,
    requests: this.requests,
    pauses: this.pauses,
    proposals: this.proposals,
    hops: this.hops,
    erasures: this.erasures,
  }

  /** The state of which `toSnapshot` gave these bytes, after row `through`. Throws where a gateway of another version wrote them. */
  static from(bytes: Uint8Array, through = 0): SpaceState {
    const snapshot = JSON.parse(new TextDecoder().decode(bytes)) as Snapshot
    if (snapshot.version !== version) {
      const found = `The snapshot of the log has the format ${snapshot.version}; this gateway knows ${version}.`
      throw new Error(`${found} Start the gateway that wrote it.`)
    }
    const state = new SpaceState()
    for (const [name, fold] of Object.entries(state.#folds)) {
      fold.restore(snapshot[name] as never)
    }
    state.configured = snapshot.configured
    state.seq = through
    return state
  }

  /** `body`: the envelope's bytes, for what the parsed envelope does not tell. */
  apply(envelope: Envelope, body: Uint8Array): void {
    const { kind, context, ts } = envelope
    if (this.trust.soonest !== Number.POSITIVE_INFINITY) this.trust.advance(Date.parse(ts))
    if (context !== undefined) this.contexts.count(context, envelope)
    if (isKnownKind(kind)) for (const name of changedBy[kind]) this.#folds[name].apply(envelope, body)
    if (envelope.kind === Kind.systemSpace && envelope.payload.event === 'configured')
      this.configured = envelope.payload
    this.seq = envelope.seq ?? this.seq
  }

  /** All of it, to stand for the envelopes that made it [MEUP-10.3]: equal states give equal bytes. */
  toSnapshot(): Uint8Array {
    const folds = Object.entries(this.#folds).map(([name, fold]) => [name, fold.snapshot()])
    const snapshot: Snapshot = {
      version,
      ...Object.fromEntries(folds),
      ...(this.configured && { configured: this.configured }),
    }
    return new TextEncoder().encode(JSON.stringify(snapshot))
  }
}
