import {
  type Capability,
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
import { type Fold, Progress } from '../fold.js'
import { isObject } from '../text.js'
import {
  cutReason,
  isOver,
  Pauses,
  type PausesSnapshot,
  type Restriction,
  readRestriction,
  restrictionInfo,
} from './pauses.js'

/** What keeps a participant from acting, and how its program is doing; each absent = all is well. */
export type ParticipantState = Pick<ParticipantDetails, 'paused' | 'kicked' | 'program'>

/**
 * How long a participant belongs to the space: `configured` until the operator names it no more, `admitted` (invited, or with a
 * token of an issuer) also without that, `visiting` while it is present. `unknown`: a welcome, or a log that begins in the
 * middle, does not tell which.
 */
type Belonging = 'configured' | 'admitted' | 'visiting' | 'unknown'

interface Known extends Pick<ParticipantDetails, 'id' | 'kind' | 'capabilities' | 'status'> {
  /** When it came or left; `null` if that was before the part of the log that was read. */
  readonly since: string | null
  readonly belongs: Belonging
  /** Id of the invitation by which it belongs. */
  readonly invitation: string | null
  readonly program: ParticipantDetails['program'] | null
}

export interface ParticipantsSnapshot {
  readonly seq: number
  readonly known: readonly (readonly [id: string, known: Known])[]
  readonly kicks: readonly (readonly [id: string, kick: Restriction])[]
  readonly pauses: PausesSnapshot
}

/** Participants past this many are forgotten, oldest first. */
const maxKnown = 50_000
const maxKicks = 10_000

/**
 * The participants of a space: what each is, may do, is kept from, and whether it is present. Times are those of the gateway, in
 * milliseconds since 1970. Who may not read what is addressed to others learns of their pauses by welcomes alone [MEUP-8.1].
 */
export class Participants implements Fold<readonly string[], ParticipantsSnapshot> {
  readonly #progress = new Progress()
  readonly #known = new Bounded<Known>(maxKnown)
  readonly #kicks = new Bounded<Restriction>(maxKicks)
  readonly #pauses = new Pauses()

  get seq(): number {
    return this.#progress.seq
  }

  /** Returns the ids of participants that the envelope may have changed. */
  apply(envelope: Envelope): readonly string[] {
    if (!this.#progress.advance(envelope)) return []
    const { id, kind, ts, payload } = envelope
    const paused = this.#pauses.apply(envelope)
    switch (kind) {
      case Kind.systemPresence:
        return [...paused, ...this.#onPresence(payload as PresencePayload, ts)]
      case Kind.systemSpace:
        return payload.event === 'configured' ? this.#configure(payload.participants) : []
      case Kind.spaceInvite:
        return this.#invite(id, payload as InvitePayload)
      case Kind.spaceKick:
        return this.#kick(envelope.from, payload as KickPayload)
      default:
        return paused
    }
  }

  /** A welcome replaces what was known; what the log has up to its head is counted in it [MEUP-13.21]. */
  onWelcome({ participants, space }: Pick<WelcomePayload, 'participants' | 'space'>): void {
    this.#progress.seq = space.head
    const before = new Map(this.#known.snapshot())
    const stated = participants.map(({ paused, kicked, program = null, ...info }) => {
      const { id, kind, capabilities, status } = info
      const then = before.get(id) ?? newcomer(id)
      const since = then.status === status ? then.since : null
      return { paused, kicked, known: { ...then, id, kind, capabilities, status, since, program } }
    })
    replaceAll(
      this.#known,
      stated.map(({ known }) => [known.id, known]),
    )
    replaceAll(
      this.#kicks,
      stated.flatMap(({ kicked, known }) => (kicked ? [[known.id, readRestriction(kicked)]] : [])),
    )
    this.#pauses.restore(
      stated.flatMap(({ paused, known }) => (paused ? [{ id: known.id, ...readRestriction(paused) }] : [])),
    )
  }

  /** `undefined` = nobody of this space. */
  get(id: string, now: number): ParticipantDetails | undefined {
    const known = this.#known.get(id)
    return known && this.#describe(known, now)
  }

  all(now: number): ParticipantDetails[] {
    return [...this.#known.values()].map((known) => this.#describe(known, now))
  }

  /** When it came or left; `null` if that is not known. */
  since(id: string): string | null {
    return this.#known.get(id)?.since ?? null
  }

  /** Also of participants of which the log has told nothing else. */
  stateOf(id: string, now: number): ParticipantState {
    const [paused, kicked, { program }] = [
      this.#pauses.get(id, now),
      this.#kicks.get(id),
      this.#known.get(id) ?? newcomer(id),
    ]
    return {
      ...(paused && { paused: restrictionInfo(paused) }),
      ...(kicked && !isOver(kicked, now) && { kicked: restrictionInfo(kicked) }),
      ...(program && { program }),
    }
  }

  snapshot(): ParticipantsSnapshot {
    return {
      seq: this.seq,
      known: this.#known.snapshot(),
      kicks: this.#kicks.snapshot(),
      pauses: this.#pauses.snapshot(),
    }
  }

  restore({ seq, known, kicks, pauses }: ParticipantsSnapshot): void {
    this.#progress.seq = seq
    this.#known.restore(known)
    this.#kicks.restore(kicks)
    this.#pauses.restore(pauses)
  }

  #describe({ id, kind, capabilities, status }: Known, now: number): ParticipantDetails {
    return { id, kind, capabilities, status, ...this.stateOf(id, now) }
  }

  /** What is said of somebody who was removed makes nobody known: only who joins, or has a token of an issuer, is. */
  #onPresence(
    { event, participant, vouched, program, ended }: PresencePayload,
    ts: string,
  ): readonly string[] {
    const { id, capabilities } = participant
    const before = this.#known.get(id)
    if (before === undefined && event !== 'join' && vouched === undefined) return []
    const known = before ?? newcomer(id)
    if (event === 'leave' && known.belongs === 'visiting') return this.#leaveForGood(id)
    if (ended?.what === 'grant' && ended.id === known.invitation) return this.#forget(id)
    this.#known.set(id, {
      ...known,
      ...(capabilities && { capabilities }),
      ...(event !== 'update' && { status: event === 'join' ? 'present' : 'away', since: ts }),
      ...(vouched && { belongs: 'admitted', invitation: null }),
      ...(program !== undefined && { program }),
    })
    return [id]
  }

  /** The configured participants are exactly those of the latest configuration; capabilities of known ones follow by presence. */
  #configure(participants: unknown): readonly string[] {
    if (!isObject(participants)) return []
    const others = [...this.#known.values()].filter(({ id }) => !Object.hasOwn(participants, id))
    for (const each of others) {
      if (each.belongs === 'configured') this.#forget(each.id)
      else if (each.belongs !== 'unknown') continue
      else if (each.status === 'away') this.#forget(each.id)
      else this.#known.set(each.id, { ...each, belongs: 'visiting' })
    }
    for (const [id, configured] of Object.entries(participants)) {
      const { kind, capabilities } = readConfigured(configured)
      const known = this.#known.get(id) ?? { ...newcomer(id), capabilities }
      this.#known.set(id, { ...known, kind: kind ?? known.kind, belongs: 'configured', invitation: null })
    }
    return [...others.map(({ id }) => id), ...Object.keys(participants)]
  }

  /** An invitation lifts a kick. It ends with its participant, unless the operator has named that [MEUP-3.18, 3.19]. */
  #invite(invitation: string, { participantId: id, capabilities }: InvitePayload): readonly string[] {
    this.#kicks.delete(id)
    const known = this.#known.get(id) ?? { ...newcomer(id), capabilities }
    if (known.belongs !== 'configured') this.#known.set(id, { ...known, belongs: 'admitted', invitation })
    return [id]
  }

  #kick(by: string, { participantId: id, reason, untilTs }: KickPayload): readonly string[] {
    const until = untilTs === undefined ? {} : { until: Date.parse(untilTs) }
    this.#kicks.renew(id, { by, ...cutReason(reason), ...until })
    return [id]
  }

  /** Ids of guests are not used again. */
  #leaveForGood(id: string): readonly string[] {
    this.#kicks.delete(id)
    return this.#forget(id)
  }

  #forget(id: string): readonly string[] {
    this.#known.delete(id)
    return [id]
  }
}

/** What a participant is that the operator has not named. */
export const unnamedKind = (id: string): string => (id.startsWith(GUEST) ? 'human' : 'agent')

const newcomer = (id: string): Known => ({
  id,
  kind: unnamedKind(id),
  capabilities: [],
  status: 'away',
  since: null,
  belongs: id.startsWith(GUEST) ? 'visiting' : 'unknown',
  invitation: null,
  program: null,
})

function readConfigured(configured: unknown): { kind?: string; capabilities: Capability[] } {
  if (!isObject(configured)) return { capabilities: [] }
  const { kind, capabilities } = configured
  return {
    ...(typeof kind === 'string' && { kind }),
    capabilities: Array.isArray(capabilities) ? capabilities : [],
  }
}

function replaceAll<Value>(
  map: Bounded<Value>,
  entries: readonly (readonly [id: string, value: Value])[],
): void {
  for (const id of [...map.keys()]) map.delete(id)
  map.restore(entries)
}
