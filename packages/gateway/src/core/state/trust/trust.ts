import { cutReason, Grants, type Restriction, type Grant as Standing } from '@meup/folds'
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
  type Subject,
} from '@meup/protocol'
import type { ReadRights } from '../../may-read.js'
import { type Invitation, Invitations } from './invitations.js'

/** What one participant has given another [MEUP-4.14]. */
export interface Grant extends Standing {
  /** Milliseconds since the epoch; absent = no end. */
  readonly expiresAt?: number
}

export interface TrustSnapshot {
  readonly known: ParticipantsSnapshot
  readonly grants: readonly Grant[]
  readonly invitations: readonly Invitation[]
  readonly kicks: readonly (readonly [participant: string, kick: Kick])[]
  readonly members: readonly (readonly [participant: string, issuedAt: number])[]
  readonly untold: readonly string[]
  /** Absent in snapshots of earlier versions. */
  readonly ended?: readonly (readonly [grant: string, recipient: string])[]
}

/** Told who does not belong to the space any more. */
type OnForgotten = (ids: readonly string[]) => void

const never = Number.POSITIVE_INFINITY
/** Past this many, the oldest are told to nobody. */
const rememberedEnds = 10_000

/**
 * Who belongs to the space, what each was given by whom, and who is kept out [MEUP-4]. Keeps it consistent: whoever is
 * not known has nothing, and what was given falls with what it rested on. `applyToTrust` alone changes it, and time.
 */
export class Trust {
  readonly participants = new Participants()
  readonly grants = new Grants<Grant>(this.participants)
  readonly invitations = new Invitations()
  readonly kicks = new Kicks()
  readonly members = new Members()
  /** When the next of all these ends, in milliseconds since the epoch; infinity = none of them does. */
  soonest = never
  /** Grows whenever somebody may do or read something else, or has to leave. */
  revision = 0
  /** Seq of the last envelope that made it grow. */
  changedAt = 0
  /** Whose granted capabilities are other ones than presence has told last. */
  readonly #untold = new Set<string>()
  /** Recipients of grants, invitations included, that time has ended and nobody was told of; by their ids. */
  readonly #ended = new Map<string, string>()
  readonly #onForgotten: OnForgotten

  constructor(onForgotten: OnForgotten = () => {}) {
    this.#onForgotten = onForgotten
  }

  /** Units of work that what fell has taken: whoever lets something fall pays for them [MEUP-7.1]. */
  get work(): number {
    return this.grants.work
  }

  /**
   * Time has come to `now`, in milliseconds since the epoch: what was to last until then is over. One end after another: what falls
   * with something else has not come to its own end, however seldom anybody looks at the time.
   */
  advance(now: number): void {
    while (this.soonest <= now) this.#end(this.soonest)
  }

  /** Ends what was to last until this time. */
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

  grant(grant: Grant): void {
    if (!this.participants.has(grant.recipient)) return
    this.grants.add(grant)
    this.#setGranted(grant.recipient)
    this.changed()
  }

  /** Lets the grants fall that `ends` picks, and all that rested on them; `doubtful`: who has lost something else. */
  fall(ends: (grant: Grant) => boolean, doubtful?: Iterable<string>): void {
    const losers = this.grants.fall(ends, doubtful)
    for (const id of losers) this.#setGranted(id)
    if (losers.size > 0) this.changed()
  }

  /** These do not belong to the space any more. */
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

  /** Of whom presence should tell new capabilities. */
  untold(): string[] {
    return [...this.#untold]
  }

  markNotified(id: string): void {
    this.#untold.delete(id)
  }

  get hasEnded(): boolean {
    return this.#ended.size > 0
  }

  /** Grants that time has ended, and that were not told of. */
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

  /** What is granted to it is what stands. */
  #setGranted(id: string): void {
    if (!this.participants.has(id)) return
    this.participants.setGrants(id, this.grants.to(id))
    this.#untold.add(id)
  }
}

/** Of those who are away the ones that were seen last are remembered. */
const remembered = 1000

/** Whom tokens of the operator's issuer have made participants: as good as configured, while they are remembered. */
class Members {
  /** When the newest token of each was issued, in seconds since the epoch; whoever was seen last comes last. */
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

