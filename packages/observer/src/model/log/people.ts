import { Bounded, isWithheld, type OpenedContext, type Participants } from '@meup/folds'
import {
  type Capability,
  correlations,
  type Envelope,
  isThought,
  Kind,
  type ParticipantDetails,
} from '@meup/protocol'

/** `tool`: a participant that only answers calls. */
type Role = 'agent' | 'person' | 'tool'

/** A participant, with its presence and open runs. */
export interface Person {
  readonly id: string
  readonly role: Role
  readonly isPresent: boolean
  /** Start of the participant's presence or absence, RFC 3339; `null` if before the loaded log. */
  readonly since: string | null
  /** Number of open runs. */
  readonly load: number
  readonly isMuted: boolean
}

/** The latest status of a participant: the fields of `participant.status`. */
export type ReportedStatus = Readonly<Record<string, unknown>>

interface KnownSpace {
  readonly facts: { readonly participants: Participants }
  runs(): readonly OpenedContext[]
}

/** The participants of the space, with their status, open calls and counts of thoughts. */
export class People {
  readonly #space: () => KnownSpace
  readonly #muted: ReadonlySet<string>
  #statuses = new Bounded<ReportedStatus>(10_000)
  readonly #thoughts = new Map<string, number>()
  #listed: readonly Person[] = []
  /** Key of the state that `#listed` was created from; with another key, `#listed` is outdated. */
  #key = ''
  #version = 0
  /** The latest unanswered call of a participant. */
  readonly #calls = new Map<string, Envelope>()
  /** Number of texts that the gateway's guard has withheld. */
  withheld = 0

  constructor(space: () => KnownSpace, muted: ReadonlySet<string>) {
    this.#space = space
    this.#muted = muted
  }

  /** Invalidates the cached list, after a change of presence. */
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

  /** Starts over with these envelopes. */
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

  /** The unanswered call of this participant. */
  getCall(id: string): Envelope | undefined {
    return this.#calls.get(id)
  }

  getStatus(id: string): ReportedStatus | undefined {
    return this.#statuses.get(id)
  }

  /** The role of a participant; `undefined` if it is unknown or has left. */
  roleOf(id: string): Role | undefined {
    const found = this.#space().facts.participants.get(id, 0)
    return found && getRole(found)
  }

  /** All participants with their capabilities. `now`: gateway time in ms. */
  infos(now: number): readonly ParticipantDetails[] {
    return this.#space().facts.participants.all(now)
  }

  /** All participants, present ones first, then by name. Returns the same array until something changes. */
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
          role: getRole({ kind, capabilities }),
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

const getRole = ({
  kind,
  capabilities,
}: Pick<ParticipantDetails, 'kind' | 'capabilities'>): Person['role'] =>
  kind === 'human' ? 'person' : capabilities.some(speaks) ? 'agent' : 'tool'

/** Whether a capability allows messages or thoughts. */
function speaks(capability: Capability): boolean {
  const kinds = typeof capability === 'string' ? capability : 'kind' in capability ? capability.kind : ''
  return [kinds].flat().some((kind) => kind === '*' || kind === Kind.chat || kind.startsWith('reasoning.'))
}

const byPresence = (one: Person, other: Person): number =>
  Number(other.isPresent) - Number(one.isPresent) || order.compare(one.id, other.id)

const order = new Intl.Collator('en')
