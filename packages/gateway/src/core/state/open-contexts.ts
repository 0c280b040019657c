import { type ContextInfo, GUEST } from '@meup/protocol'

/** What is known of the contexts that are open, in the order in which they were opened. */
export class OpenContexts<Opened extends { readonly info: ContextInfo }> {
  readonly #all = new Set<Opened>()
  readonly #byOwner = new Map<string, Set<Opened>>()
  #ofGuests = 0

  /** Of all guests together. */
  get ofGuests(): number {
    return this.#ofGuests
  }

  get size(): number {
    return this.#all.size
  }

  list(): Opened[] {
    return [...this.#all]
  }

  of(owner: string): Opened[] {
    return [...(this.#byOwner.get(owner) ?? [])]
  }

  count(owner: string): number {
    return this.#byOwner.get(owner)?.size ?? 0
  }

  add(opened: Opened): void {
    const { owner } = opened.info
    this.#all.add(opened)
    if (owner.startsWith(GUEST)) this.#ofGuests++
    this.#byOwner.set(owner, (this.#byOwner.get(owner) ?? new Set()).add(opened))
  }

  delete(opened: Opened): void {
    const { owner } = opened.info
    const own = this.#byOwner.get(owner)
    if (this.#all.delete(opened) && owner.startsWith(GUEST)) this.#ofGuests--
    own?.delete(opened)
    if (own?.size === 0) this.#byOwner.delete(owner)
  }
}
