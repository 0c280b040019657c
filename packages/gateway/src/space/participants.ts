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
}

/** Who belongs to the space, what each may do, and who is there. A fold over the log [MEUP-4, MEUP-5]. */
export class Participants {
  readonly #known = new Map<string, Known>()

  apply(envelope: Envelope): void {
    const { payload } = envelope
    if (envelope.kind === Kind.systemSpace && payload.event === 'configured') this.#configure(payload)
    else if (envelope.kind === Kind.systemPresence) this.#presence(payload)
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

  /** The configured participants are exactly those the record names; guests stay known by their presence. */
  #configure(payload: Record<string, unknown>): void {
    const configured = payload.participants as Record<string, { capabilities: Capability[] }>
    for (const [id, { capabilities }] of Object.entries(configured)) this.#set(id, capabilities)
    for (const [id, known] of this.#known) {
      if (!Object.hasOwn(configured, id) && !known.present) this.#known.delete(id)
    }
  }

  #presence(payload: Record<string, unknown>): void {
    const { event, participant } = payload as {
      event: 'join' | 'leave' | 'update'
      participant: { id: string; capabilities?: Capability[] }
    }
    const known = this.#known.get(participant.id) ?? this.#set(participant.id, participant.capabilities ?? [])
    if (event !== 'update') known.present = event === 'join'
  }

  #set(id: string, capabilities: readonly Capability[]): Known {
    const { allows } = compileCapabilities(capabilities)
    const known: Known = {
      capabilities,
      allows,
      readsTargeted: holdsLiteral(capabilities, READ_TARGETED),
      present: this.#known.get(id)?.present ?? false,
    }
    this.#known.set(id, known)
    return known
  }
}
