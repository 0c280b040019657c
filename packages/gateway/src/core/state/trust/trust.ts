import { cutReason, Grants, type Restriction, type GrantState as Standing } from '@meup/folds'
import {
  type Capabilities,
  type Capability,
  compileCapabilities,
  holdsLiteral,
  Kind,
  matchesKind,
  type ParticipantInfo,
  type ProgramInfo,
  READ_TARGETED,
  type StepBudget,
  type Subject,
} from '@meup/protocol'
import { fillIn } from '@meup/protocol/error-texts'
import type { ReadRights } from '../../may-read.js'
import { texts } from '../../refusal-texts.js'
import { Invitations, type OpenInvitation } from './invitations.js'

/** A grant of one participant to another [MEUP-4.14]. */
export interface HeldGrant extends Standing {
  /** When the grant expires, in milliseconds since the epoch; absent = never. */
  readonly expiresAt?: number
}

export interface TrustSnapshot {
  readonly known: ParticipantsSnapshot
  readonly grants: readonly HeldGrant[]
  readonly invitations: readonly OpenInvitation[]
  readonly kicks: readonly (readonly [participant: string, kick: Kick])[]
  readonly members: readonly (readonly [participant: string, issuedAt: number])[]
  readonly untold: readonly string[]
  /** Absent in snapshots of earlier versions. */
  readonly ended?: readonly (readonly [grant: string, recipient: string])[]
}

/** Called with participants that have left the space. */
type OnForgotten = (ids: readonly string[]) => void

const never = Number.POSITIVE_INFINITY
/** Expired grants that wait to be announced; beyond them the oldest are not announced. */
const rememberedEnds = 10_000

/**
 * The members of the space, their grants, and the kicks [MEUP-4]. Keeps them consistent: an unknown participant has no grants,
 * and a grant falls with the grant that it rests on. Changed only by `applyToTrust` and by time.
 */
export class Trust {
  readonly participants = new TrustedParticipants()
  readonly grants = new Grants<HeldGrant>(this.participants)
  readonly invitations = new Invitations()
  readonly kicks = new Kicks()
  readonly members = new Members()
  /** When the next grant, invitation or kick expires, in milliseconds since the epoch; infinity = never. */
  soonest = never
  /** Increases whenever the rights or the membership of a participant may have changed. */
  revision = 0
  /** Seq of the last envelope that increased `revision`. */
  changedAt = 0
  /** Participants whose capabilities have changed since their last presence envelope. */
  readonly #untold = new Set<string>()
  /** Recipients of expired grants and invitations that are not announced yet, by the id of the grant. */
  readonly #ended = new Map<string, string>()
  readonly #onForgotten: OnForgotten

  constructor(onForgotten: OnForgotten = () => {}) {
    this.#onForgotten = onForgotten
  }

  /** Work spent on cascading revocations, charged to the sender that caused them [MEUP-7.1]. */
  get work(): number {
    return this.grants.work
  }

  /**
   * Expires what is due by `now`, in milliseconds since the epoch. Handles one expiry after another, so that a grant that falls
   * with another one is never counted as expired, however long ago the last call was.
   */
  advance(now: number): void {
    while (this.soonest <= now) this.#end(this.soonest)
  }

  /** Expires the grants, invitations and kicks that end by `now`. */
  #end(now: number): void {
    const isOver = ({ expiresAt }: { readonly expiresAt?: number }): boolean =>
      expiresAt !== undefined && expiresAt <= now
    const over = this.invitations.list().filter(isOver)
    for (const { id, recipient } of this.grants.list().filter(isOver)) this.#ended.set(id, recipient)
    for (const { id, participant } of over) this.#ended.set(id, participant)
    for (const oldest of this.#ended.keys()) {
      if (this.#ended.size <= rememberedEnds) break
      this.#ended.delete(oldest)
    }
    this.kicks.lapse(now)
    this.fall(isOver)
    this.forget(over.map(({ participant }) => participant))
    this.changed()
  }

  grant(grant: HeldGrant): void {
    if (!this.participants.has(grant.recipient)) return
    this.grants.add(grant)
    this.#setGranted(grant.recipient)
    this.changed()
  }

  /**
   * Removes the grants that `ends` selects and every grant that rests on them; `doubtful`: participants that have lost other
   * capabilities, so that their grants have to be checked.
   */
  fall(ends: (grant: HeldGrant) => boolean, doubtful?: Iterable<string>): void {
    const losers = this.grants.fall(ends, doubtful)
    for (const id of losers) this.#setGranted(id)
    if (losers.size > 0) this.changed()
  }

