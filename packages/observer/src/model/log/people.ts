import { Bounded, isWithheld, type OpenedContext, type PresenceFold } from '@meup/folds'
import { type Envelope, isThought, Kind, type ParticipantInfo } from '@meup/protocol'

/** A participant, and what it is working on. */
export interface Person {
  readonly id: string
  readonly isPresent: boolean
  /** Since when, RFC 3339; `null` = longer than is known. */
  readonly since: string | null
  /** Runs that it has begun and not ended. */
  readonly load: number
  readonly isMuted: boolean
}

/** The latest status of a participant: the fields of `participant.status`. */
export type Status = Readonly<Record<string, unknown>>

/** Who is in the space, what each is at, and how much each has thought aloud. */
export class People {
  readonly #presence: PresenceFold
  readonly #runs: () => readonly OpenedContext[]
  readonly #muted: ReadonlySet<string>
  readonly #statuses = new Bounded<Status>(10_000)
  readonly #thoughts = new Map<string, number>()
  #listed: readonly Person[] = []
  /** What the list was made from. */
  #key = ''
  #version = 0
  /** Texts that the gateway's guard kept back. */
  withheld = 0

  /** `runs`: those that go on. */
  constructor(presence: PresenceFold, runs: () => readonly OpenedContext[], muted: ReadonlySet<string>) {
    this.#presence = presence
    this.#runs = runs
    this.#muted = muted
  }

  /** Presence has changed. */
  onPresenceChange(): void {
    this.#version++
  }

  apply({ kind, from, payload }: Envelope): void {
    if (kind === Kind.participantStatus) this.#statuses.renew(from, payload)
    if (isThought(kind)) this.#thoughts.set(from, this.countThoughts(from) + 1)
    if (isWithheld(payload)) this.withheld++
  }

  /** It is these that were taken. */
  reset(envelopes: readonly Envelope[]): void {
    this.#thoughts.clear()
    this.withheld = 0
    for (const envelope of envelopes) this.apply(envelope)
  }

  countThoughts(id: string): number {
    return this.#thoughts.get(id) ?? 0
  }

  getStatus(id: string): Status | undefined {
    return this.#statuses.get(id)
  }

  /** Everybody with what each may do. */
  infos(): readonly ParticipantInfo[] {
    return this.#presence.all()
  }

  /** Who is there first, then by name; the same array while nothing about it is different. */
  get list(): readonly Person[] {
    const loads = new Map<string, number>()
    for (const { owner } of this.#runs()) loads.set(owner, (loads.get(owner) ?? 0) + 1)
    const key = JSON.stringify([this.#version, [...loads], [...this.#muted]])
    if (key === this.#key) return this.#listed
    this.#key = key
    this.#listed = this.#presence
      .all()
      .map(({ id, status, since }) => ({
        id,
        isPresent: status === 'present',
        since,
        load: loads.get(id) ?? 0,
        isMuted: this.#muted.has(id),
      }))
      .sort(byPresence)
    return this.#listed
  }
}

const byPresence = (one: Person, other: Person): number =>
  Number(other.isPresent) - Number(one.isPresent) || order.compare(one.id, other.id)

const order = new Intl.Collator('en')
