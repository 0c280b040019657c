import { getNamed, Oldest, Pauses, Programs } from '@meup/folds'
import {
  correlations,
  type Envelope,
  GUEST,
  getErasure,
  type InvitePayload,
  isKnownKind,
  Kind,
  type PresencePayload,
} from '@meup/protocol'
import { LogError, logTexts } from '../../log/error.js'
import { CallRecord } from './calls.js'
import { Contexts } from './contexts.js'
import { Trust, type TrustedParticipants, type TrustSnapshot } from './trust/trust.js'
import { applyToTrust } from './trust/trust-fold.js'

/** A part of the state of a space, folded from the envelopes of its log in order [MEUP-3.4]. */
interface Fold {
  /** `body`: the bytes of the envelope, for folds that need it as sent. */
  apply(envelope: Envelope, body: Uint8Array): void
  /** JSON; equal states give equal texts. */
  snapshot(): unknown
  /** Restores a `snapshot`. Called at most once, on an empty fold. */
  restore(snapshot: never): void
}

/** Id and seq of a `system.space` `configured` in the log. */
interface ConfigurationRecord {
  readonly id: string
  readonly seq: number
}

/** Maximum number of kept configuration records. */
const maxConfigurations = 100

interface Snapshot {
  readonly version: number
  readonly configured?: Readonly<Record<string, unknown>>
  readonly configurations?: readonly ConfigurationRecord[]
  readonly [fold: string]: unknown
}

/**
 * The format of snapshots and checkpoints. Raise it when a fold computes something else from the same envelopes. Checkpoints
 * are read from the same version only; snapshots of pruned logs from `oldestVersion` on, so new fields are optional.
 */
const version = 12
const oldestVersion = 8

type FoldName = 'participants' | 'programs' | 'contexts' | 'pauses' | 'hops' | 'erasures'

/**
 * The folds that each kind changes, in this order, besides `calls`, to which `apply` passes all kinds but chats. Custom kinds
 * only change the counts of their contexts.
 */
const changedBy: Readonly<Record<Kind, readonly FoldName[]>> = {
  [Kind.chat]: ['hops'],
  [Kind.chatAcknowledge]: [],
  [Kind.chatCancel]: [],
  [Kind.chatDelta]: [],
  [Kind.mcpRequest]: [],
  [Kind.mcpResponse]: ['hops'],
  [Kind.mcpProposal]: [],
  [Kind.mcpWithdraw]: [],
  [Kind.mcpReject]: [],
  [Kind.reasoningStart]: ['contexts'],
  [Kind.reasoningThought]: [],
  [Kind.reasoningConclusion]: ['contexts'],
  [Kind.reasoningCancel]: ['contexts'],
  [Kind.observeSubscribe]: [],
  [Kind.observeVisibility]: ['contexts'],
  [Kind.observeSummary]: [],
  [Kind.observeTyping]: [],
  [Kind.capabilityGrant]: ['participants'],
  [Kind.capabilityRevoke]: ['participants'],
  [Kind.capabilityGrantAck]: ['participants'],
  [Kind.spaceInvite]: ['participants', 'hops'],
  [Kind.spaceInviteAck]: [],
  [Kind.spaceKick]: ['participants'],
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
  [Kind.systemTick]: [],
  [Kind.systemError]: [],
  [Kind.systemPresence]: ['participants', 'programs', 'pauses'],
  [Kind.systemDecision]: [],
  [Kind.systemSpace]: ['participants', 'contexts', 'hops', 'erasures'],
}

/**
 * The state by which the gateway decides. Only `apply` changes it, with each envelope in log order: at admission, and when the
 * log is replayed at start. The same log always gives the same state [MEUP-3.4].
 */
