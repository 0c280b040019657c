import {
  type Envelope,
  GUEST,
  type InvitePayload,
  type KickPayload,
  Kind,
  type ParticipantDetails,
  type PresencePayload,
  type WelcomePayload,
} from '@meup/protocol'
import { Bounded } from '../bounded.js'
import { type Fold, FoldProgress } from '../fold.js'
import { isObject } from '../text.js'
import {
  isOver,
  Pauses,
  type PausesSnapshot,
  type Restriction,
  readRestriction,
  restrictionInfo,
} from './pauses.js'

/** Restrictions of a participant, and the state of its program; absent fields mean no problem. */
export type ParticipantState = Pick<ParticipantDetails, 'paused' | 'kicked' | 'program'>

interface Known extends Pick<ParticipantDetails, 'id' | 'kind' | 'capabilities' | 'status'> {
  readonly description?: string | undefined
  /** When the participant joined or left; `null` if before the part of the log that was read. */
  readonly since: string | null
  /**
   * Duration of the membership: `configured` while the operator names the participant, `admitted` (invited, or by the token of
   * an issuer) permanently, `visiting` while present. `unknown`: neither the welcome nor the read part of the log says.
   */
  readonly belongs: 'configured' | 'admitted' | 'visiting' | 'unknown'
  /** Id of the invitation that made the participant a member: the membership ends with the grant of the invitation. */
  readonly invitation: string | null
  readonly program: ParticipantDetails['program'] | null
}

export interface ParticipantsSnapshot {
  readonly seq: number
  readonly known: readonly (readonly [id: string, known: Known])[]
  readonly kicks: readonly (readonly [id: string, kick: Restriction])[]
  readonly pauses: PausesSnapshot
  readonly frontDesk?: string
}

/** A participant as the operator has configured it. */
type Configured = Pick<ParticipantDetails, 'kind' | 'capabilities' | 'description'>

/** Maximum number of participants and of kicks; the oldest are forgotten. */
const [maxKnown, maxKicks] = [50_000, 10_000]

/**
 * The participants of a space with kind, capabilities, restrictions and presence. Times are the gateway's, in milliseconds
 * since 1970. Readers without access to targeted envelopes learn about pauses of others from welcomes only [MEUP-8.1].
 */
export class Participants implements Fold<boolean, ParticipantsSnapshot> {
  readonly #progress = new FoldProgress()
  #known = new Bounded<Known>(maxKnown)
  #kicks = new Bounded<Restriction>(maxKicks)
  #pauses = new Pauses()
  #gone: string[] = []
  #frontDesk: string | undefined

  get seq(): number {
    return this.#progress.seq
  }

  /** The participant that gets messages without an addressee; `undefined` = they go to everyone [MEUP-13.18]. */
  get frontDesk(): string | undefined {
    return this.#frontDesk
  }

  /**
   * Participants that have certainly left the space by the last envelope. Not those that were dropped although they may still
   * be members, because neither the welcome nor the read part of the log says.
   */
  get gone(): readonly string[] {
    return this.#gone
  }

