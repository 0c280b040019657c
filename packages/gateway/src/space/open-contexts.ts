import type { ContextInfo } from '@meup/protocol'

/** What is known of the contexts that are open, in the order in which they were opened. */
export class OpenContexts<Opened extends { readonly info: ContextInfo }> {
  readonly #all = new Set<Opened>()
  readonly #byOwner = new Map<string, Set<Opened>>()

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
    this.#byOwner.set(owner, (this.#byOwner.get(owner) ?? new Set()).add(opened))
  }

  delete(opened: Opened): void {
    const { owner } = opened.info
    const own = this.#byOwner.get(owner)
    this.#all.delete(opened)
    own?.delete(opened)
    if (own?.size === 0) this.#byOwner.delete(owner)
  }
}