  /** Removes participants from the space. */
  forget(gone: readonly string[]): void {
    if (gone.length === 0) return
    const ids = new Set(gone)
    for (const id of ids) {
      this.participants.delete(id)
      this.invitations.end(id)
      this.members.end(id)
    }
    this.fall(({ recipient }) => ids.has(recipient), ids)
    this.#onForgotten(gone)
  }

  /** Participants whose changed capabilities have to be announced by presence envelopes. */
  untold(): string[] {
    return [...this.#untold]
  }

  markNotified(id: string): void {
    this.#untold.delete(id)
  }

  get hasEnded(): boolean {
    return this.#ended.size > 0
  }

  /** Expired grants that are not announced yet. */
  *ended(): Generator<{ readonly id: string; readonly participant: string }> {
    for (const [id, participant] of this.#ended) yield { id, participant }
  }

  markEndAnnounced(grant: string): void {
    this.#ended.delete(grant)
  }

  changed(): void {
    this.revision++
    const given = [...this.grants.list(), ...this.invitations.list()]
    const ends = [
      ...given.map(({ expiresAt }) => expiresAt),
      ...this.kicks.list().map(([, { until }]) => until),
    ]
    this.soonest = ends.reduce<number>((soonest, end = never) => Math.min(soonest, end), never)
  }

  snapshot(): TrustSnapshot {
    return {
      known: this.participants.snapshot(),
      grants: this.grants.list(),
      invitations: this.invitations.list(),
      kicks: this.kicks.list(),
      members: this.members.list(),
      untold: this.untold(),
      ...(this.hasEnded && { ended: [...this.#ended] }),
    }
  }

  restore(held: TrustSnapshot): void {
    this.participants.restore(held.known)
    this.grants.restore(held.grants)
    for (const recipient of new Set(held.grants.map((grant) => grant.recipient))) this.#setGranted(recipient)
    for (const invitation of held.invitations) this.invitations.add(invitation)
    for (const [participant, kick] of held.kicks) this.kicks.add(participant, kick)
    for (const [participant, issuedAt] of held.members) this.members.see(participant, issuedAt)
    this.#untold.clear()
    for (const id of held.untold) this.#untold.add(id)
    for (const [id, recipient] of held.ended ?? []) this.#ended.set(id, recipient)
    this.changed()
  }

  /** Recomputes the granted capabilities of a participant from its standing grants. */
  #setGranted(id: string): void {
    if (!this.participants.has(id)) return
    this.participants.setGrants(id, this.grants.to(id))
    this.#untold.add(id)
  }
}

/** Absent members that are remembered; those seen longest ago are forgotten. */
const remembered = 1000

/** Participants that tokens of the operator's issuer have created: treated like configured ones while they are remembered. */
class Members {
  /** Issue time of each member's newest token, in seconds since the epoch; the last seen member is last. */
  readonly #issued = new Map<string, number>()

  has(id: string): boolean {
    return this.#issued.has(id)
  }

  issuedAt(id: string): number | undefined {
    return this.#issued.get(id)
  }

  list(): [id: string, issuedAt: number][] {
    return [...this.#issued]
  }

  see(id: string, issuedAt: number): void {
    this.#issued.delete(id)
    this.#issued.set(id, issuedAt)
  }

  end(id: string): void {
    this.#issued.delete(id)
  }

  /** The absent members beyond the `remembered` most recently seen ones. */
  surplus(isPresent: (id: string) => boolean): string[] {
    if (this.#issued.size <= remembered) return []
    const away = [...this.#issued.keys()].filter((id) => !isPresent(id))
    return away.slice(0, Math.max(0, away.length - remembered))
  }
}

/** A kick with its reason [MEUP-3.14]; without an end, it lasts until a new invitation. */
export interface Kick extends Restriction {
  /** Seq of the envelope that kicked the participant. */
  readonly at: number
}

/** Kicks of unknown participants that are kept; the oldest are forgotten. */
const rememberedKicks = 1000
/** Bytes of the reason in a close frame. */
const closeReasonBytes = 123

/** Participants that are kicked at present. */
class Kicks {
  readonly #kicked = new Map<string, Kick>()
  #latest = 0

  get(participant: string): Kick | undefined {
    return this.#kicked.get(participant)
  }

  /** Seq of the latest kick, lifted or not; 0 = none. Cheap, because it is read for each batch. */
  get latest(): number {
    return this.#latest
  }

  list(): [participant: string, kick: Kick][] {
    return [...this.#kicked]
  }

  add(participant: string, { by, reason, until, at }: Kick): void {
    this.#latest = Math.max(this.#latest, at)
    this.#kicked.delete(participant)
    this.#kicked.set(participant, { by, at, ...cutReason(reason), ...(until !== undefined && { until }) })
  }

  lift(participant: string): void {
    this.#kicked.delete(participant)
  }

  lapse(now: number): void {
    for (const [participant, { until }] of this.#kicked) {
      if (until !== undefined && until <= now) this.#kicked.delete(participant)
    }
  }

  /**
   * Keeps kicks of unknown participants, so that removing and configuring a participant again does not lift its kick. Forgets
   * the oldest ones beyond the limit.
   */
  forget(isKnown: (participant: string) => boolean): void {
    if (this.#kicked.size <= rememberedKicks) return
    const gone = [...this.#kicked.keys()].filter((participant) => !isKnown(participant))
    for (const participant of gone.slice(0, this.#kicked.size - rememberedKicks))
      this.#kicked.delete(participant)
  }
}

/** The message to a kicked participant that connects again. */
export function explainKick({ by, reason, until }: Kick): string {
  const end =
    until === undefined ? 'Ask to be invited again' : `Come back at ${new Date(until).toISOString()}`
  return fillIn(texts.kicked, { by, reason: reason ? ` (${reason})` : '', advice: end })
}

/** The message of a kick, cut to the length of a close reason. */
export function kickMessage({ by, reason }: Kick): string {
  const text = [...`kicked by ${by}${reason ? `: ${reason}` : ''}`]
  while (Buffer.byteLength(text.join('')) > closeReasonBytes) text.pop()
  return text.join('')
}

/** A participant as the log describes it. */
interface Known {
  readonly held: Holdings
  present: boolean
  /** Configured, or created by a token of the issuer; the others are invited, or guests. */
  named: boolean
  /** The last reported state of the participant's program [MEUP-3.5]. */
  program?: ProgramInfo
}

type ParticipantsSnapshot = readonly {
  readonly id: string
  /** Capabilities that the operator configured. */
  readonly capabilities: readonly Capability[]
  readonly present: boolean
  readonly named: boolean
  readonly program?: ProgramInfo
}[]

/** The members of the space, their capabilities and presence. Changed only by `Trust`. */
export class TrustedParticipants {
  readonly #known = new Map<string, Known>()

  has(id: string): boolean {
    return this.#known.has(id)
  }

  ids(): Iterable<string> {
    return this.#known.keys()
  }

  /** Whether the participant is configured, or created by a token of the issuer. */
  isNamed(id: string): boolean {
    return this.#known.get(id)?.named ?? false
  }

  allows(id: string, subject: Subject, budget: StepBudget): boolean {
    return this.rightFor(id, subject, budget) !== undefined
  }

  /** The right to send this: `configured`, or the id of the earliest grant or invitation that allows it [MEUP-4.22]. */
  rightFor(id: string, subject: Subject, budget: StepBudget): string | undefined {
    return this.#known.get(id)?.held.rightFor(subject, budget)
  }

  /** Like `rightFor`, without granted capabilities. */
  allowsByConfiguration(id: string, subject: Subject): boolean {
    return this.#known.get(id)?.held.allowsByConfiguration(subject) ?? false
  }

  /** All capabilities of a participant; the same array until they change. */
  capabilities(id: string): readonly Capability[] {
    return this.#known.get(id)?.held.all ?? []
  }

  configured(id: string): readonly Capability[] {
    return this.#known.get(id)?.held.configured ?? []
  }

  granted(id: string): readonly Capability[] {
    return this.#known.get(id)?.held.granted ?? []
  }

  /** The rights of a participant to read envelopes that are not public [MEUP-8.1]. */
  readRights(id: string): ReadRights {
    return this.#known.get(id)?.held.readRights ?? noReadRights
  }

  list(): (ParticipantInfo & { readonly program?: ProgramInfo })[] {
    return [...this.#known].map(([id, { held, present, program }]) => ({
      id,
      capabilities: [...held.all],
      status: present ? 'present' : 'away',
      ...(program && { program }),
    }))
  }

  present(): string[] {
    return [...this.#known].filter(([, { present }]) => present).map(([id]) => id)
  }

  isPresent(id: string): boolean {
    return this.#known.get(id)?.present ?? false
  }

  /** Adds a participant without capabilities. */
  add(id: string): void {
    if (this.#known.has(id)) return
    this.#known.set(id, { held: new Holdings([]), present: false, named: false })
  }

  delete(id: string): void {
    this.#known.delete(id)
  }

  setNamed(id: string): void {
    const known = this.#known.get(id)
    if (known !== undefined) known.named = true
  }

  /** Returns whether anything has changed. */
  configure(id: string, capabilities: readonly Capability[]): boolean {
    return this.#known.get(id)?.held.configure(capabilities) ?? false
  }

  setGrants(id: string, grants: readonly HeldGrant[]): void {
    this.#known.get(id)?.held.setGrants(grants)
  }

  setPresent(id: string, present: boolean): void {
    const known = this.#known.get(id)
    if (known !== undefined) known.present = present
  }

  program(id: string): ProgramInfo | undefined {
    return this.#known.get(id)?.program
  }

  /** `null` = the state is no longer reported. */
  setProgram(id: string, program: ProgramInfo | null): void {
    const known = this.#known.get(id)
    if (known === undefined) return
    if (program === null) delete known.program
    else known.program = program
  }

  snapshot(): ParticipantsSnapshot {
    return [...this.#known].map(([id, { held, present, named, program }]) => ({
      id,
      capabilities: held.configured,
      present,
      named,
      ...(program && { program }),
    }))
  }

  restore(snapshot: ParticipantsSnapshot): void {
    for (const { id, capabilities, ...known } of snapshot) {
      this.#known.set(id, { held: new Holdings(capabilities), ...known })
    }
  }
}

const nothing: readonly Capability[] = []

const noReadRights: ReadRights = { readsTargeted: false, readsRefusals: false }

/** Kinds that restrict others: their holders see refusals of the participants that they may restrict [MEUP-8.7]. */
const restrictingKinds = [Kind.capabilityGrant, Kind.spaceKick]

const findReadRights = (list: readonly Capability[]): ReadRights => ({
  readsTargeted: holdsLiteral(list, READ_TARGETED),
  readsRefusals: restrictingKinds.some((kind) => matchesKind(list, kind)),
})

/**
 * The capabilities of one participant: configured ones and granted ones. They are separate because only a configured one
 * permits revoking grants of others [MEUP-4.15], and each list has its own limits.
 */
class Holdings {
  #configured: Capabilities
  #grants: readonly HeldGrant[] = []
  #given = nothing
  /** Granted capabilities are compiled on first use: a replay uses few of them. */
  #granted: Capabilities | undefined
  /** All capabilities; the same array until they change. */
  all: readonly Capability[]
  /** Rights to read envelopes that are not public [MEUP-8.1]. */
  readRights: ReadRights

  constructor(configured: readonly Capability[]) {
    this.#configured = compileCapabilities(configured)
    this.all = configured
    this.readRights = findReadRights(configured)
  }

  get configured(): readonly Capability[] {
    return this.#configured.list
  }

  get granted(): readonly Capability[] {
    return this.#given
  }

  /** Returns whether anything has changed. */
  configure(capabilities: readonly Capability[]): boolean {
    if (JSON.stringify(capabilities) === JSON.stringify(this.configured)) return false
    this.#configured = compileCapabilities(capabilities)
    this.#sum()
    return true
  }

  /** Sets the grants of the participant, in log order. */
  setGrants(grants: readonly HeldGrant[]): void {
    this.#grants = grants
    this.#given = grants.flatMap(({ capabilities }) => capabilities)
    this.#granted = undefined
    this.#sum()
  }

  rightFor(subject: Subject, budget: StepBudget): string | undefined {
    if (this.#configured.allows(subject, budget).allowed) return 'configured'
    if (this.#given.length === 0) return undefined
    this.#granted ??= compileCapabilities(this.#given)
    const { matched } = this.#granted.allows(subject, budget)
    if (matched === undefined) return undefined
    let end = 0
    return this.#grants.find(({ capabilities }) => {
      end += capabilities.length
      return matched < end
    })?.id
  }

  allowsByConfiguration(subject: Subject): boolean {
    return this.#configured.allows(subject).allowed
  }

  #sum(): void {
    this.all = [...this.configured, ...this.granted]
    this.readRights = findReadRights(this.all)
  }
}