  /** Applies the next envelope. Returns whether participants may have changed. */
  apply(envelope: Envelope): boolean {
    if (this.#gone.length > 0) this.#gone = []
    if (!this.#progress.advance(envelope)) return false
    const { id, kind, from, ts, payload } = envelope
    const isPause = this.#pauses.apply(envelope)
    if (kind === Kind.systemPresence) this.#onPresence(payload as PresencePayload, ts)
    else if (kind === Kind.spaceInvite) this.#invite(id, payload as InvitePayload)
    else if (kind === Kind.spaceKick) this.#kick(from, payload as KickPayload)
    else if (kind !== Kind.systemSpace || payload.event !== 'configured') return isPause
    else this.#configure(payload)
    return true
  }

  /** Replaces the state by a welcome, which includes the log up to its head [MEUP-13.21]. */
  onWelcome({ participants, space }: Pick<WelcomePayload, 'participants' | 'space'>): void {
    const before = this.#known
    const { head: seq, frontDesk } = space
    this.restore({ seq, known: [], kicks: [], pauses: [], ...(frontDesk !== undefined && { frontDesk }) })
    for (const { paused, kicked, program = null, ...described } of participants) {
      const { id, status, description } = described
      const then = before.get(id) ?? newcomer(id)
      const since = then.status === status ? then.since : null
      this.#known.set(id, { ...then, ...described, description, since, program })
      if (kicked) this.#kicks.set(id, readRestriction(kicked))
      if (paused) this.#pauses.restore([{ id, ...readRestriction(paused) }])
    }
  }

  has(id: string): boolean {
    return this.#known.get(id) !== undefined
  }

  /** Describes a participant; `undefined` = not in this space. */
  get(id: string, now: number): ParticipantDetails | undefined {
    const known = this.#known.get(id)
    return known && this.#describe(known, now)
  }

  all(now: number): ParticipantDetails[] {
    return [...this.#known.values()].map((known) => this.#describe(known, now))
  }

  /** Returns when the participant joined or left; `null` if unknown. */
  since(id: string): string | null {
    return this.#known.get(id)?.since ?? null
  }

  /** Returns the restrictions and program of a participant, even if it is otherwise unknown. */
  stateOf(id: string, now: number): ParticipantState {
    const [paused, kicked, program] = [
      this.#pauses.get(id, now),
      this.#kicks.get(id),
      this.#known.get(id)?.program,
    ]
    return {
      ...(paused && { paused: restrictionInfo(paused) }),
      ...(kicked && !isOver(kicked, now) && { kicked: restrictionInfo(kicked) }),
      ...(program && { program }),
    }
  }

  snapshot(): ParticipantsSnapshot {
    const [known, kicks, pauses] = [this.#known.snapshot(), this.#kicks.snapshot(), this.#pauses.snapshot()]
    const frontDesk = this.#frontDesk
    return { seq: this.seq, known, kicks, pauses, ...(frontDesk !== undefined && { frontDesk }) }
  }

  restore({ seq, known, kicks, pauses, frontDesk }: ParticipantsSnapshot): void {
    this.#progress.seq = seq
    this.#frontDesk = frontDesk
    ;[this.#known, this.#kicks, this.#pauses] = [new Bounded(maxKnown), new Bounded(maxKicks), new Pauses()]
    this.#known.restore(known)
    this.#kicks.restore(kicks)
    this.#pauses.restore(pauses)
  }

  #describe({ id, kind, capabilities, status, description }: Known, now: number): ParticipantDetails {
    const state = this.stateOf(id, now)
    return { id, kind, capabilities, status, ...state, ...(description !== undefined && { description }) }
  }

  /** Applies a presence. After the removal of a participant, a leave or update does not add it again. */
  #onPresence({ event, participant, vouched, program, ended }: PresencePayload, ts: string): void {
    const { id, capabilities } = participant
    const { belongs, invitation } = this.#known.get(id) ?? newcomer(id)
    if (event === 'leave' && belongs === 'visiting') {
      this.#remove(id, id.startsWith(GUEST))
      this.#kicks.delete(id)
    } else if (ended?.what === 'grant' && ended.id === invitation) this.#remove(id, true)
    else if (this.has(id) || event === 'join' || vouched !== undefined) {
      this.#change(id, {
        ...(capabilities && { capabilities }),
        ...(event !== 'update' && { status: event === 'join' ? 'present' : 'away', since: ts }),
        ...(vouched && { belongs: 'admitted', invitation: null }),
        ...(program !== undefined && { program }),
      })
    }
  }

  /** Sets the configured participants to those of the latest configuration. Their capabilities come from presence. */
  #configure({ participants, frontDesk }: Envelope['payload']): void {
    this.#frontDesk = typeof frontDesk === 'string' ? frontDesk : undefined
    if (!isObject(participants)) return
    for (const { id, belongs, status } of [...this.#known.values()]) {
      if (Object.hasOwn(participants, id)) continue
      const isNamed = belongs === 'configured'
      if (isNamed || (belongs === 'unknown' && status === 'away')) this.#remove(id, isNamed)
      else if (belongs === 'unknown') this.#change(id, { belongs: 'visiting' })
    }
    const named = Object.entries(participants as Record<string, Configured>)
    for (const [id, { kind, capabilities, description }] of named) {
      const rights = this.has(id) ? {} : { capabilities }
      this.#change(id, { kind, description, belongs: 'configured', invitation: null, ...rights })
    }
  }

  /** An invitation lifts a kick, and makes an unconfigured participant a member [MEUP-3.18, 3.19]. */
  #invite(invitation: string, { participantId: id, capabilities }: InvitePayload): void {
    this.#kicks.delete(id)
    const known = this.#known.get(id)
    if (known?.belongs === 'configured') return
    this.#change(id, { belongs: 'admitted', invitation, ...(!known && { capabilities }) })
  }

  #kick(by: string, { participantId, reason = '', untilTs: until }: KickPayload): void {
    this.#kicks.renew(participantId, readRestriction({ by, reason, ...(until && { until }) }))
  }

  #remove(id: string, isCertain: boolean): void {
    this.#known.delete(id)
    if (isCertain) this.#gone.push(id)
  }

  #change(id: string, change: Partial<Known>): void {
    this.#known.set(id, { ...(this.#known.get(id) ?? newcomer(id)), ...change })
  }
}

/** The kind of a participant that is not configured: guests are human, others agents. */
export const unnamedKind = (id: string): string => (id.startsWith(GUEST) ? 'human' : 'agent')

const newcomer = (id: string): Known => ({
  ...{ id, kind: unnamedKind(id), capabilities: [], status: 'away', since: null, program: null },
  ...{ belongs: id.startsWith(GUEST) ? 'visiting' : 'unknown', invitation: null },
})
