import type { Capability, ParticipantInfo, Subject } from '@meup/protocol'
import { Holdings } from './trust/holdings.js'

/** A participant as the log knows it. */
interface Known {
  readonly holdings: Holdings
  present: boolean
  /** By the operator, or by the issuer of its token; the others are invited, or guests. */
  named: boolean
}

export type ParticipantsSnapshot = readonly {
  readonly id: string
  /** What the operator gave it. */
  readonly capabilities: readonly Capability[]
  readonly present: boolean
  readonly named: boolean
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
    return this.#known.get(id)?.holdings.allows(subject) ?? false
  }

  /** The same without what others have granted it. */
  allowsByConfiguration(id: string, subject: Subject): boolean {
    return this.#known.get(id)?.holdings.allowsByConfiguration(subject) ?? false
  }

  /** All that it has; the same array until that changes. */
  capabilities(id: string): readonly Capability[] {
    return this.#known.get(id)?.holdings.all ?? []
  }

  configured(id: string): readonly Capability[] {
    return this.#known.get(id)?.holdings.configured ?? []
  }

  granted(id: string): readonly Capability[] {
    return this.#known.get(id)?.holdings.granted ?? []
  }

  /** Whether it may read what is addressed to others [MEUP-8.1]. */
  readsTargeted(id: string): boolean {
    return this.#known.get(id)?.holdings.readsTargeted ?? false
  }

  list(): Pick<ParticipantInfo, 'id' | 'capabilities' | 'status'>[] {
    return [...this.#known].map(([id, { holdings, present }]) => ({
      id,
      capabilities: [...holdings.all],
      status: present ? 'present' : 'away',
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
    this.#known.set(id, { holdings: new Holdings([]), present: false, named: false })
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
    return this.#known.get(id)?.holdings.configure(capabilities) ?? false
  }

  endow(id: string, granted: readonly Capability[]): void {
    this.#known.get(id)?.holdings.endow(granted)
  }

  setPresent(id: string, present: boolean): void {
    const known = this.#known.get(id)
    if (known !== undefined) known.present = present
  }

  snapshot(): ParticipantsSnapshot {
    return [...this.#known].map(([id, { holdings, present, named }]) => ({
      id,
      capabilities: holdings.configured,
      present,
      named,
    }))
  }

  restore(snapshot: ParticipantsSnapshot): void {
    for (const { id, capabilities, present, named } of snapshot) {
      this.#known.set(id, { holdings: new Holdings(capabilities), present, named })
    }
  }
}
