import { Participants, type ParticipantsSnapshot } from '../participants.js'
import { type Grant, Grants } from './grants.js'
import { type Invitation, Invitations } from './invitations.js'
import { type Kick, Kicks } from './kicks.js'

export interface TrustSnapshot {
  readonly known: ParticipantsSnapshot
  readonly grants: readonly Grant[]
  readonly invitations: readonly Invitation[]
  readonly kicks: readonly (readonly [participant: string, kick: Kick])[]
  readonly members: readonly (readonly [participant: string, issuedAt: number])[]
  readonly untold: readonly string[]
}

/** Told who does not belong to the space any more. */
type OnForgotten = (ids: readonly string[]) => void

const never = Number.POSITIVE_INFINITY

/**
 * Who belongs to the space, what each was given by whom, and who is kept out [MEUP-4]. Keeps it consistent: whoever is
 * not known has nothing, and what was given falls with what it rested on. `applyToTrust` alone changes it, and time.
 */
export class Trust {
  readonly participants = new Participants()
  readonly grants = new Grants(this.participants)
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
  readonly #onForgotten: OnForgotten

  constructor(onForgotten: OnForgotten = () => {}) {
    this.#onForgotten = onForgotten
  }

  /** Units of work that what fell has taken: whoever lets something fall pays for them [MEUP-7.1]. */
  get work(): number {
    return this.grants.work
  }

  /** Time has come to `now`, in milliseconds since the epoch: what was to last until then is over. */
  advance(now: number): void {
    if (now < this.soonest) return
    const isOver = ({ expiresAt }: { readonly expiresAt?: number }): boolean =>
      expiresAt !== undefined && expiresAt <= now
    this.kicks.lapse(now)
    this.fall(isOver)
    this.forget(this.invitations.list().flatMap((each) => (isOver(each) ? [each.participant] : [])))
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
    this.changed()
  }

  /** What is granted to it is what stands. */
  #setGranted(id: string): void {
    if (!this.participants.has(id)) return
    const granted = this.grants.to(id).flatMap(({ capabilities }) => capabilities)
    this.participants.setGranted(id, granted)
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
