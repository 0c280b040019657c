import { Bounded, isWithheld, type OpenedContext, type Participants } from '@meup/folds'
import {
  type Capability,
  correlations,
  type Envelope,
  isThought,
  Kind,
  type ParticipantDetails,
} from '@meup/protocol'

/** `tool`: it answers calls, and says nothing itself. */
type Role = 'agent' | 'person' | 'tool'

/** A participant, and what it is working on. */
export interface Person {
  readonly id: string
  readonly role: Role
  readonly isPresent: boolean
  /** Since when, RFC 3339; `null` = longer than is known. */
  readonly since: string | null
  /** Runs that it has begun and not ended. */
  readonly load: number
  readonly isMuted: boolean
}

/** The latest status of a participant: the fields of `participant.status`. */
export type Status = Readonly<Record<string, unknown>>

interface KnownSpace {
  readonly facts: { readonly participants: Participants }
  /** Those that go on. */
  runs(): readonly OpenedContext[]
}

/** Who is in the space, what each is at, and how much each has thought aloud. */
export class People {
  readonly #space: () => KnownSpace
  readonly #muted: ReadonlySet<string>
  #statuses = new Bounded<Status>(10_000)
  readonly #thoughts = new Map<string, number>()
  #listed: readonly Person[] = []
  /** What the list was made from. */
  #key = ''
  #version = 0
  /** The latest call of each that has no answer. */
  readonly #calls = new Map<string, Envelope>()
  /** Texts that the gateway's guard kept back. */
  withheld = 0

  constructor(space: () => KnownSpace, muted: ReadonlySet<string>) {
    this.#space = space
    this.#muted = muted
  }

  /** Presence has changed. */
  onPresenceChange(): void {
    this.#version++
  }

  apply(envelope: Envelope): void {
    const { kind, from, to = [], payload } = envelope
    if (kind === Kind.mcpRequest && payload.method === 'tools/call') this.#calls.set(from, envelope)
    if (kind === Kind.mcpResponse)
      for (const id of to)
        if (correlations(envelope).includes(this.#calls.get(id)?.id ?? '')) this.#calls.delete(id)
    if (kind === Kind.participantStatus) this.#statuses.renew(from, payload)
    if (isThought(kind)) this.#thoughts.set(from, this.countThoughts(from) + 1)
    if (isWithheld(payload)) this.withheld++
  }

  /** It is these that were taken. */
  reset(envelopes: readonly Envelope[]): void {
    this.#version++
    this.#statuses = new Bounded(10_000)
    this.#thoughts.clear()
    this.#calls.clear()
    this.withheld = 0
    for (const envelope of envelopes) this.apply(envelope)
  }

  countThoughts(id: string): number {
    return this.#thoughts.get(id) ?? 0
  }

  /** The call that it waits for. */
  getCall(id: string): Envelope | undefined {
    return this.#calls.get(id)
  }

  getStatus(id: string): Status | undefined {
    return this.#statuses.get(id)
  }

  isHuman(id: string): boolean {
    return this.#space().facts.participants.get(id, 0)?.kind === 'human'
  }

  /** Everybody with what each may do. `now`: milliseconds by the gateway's clock. */
  infos(now: number): readonly ParticipantDetails[] {
    return this.#space().facts.participants.all(now)
  }

  /** Who is there first, then by name; the same array while nothing about it is different. */
  get list(): readonly Person[] {
    const loads = new Map<string, number>()
    const space = this.#space()
    for (const { owner } of space.runs()) loads.set(owner, (loads.get(owner) ?? 0) + 1)
    const key = JSON.stringify([this.#version, [...loads], [...this.#muted]])
    if (key === this.#key) return this.#listed
    this.#key = key
    const { participants } = space.facts
    this.#listed = participants
      .all(0)
      .map(
        ({ id, status, kind, capabilities }): Person => ({
          id,
          role: kind === 'human' ? 'person' : capabilities.some(speaks) ? 'agent' : 'tool',
          isPresent: status === 'present',
          since: participants.since(id),
          load: loads.get(id) ?? 0,
          isMuted: this.#muted.has(id),
        }),
      )
      .sort(byPresence)
    return this.#listed
  }
}

/** Whether it lets its holder say something in the space. */
function speaks(capability: Capability): boolean {
  const kinds = typeof capability === 'string' ? capability : 'kind' in capability ? capability.kind : ''
  return [kinds].flat().some((kind) => kind === '*' || kind === Kind.chat || kind.startsWith('reasoning.'))
}

const byPresence = (one: Person, other: Person): number =>
  Number(other.isPresent) - Number(one.isPresent) || order.compare(one.id, other.id)

const order = new Intl.Collator('en')
