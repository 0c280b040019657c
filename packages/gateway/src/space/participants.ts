import {
  type Capability,
  compileCapabilities,
  type Decision,
  type Envelope,
  holdsLiteral,
  Kind,
  type ParticipantInfo,
  READ_TARGETED,
  type Subject,
} from '@meup/protocol'

/** A participant as the log knows it. */
interface Known {
  capabilities: readonly Capability[]
  allows(subject: Subject): Decision
  readsTargeted: boolean
  present: boolean
  /** By the operator; all others are guests. */
  named: boolean
}

export type ParticipantsSnapshot = readonly ({ readonly id: string } & Pick<
  Known,
  'capabilities' | 'present' | 'named'
>)[]

/** What `system.space configured` says of them. */
interface Configuration {
  readonly participants: Readonly<Record<string, { readonly capabilities: readonly Capability[] }>>
  readonly guest?: { readonly capabilities: readonly Capability[] }
}

/** Who belongs to the space, what each may do, and who is there. A fold over the log [MEUP-4, MEUP-5]. */
export class Participants {
  readonly #known = new Map<string, Known>()

  apply(envelope: Envelope): void {
    const { payload } = envelope
    if (envelope.kind === Kind.systemSpace && payload.event === 'configured') this.#configure(payload)
    else if (envelope.kind === Kind.systemPresence) this.#presence(payload)
  }

  snapshot(): ParticipantsSnapshot {
    return [...this.#known].map(([id, { capabilities, present, named }]) => ({
      id,
      capabilities,
      present,
      named,
    }))
  }

  restore(snapshot: ParticipantsSnapshot): void {
    for (const { id, capabilities, present, named } of snapshot) {
      Object.assign(this.#set(id, capabilities), { present, named })
    }
  }

  has(id: string): boolean {
    return this.#known.has(id)
  }

  allows(id: string, subject: Subject): boolean {
    return this.#known.get(id)?.allows(subject).allowed ?? false
  }

  capabilities(id: string): readonly Capability[] {
    return this.#known.get(id)?.capabilities ?? []
  }

  /** Whether it may read what is addressed to others [MEUP-8.1]. */
  readsTargeted(id: string): boolean {
    return this.#known.get(id)?.readsTargeted ?? false
  }

  list(): ParticipantInfo[] {
    return [...this.#known].map(([id, { capabilities, present }]) => ({
      id,
      capabilities: [...capabilities],
      status: present ? 'present' : 'away',
    }))
  }

  present(): string[] {
    return [...this.#known].filter(([, { present }]) => present).map(([id]) => id)
  }

  /** The configured participants are exactly those the record names; guests stay known while they are present. */
  #configure(payload: Record<string, unknown>): void {
    const { participants, guest } = payload as unknown as Configuration
    for (const [id, { named, present }] of this.#known) {
      if (Object.hasOwn(participants, id)) continue
      if (named || !present) this.#known.delete(id)
      else if (guest !== undefined) this.#set(id, guest.capabilities)
    }
    for (const [id, { capabilities }] of Object.entries(participants)) {
      this.#set(id, capabilities).named = true
    }
  }

  #presence(payload: Record<string, unknown>): void {
    const { event, participant } = payload as {
      event: 'join' | 'leave' | 'update'
      participant: { id: string; capabilities?: Capability[] }
    }
    const { id, capabilities = [] } = participant
    // Whoever leaves after having been removed does not become known again.
    const known = this.#known.get(id) ?? (event === 'join' ? this.#set(id, capabilities) : undefined)
    if (known === undefined || event === 'update') return
    known.present = event === 'join'
    if (!known.present && !known.named) this.#known.delete(id) // A guest never comes back under this name.
  }

  #set(id: string, capabilities: readonly Capability[]): Known {
    const { allows } = compileCapabilities(capabilities)
    const known: Known = {
      capabilities,
      allows,
      readsTargeted: holdsLiteral(capabilities, READ_TARGETED),
      present: this.#known.get(id)?.present ?? false,
      named: false,
    }
    this.#known.set(id, known)
    return known
  }
}
