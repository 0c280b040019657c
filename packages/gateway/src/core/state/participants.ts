import {
  type Capabilities,
  type Capability,
  compileCapabilities,
  holdsLiteral,
  type ParticipantInfo,
  READ_TARGETED,
  type Subject,
} from '@meup/protocol'

/** A participant as the log knows it. */
interface Known {
  readonly held: Holdings
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
    return this.#known.get(id)?.held.allows(subject) ?? false
  }

  /** The same without what others have granted it. */
  allowsByConfiguration(id: string, subject: Subject): boolean {
    return this.#known.get(id)?.held.allowsByConfiguration(subject) ?? false
  }

  /** All that it has; the same array until that changes. */
  capabilities(id: string): readonly Capability[] {
    return this.#known.get(id)?.held.all ?? []
  }

  configured(id: string): readonly Capability[] {
    return this.#known.get(id)?.held.configured ?? []
  }

  granted(id: string): readonly Capability[] {
    return this.#known.get(id)?.held.granted ?? []
  }

  /** Whether it may read what is addressed to others [MEUP-8.1]. */
  readsTargeted(id: string): boolean {
    return this.#known.get(id)?.held.readsTargeted ?? false
  }

  list(): Pick<ParticipantInfo, 'id' | 'capabilities' | 'status'>[] {
    return [...this.#known].map(([id, { held, present }]) => ({
      id,
      capabilities: [...held.all],
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
    this.#known.set(id, { held: new Holdings([]), present: false, named: false })
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
    return this.#known.get(id)?.held.configure(capabilities) ?? false
  }

  setGranted(id: string, granted: readonly Capability[]): void {
    this.#known.get(id)?.held.setGranted(granted)
  }

  setPresent(id: string, present: boolean): void {
    const known = this.#known.get(id)
    if (known !== undefined) known.present = present
  }

  snapshot(): ParticipantsSnapshot {
    return [...this.#known].map(([id, { held, present, named }]) => ({
      id,
      capabilities: held.configured,
      present,
      named,
    }))
  }

  restore(snapshot: ParticipantsSnapshot): void {
    for (const { id, capabilities, present, named } of snapshot) {
      this.#known.set(id, { held: new Holdings(capabilities), present, named })
    }
  }
}

const nothing: readonly Capability[] = []

/**
 * What one participant may do: what the operator configured, and what others have granted it. They stay apart, since
 * only the first lets it revoke what is not its own [MEUP-4.15], and each has the limits of one list.
 */
class Holdings {
  #configured: Capabilities
  #given = nothing
  /** What is granted is compiled when it is first asked for: a replay asks for nearly nothing. */
  #granted: Capabilities | undefined
  /** All of it; the same array until something changes. */
  all: readonly Capability[]
  /** Whether it may read what is addressed to others [MEUP-8.1]. */
  readsTargeted: boolean

  constructor(configured: readonly Capability[]) {
    this.#configured = compileCapabilities(configured)
    this.all = configured
    this.readsTargeted = holdsLiteral(configured, READ_TARGETED)
  }

  get configured(): readonly Capability[] {
    return this.#configured.list
  }

  get granted(): readonly Capability[] {
    return this.#given
  }

  /** Gives whether that changes anything. */
  configure(capabilities: readonly Capability[]): boolean {
    if (JSON.stringify(capabilities) === JSON.stringify(this.configured)) return false
    this.#configured = compileCapabilities(capabilities)
    this.#sum()
    return true
  }

  /** Everything that is granted to it from now on. */
  setGranted(capabilities: readonly Capability[]): void {
    this.#given = capabilities
    this.#granted = undefined
    this.#sum()
  }

  allows(subject: Subject): boolean {
    if (this.allowsByConfiguration(subject)) return true
    if (this.#given.length === 0) return false
    this.#granted ??= compileCapabilities(this.#given)
    return this.#granted.allows(subject).allowed
  }

  allowsByConfiguration(subject: Subject): boolean {
    return this.#configured.allows(subject).allowed
  }

  #sum(): void {
    this.all = [...this.configured, ...this.granted]
    this.readsTargeted = holdsLiteral(this.all, READ_TARGETED)
  }
}