export class SpaceState {
  /** The format of checkpoints that this version reads. */
  static readonly format = `state ${version}`
  /** Seq of the last applied envelope; 0 = none. */
  seq = 0
  readonly calls = new CallRecord()
  readonly trust = new Trust((ids) => this.calls.closeBy(ids, this.#applied))
  readonly participants: TrustedParticipants = this.trust.participants
  readonly programs = new Programs()
  readonly contexts = new Contexts()
  readonly pauses = new Pauses()
  readonly hops = new Hops(this.calls)
  readonly erasures = new Erasures()
  /** The envelope that `apply` is handling. */
  #applied: Envelope | undefined
  /** The configuration as last recorded in the log. */
  configured: Readonly<Record<string, unknown>> | undefined
  /** The latest records of configurations, in log order; the last one is `configured`. */
  configurations: readonly ConfigurationRecord[] = []

  /** Folds by their names in snapshots. */
  readonly #folds: Readonly<Record<FoldName, Fold>> = {
    participants: {
      apply: (envelope) => applyToTrust(envelope, this.trust),
      snapshot: () => this.trust.snapshot(),
      restore: (snapshot: TrustSnapshot) => this.trust.restore(snapshot),
    },
    programs: this.programs,
    contexts: this.contexts,
    pauses: this.pauses,
    hops: this.hops,
    erasures: this.erasures,
  }

  /** Restores the state from the bytes of `toSnapshot`, as of row `through`. Throws if a gateway of another version wrote them. */
  static from(bytes: Uint8Array, through = 0): SpaceState {
    const snapshot = JSON.parse(new TextDecoder().decode(bytes)) as Snapshot
    if (snapshot.version < oldestVersion || snapshot.version > version) {
      const formats = { format: snapshot.version, oldest: oldestVersion, newest: version }
      throw new LogError('format', logTexts.snapshotFormat, formats)
    }
    const state = new SpaceState()
    for (const [name, fold] of Object.entries(state.#folds)) fold.restore(snapshot[name] as never)
    // Snapshots of earlier versions have requests and proposals in separate fields, so this fold gets the whole snapshot.
    state.calls.restore(snapshot as never)
    state.configured = snapshot.configured
    state.configurations = snapshot.configurations ?? []
    state.seq = through
    return state
  }

  /** `body`: the envelope as bytes, for folds that need it as sent. */
  apply(envelope: Envelope, body: Uint8Array): void {
    const { kind, context, ts } = envelope
    this.#applied = envelope
    if (this.trust.soonest !== Number.POSITIVE_INFINITY) this.trust.advance(Date.parse(ts))
    if (context !== undefined) this.contexts.count(context, envelope)
    // The fold of calls can skip chats: they only end elicitations about chats, on which no decision depends.
    if (kind !== Kind.chat) this.calls.apply(envelope, body)
    if (isKnownKind(kind)) for (const name of changedBy[kind]) this.#folds[name].apply(envelope, body)
    if (envelope.kind === Kind.systemSpace && envelope.payload.event === 'configured')
      this.#configure(envelope)
    this.seq = envelope.seq ?? this.seq
  }

  /** Lower bound of the time of the next expiry to announce; infinity = none [MEUP-3.28]. */
  get nextEnd(): number {
    return this.trust.hasEnded ? 0 : Math.min(this.pauses.soonest, this.calls.soonest)
  }

  /** Pauses, grants and proposals that have expired and are not announced yet. */
  ended(now: number): Ended[] {
    return [
      ...[...this.pauses.ended(now)].map((end) => ({ what: 'pause', ...end }) as const),
      ...[...this.trust.ended()].map((end) => ({ what: 'grant', ...end }) as const),
      ...[...this.calls.ended(now)].map((end) => ({ what: 'proposal', ...end }) as const),
    ]
  }

  #configure({ id, seq = 0, payload }: Envelope): void {
    this.configured = payload
    this.configurations = [...this.configurations, { id, seq }].slice(-maxConfigurations)
  }

  /** Serializes the state, to replace the envelopes that made it [MEUP-10.3]: equal states give equal bytes. */
  toSnapshot(): Uint8Array {
    const folds = Object.entries(this.#folds).map(([name, fold]) => [name, fold.snapshot()])
    const snapshot: Snapshot = {
      version,
      ...Object.fromEntries(folds),
      ...this.calls.snapshot(),
      ...(this.configured && { configured: this.configured, configurations: this.configurations }),
    }
    return new TextEncoder().encode(JSON.stringify(snapshot))
  }
}

/** An expired pause, grant or proposal, and its participant [MEUP-3.28]. */
export type Ended = NonNullable<PresencePayload['ended']> & { readonly participant: string }

interface Configured {
  readonly participants: Readonly<Record<string, { readonly kind: string }>>
}

interface HopsSnapshot {
  readonly agents: readonly (readonly [id: string, isAgent: boolean])[]
  readonly chats: readonly { readonly id: string; readonly from: string; readonly hops?: number }[]
  readonly informed: readonly string[]
}

/** Maximum number of chats, and of participants, that are remembered; the oldest are forgotten. */
const rememberedChats = 10_000

/**
 * Counts how far chats have gone from agent to agent, so that agents that only answer each other stop [MEUP-7.4]. A chat of a
 * human resets all counts. A fold over the log that runs after the fold of requests.
 */
class Hops {
  readonly #calls: Pick<CallRecord, 'request'>
  /** Whether a participant named by the operator or an invitation is an agent. */
  readonly #named = new Map<string, boolean>()
  readonly #oldestNamed = new Oldest(this.#named)
  /** Senders of the chats that agents have sent, by the id of the chat. */
  readonly #senders = new Map<string, string>()
  readonly #oldestSent = new Oldest(this.#senders)
  /** Id of the last chat that any agent has sent. */
  #latest: string | undefined
  /** Hops of chats, by the id of the chat; absent = 0. */
  readonly #hops = new Map<string, number>()
  /** Agents that have received a response of another participant since their last chat. */
  readonly #informed = new Set<string>()

  constructor(calls: Pick<CallRecord, 'request'>) {
    this.#calls = calls
  }

  apply(envelope: Envelope): void {
    const { kind, payload } = envelope
    if (kind === Kind.chat) {
      if (this.#isAgent(envelope.from)) this.#chat(envelope)
      else if (this.#hops.size > 0) this.#hops.clear()
    } else if (kind === Kind.mcpResponse) this.#inform(envelope)
    else if (kind === Kind.spaceInvite) this.#invite(payload as InvitePayload)
    else if (kind === Kind.systemSpace && payload.event === 'configured') {
      const { participants } = payload as unknown as Configured
      for (const [id, each] of Object.entries(participants)) this.#know(id, each.kind !== 'human')
    }
  }

  snapshot(): HopsSnapshot {
    const chats = [...this.#senders].map(([id, from]) => {
      const hops = this.#hops.get(id)
      return { id, from, ...(hops !== undefined && { hops }) }
    })
    return { agents: [...this.#named], chats, informed: [...this.#informed] }
  }

  restore({ agents, chats, informed }: HopsSnapshot): void {
    for (const [id, isAgent] of agents) this.#named.set(id, isAgent)
    for (const { id, from, hops } of chats) {
      this.#senders.set(id, from)
      this.#latest = id
      if (hops !== undefined) this.#hops.set(id, hops)
    }
    for (const id of informed) this.#informed.add(id)
  }

  /**
   * Hops of a chat: one more than the chat of another agent that it answers; equal to a chat of its own sender that it answers.
   * A chat that answers nothing and addresses another agent has one more than the last chat of any agent.
   */
  of(chat: Pick<Envelope, 'from' | 'to' | 'context' | 'correlationId' | 'payload'>): number {
    const { from, context, correlationId } = chat
    if (!this.#isAgent(from) || this.#informed.has(from)) return 0
    if (correlationId === undefined) {
      if (context !== undefined || this.#latest === undefined) return 0
      const asksAgent = getNamed(chat)?.some((id) => id !== from && this.#isAgent(id)) === true
      return asksAgent ? (this.#hops.get(this.#latest) ?? 0) + 1 : 0
    }
    let furthest = 0
    for (const id of correlations({ correlationId })) {
      const sender = this.#senders.get(id)
      if (sender === undefined) continue
      furthest = Math.max(furthest, (this.#hops.get(id) ?? 0) + (sender === from ? 0 : 1))
    }
    return furthest
  }

  #chat(chat: Envelope): void {
    const { id, from } = chat
    const hops = this.of(chat)
    if (hops > 0) this.#hops.set(id, hops)
    this.#senders.set(id, from)
    this.#latest = id
    this.#informed.delete(from)
    while (this.#senders.size > rememberedChats) {
      const oldest = this.#oldestSent.next() ?? ''
      this.#senders.delete(oldest)
      this.#hops.delete(oldest)
    }
  }

  /** Notes that the agents whose requests this answers have received a response, unless they responded to themselves. */
  #inform(response: Envelope): void {
    for (const id of correlations(response)) {
      const asker = this.#calls.request(id)?.from
      if (asker !== undefined && asker !== response.from && this.#isAgent(asker)) this.#informed.add(asker)
    }
  }

  /** An invitation does not change the kind of a configured participant. */
  #invite({ participantId }: InvitePayload): void {
    if (!this.#named.has(participantId)) this.#know(participantId, true)
  }

  /** Guests are human; every other participant counts as an agent unless it is configured as human. */
  #isAgent(id: string): boolean {
    return this.#named.get(id) ?? !id.startsWith(GUEST)
  }

  #know(id: string, isAgent: boolean): void {
    this.#named.delete(id)
    this.#named.set(id, isAgent)
    while (this.#named.size > rememberedChats) {
      const oldest = this.#oldestNamed.next() ?? ''
      this.#named.delete(oldest)
      this.#informed.delete(oldest)
    }
  }
}

/** Seqs of erased envelopes, as long as the log has their rows [MEUP-10.10]. A fold over the log. */
class Erasures {
  readonly seqs = new Set<number>()

  apply(envelope: Envelope): void {
    const { payload } = envelope
    const erasure = getErasure(envelope)
    if (erasure !== undefined) this.seqs.add(erasure.seq)
    else if (payload.event === 'pruned') {
      for (const seq of this.seqs) if (seq <= Number(payload.through)) this.seqs.delete(seq)
    }
  }

  snapshot(): readonly number[] {
    return [...this.seqs]
  }

  restore(seqs: readonly number[]): void {
    for (const seq of seqs) this.seqs.add(seq)
  }
}
