import {
  type Capabilities,
  type Capability,
  compileCapabilities,
  holdsLiteral,
  READ_TARGETED,
  type Subject,
} from '@meup/protocol'

const nothing: readonly Capability[] = []

/**
 * What one participant may do: what the operator configured, and what others have granted it. They stay apart, since
 * only the first lets it revoke what is not its own [MEUP-4.15], and each has the limits of one list.
 */
export class Holdings {
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
  endow(capabilities: readonly Capability[]): void {
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