  /** Who has been away for so long that it is to be forgotten. */
  surplus(isPresent: (id: string) => boolean): string[] {
    if (this.#issued.size <= remembered) return []
    const away = [...this.#issued.keys()].filter((id) => !isPresent(id))
    return away.slice(0, Math.max(0, away.length - remembered))
  }
}

/** Why a participant is kept out [MEUP-3.14]; without an end, until it is invited again. */
export interface Kick extends Restriction {
  /** Seq of the envelope. */
  readonly at: number
}

/** Kicks of those whom the space does not know any more are forgotten past this many, oldest first. */
const rememberedKicks = 1000
/** Bytes that a close frame has for its reason. */
const closeReasonBytes = 123

/** Who was kicked and is not back yet. */
class Kicks {
  readonly #kicked = new Map<string, Kick>()
  #latest = 0

  get(participant: string): Kick | undefined {
    return this.#kicked.get(participant)
  }

  /** Seq of the latest one, whether or not it was lifted since; 0 = there was none. Asked for each batch. */
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

  /** An operator may remove a participant and configure it again: that lifts no kick, but there is an end to it. */
  forget(isKnown: (participant: string) => boolean): void {
    if (this.#kicked.size <= rememberedKicks) return
    const gone = [...this.#kicked.keys()].filter((participant) => !isKnown(participant))
    for (const participant of gone.slice(0, this.#kicked.size - rememberedKicks))
      this.#kicked.delete(participant)
  }
}

/** What a kicked participant reads when it comes back. */
export function explainKick({ by, reason, until }: Kick): string {
  const end =
    until === undefined ? 'ask to be invited again' : `come back at ${new Date(until).toISOString()}`
  return `${by} has kicked you out${reason ? ` (${reason})` : ''}; ${end}`
}

/** The same as the reason of a close frame, which is short. */
export function kickMessage({ by, reason }: Kick): string {
  const text = [...`kicked by ${by}${reason ? `: ${reason}` : ''}`]
  while (Buffer.byteLength(text.join('')) > closeReasonBytes) text.pop()
  return text.join('')
}

/** A participant as the log knows it. */
interface Known {
  readonly held: Holdings
  present: boolean
  /** By the operator, or by the issuer of its token; the others are invited, or guests. */
  named: boolean
  /** How its program is doing, as it was said last [MEUP-3.5]. */
  program?: ProgramInfo
}

type ParticipantsSnapshot = readonly {
  readonly id: string
  /** What the operator gave it. */
  readonly capabilities: readonly Capability[]
  readonly present: boolean
  readonly named: boolean
  readonly program?: ProgramInfo
}[]

/** Who belongs to the space, what each may do, and who is there: changed by the fold that it is part of, `Trust`. */
export class Participants {
  readonly #known = new Map<string, Known>()

  has(id: string): boolean {
    return this.#known.has(id)
  }

  ids(): Iterable<string> {
    return this.#known.keys()
  }

  /** Whether the operator has configured it, or takes its issuer's word for it. */
  isNamed(id: string): boolean {
    return this.#known.get(id)?.named ?? false
  }

  allows(id: string, subject: Subject): boolean {
    return this.rightFor(id, subject) !== undefined
  }

  /** What lets it send this: `configured`, or the id of the earliest grant or invitation that does [MEUP-4.22]. */
  rightFor(id: string, subject: Subject): string | undefined {
    return this.#known.get(id)?.held.rightFor(subject)
  }

  /** The same without what others have granted it. */
  allowsByConfiguration(id: string, subject: Subject): boolean {
    return this.#known.get(id)?.held.allowsByConfiguration(subject) ?? false
  }

  /** All that it has; the same array until that changes. */
  capabilities(id: string): readonly Capability[] {
    return this.#known.get(id)?.held.all ?? []
  }

  configured(id: string): readonly Capability[] {
    return this.#known.get(id)?.held.configured ?? []
  }

  granted(id: string): readonly Capability[] {
    return this.#known.get(id)?.held.granted ?? []
  }

  /** What it may read of what is for others [MEUP-8.1]. */
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

  /** With nothing to begin with. */
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

  /** Gives whether that changes anything. */
  configure(id: string, capabilities: readonly Capability[]): boolean {
    return this.#known.get(id)?.held.configure(capabilities) ?? false
  }

  setGrants(id: string, grants: readonly Grant[]): void {
    this.#known.get(id)?.held.setGrants(grants)
  }

  setPresent(id: string, present: boolean): void {
    const known = this.#known.get(id)
    if (known !== undefined) known.present = present
  }

  program(id: string): ProgramInfo | undefined {
    return this.#known.get(id)?.program
  }

  /** `null`: nobody says it any more. */
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

/** Kinds that restrict others: who may send one sees what they were refused [MEUP-8.7]. */
const restrictingKinds = [Kind.capabilityGrant, Kind.spaceKick]

const findReadRights = (list: readonly Capability[]): ReadRights => ({
  readsTargeted: holdsLiteral(list, READ_TARGETED),
  readsRefusals: restrictingKinds.some((kind) => matchesKind(list, kind)),
})

/**
 * What one participant may do: what the operator configured, and what others have granted it. They stay apart, since
 * only the first lets it revoke what is not its own [MEUP-4.15], and each has the limits of one list.
 */
class Holdings {
  #configured: Capabilities
  #grants: readonly Grant[] = []
  #given = nothing
  /** What is granted is compiled when it is first asked for: a replay asks for nearly nothing. */
  #granted: Capabilities | undefined
  /** All of it; the same array until something changes. */
  all: readonly Capability[]
  /** What it may read of what is for others [MEUP-8.1]. */
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

  /** Gives whether that changes anything. */
  configure(capabilities: readonly Capability[]): boolean {
    if (JSON.stringify(capabilities) === JSON.stringify(this.configured)) return false
    this.#configured = compileCapabilities(capabilities)
    this.#sum()
    return true
  }

  /** Everything that is granted to it from now on, in log order. */
  setGrants(grants: readonly Grant[]): void {
    this.#grants = grants
    this.#given = grants.flatMap(({ capabilities }) => capabilities)
    this.#granted = undefined
    this.#sum()
  }

  rightFor(subject: Subject): string | undefined {
    if (this.allowsByConfiguration(subject)) return 'configured'
    if (this.#given.length === 0) return undefined
    this.#granted ??= compileCapabilities(this.#given)
    const { matched } = this.#granted.allows(subject)
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
