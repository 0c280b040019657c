import {
  type Capability,
  type Envelope,
  Kind,
  type ParticipantInfo,
  type PresencePayload,
} from '@meup/protocol'
import { Bounded } from './bounded.js'
import { type Fold, Progress } from './fold.js'
import { isObject } from './text.js'

/** A participant. `since`: when it came or left; `null` if that was before the part of the log that was read. */
export interface PresenceView extends ParticipantInfo {
  readonly since: string | null
  /** Whether the configuration names it: it then stays listed while it is away. */
  readonly isNamed: boolean
}

export interface PresenceSnapshot {
  readonly seq: number
  readonly participants: readonly (readonly [id: string, participant: PresenceView])[]
}

export interface PresenceFold extends Fold<readonly PresenceView[], PresenceSnapshot> {
  get(id: string): PresenceView | undefined
  all(): readonly PresenceView[]
}

/** The participants of a space, with presence and capabilities; a change is the list of participants that changed. */
export const createPresenceFold = (): PresenceFold => new Presence()

class Presence implements PresenceFold {
  readonly #progress = new Progress()
  readonly #participants = new Bounded<PresenceView>(10_000)

  get seq(): number {
    return this.#progress.seq
  }

  apply(envelope: Envelope): readonly PresenceView[] {
    if (envelope.kind === Kind.systemWelcome) return this.#welcome(envelope)
    if (!this.#progress.advance(envelope)) return []
    const { kind, payload, ts } = envelope
    if (kind === Kind.systemPresence) return this.#onPresence(payload as PresencePayload, ts)
    return kind === Kind.systemSpace && payload.event === 'configured' ? this.#configure(payload) : []
  }

  snapshot(): PresenceSnapshot {
    return { seq: this.seq, participants: this.#participants.snapshot() }
  }

  restore({ seq, participants }: PresenceSnapshot): void {
    this.#progress.seq = seq
    this.#participants.restore(participants)
  }

  get(id: string): PresenceView | undefined {
    return this.#participants.get(id)
  }

  all(): readonly PresenceView[] {
    return [...this.#participants.values()]
  }

  /** Participants that the configuration does not name are removed when they leave: a guest gets a new name each time. */
  #onPresence(
    { event, participant: { id, capabilities } }: PresencePayload,
    ts: string,
  ): readonly PresenceView[] {
    const known = this.#participants.get(id)
    if (known === undefined && event !== 'join') return []
    const before = known ?? { id, capabilities: [], isNamed: false }
    const coming =
      event === 'update' ? {} : ({ status: event === 'join' ? 'present' : 'away', since: ts } as const)
    const changed: PresenceView = {
      status: 'present',
      since: ts,
      ...before,
      ...coming,
      capabilities: capabilities ?? before.capabilities,
    }
    if (event === 'leave' && !changed.isNamed) this.#participants.delete(id)
    else this.#participants.set(id, changed)
    return [changed]
  }

  #configure({ participants }: Envelope['payload']): readonly PresenceView[] {
    if (!isObject(participants)) return []
    const gone = this.all().filter(({ id, isNamed }) => isNamed && !Object.hasOwn(participants, id))
    for (const { id } of gone) this.#participants.delete(id)
    const named = Object.entries(participants).map(([id, configured]): PresenceView => {
      const before = this.#participants.get(id) ?? { id, status: 'away', since: null }
      return { ...before, capabilities: readCapabilities(configured), isNamed: true }
    })
    for (const each of named) this.#participants.set(each.id, each)
    return [...gone.map((each): PresenceView => ({ ...each, status: 'away' })), ...named]
  }

  /** A welcome lists all participants of the space, and so replaces the list. */
  #welcome({ payload }: Envelope): readonly PresenceView[] {
    const participants = (payload.participants ?? []) as readonly ParticipantInfo[]
    const listed = participants.map(({ id, capabilities, status }): PresenceView => {
      const before = this.#participants.get(id)
      const since = before?.status === status ? before.since : null
      return { id, capabilities, status, since, isNamed: before?.isNamed ?? true }
    })
    for (const { id } of this.all()) this.#participants.delete(id)
    for (const each of listed) this.#participants.set(each.id, each)
    return listed
  }
}

const readCapabilities = (configured: unknown): Capability[] =>
  isObject(configured) && Array.isArray(configured.capabilities) ? configured.capabilities : []
